#include "braid/eval/run_queries.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

/// Chunks of documents, best first: "a1" is chunk 1 of document "a".
std::vector<std::string> all_chunks() {
    return {"a1", "a2", "b1", "a3", "c1", "b2", "d1"};
}

/// Answers with the first top_k of all_chunks(), scores 10, 9, ...
class FakeSearch {
public:
    std::vector<Result<Answer>> operator()(std::span<const Request> requests) {
        std::vector<Result<Answer>> answers;
        for (const Request& request : requests) {
            asked.push_back(request);
            if (request.query == "broken") {
                answers.push_back(fail(ErrorCode::IoError, "the disk is gone"));
                continue;
            }
            Answer answer;
            double score = 10;
            for (const std::string& id : all_chunks()) {
                if (answer.hits.size() == request.top_k || request.query == "nothing") break;
                Hit& hit = answer.hits.emplace_back();
                hit.chunk.chunk_id = id;
                hit.chunk.document_id = id.substr(0, 1);
                hit.score = id == "c1" && request.query == "bands" ? 99 : score;
                score -= 1;
            }
            answer.timings.dense_ms = 2;
            answer.complete = request.query != "half";
            if (!answer.complete) answer.warnings.emplace_back("one leg is down");
            if (request.use_hyde) answer.unused.emplace_back("use_hyde");
            answers.emplace_back(std::move(answer));
        }
        return answers;
    }
    std::vector<Request> asked;
};

RunRequest documents(std::size_t count) {
    RunRequest request;
    request.documents = count;
    return request;
}

std::vector<std::string> documents_of(const RankedList& list) {
    std::vector<std::string> ids;
    ids.reserve(list.hits.size());
    for (const ScoredDocument& hit : list.hits) ids.push_back(hit.document);
    return ids;
}

TEST(RunQueries, RanksADocumentOnceByItsBestChunk) {
    FakeSearch search;
    const std::vector<Query> queries{{"q1", "anything"}};
    const auto outcome = run_queries(queries, documents(10), std::ref(search));
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_EQ(outcome->run.lists.size(), 1U);
    EXPECT_EQ(documents_of(outcome->run.lists[0]), (std::vector<std::string>{"a", "b", "c", "d"}));
    EXPECT_EQ(outcome->run.lists[0].hits[1].score, 8);
}

TEST(RunQueries, AsksForMoreChunksUntilThereAreEnoughDocuments) {
    FakeSearch search;
    const std::vector<Query> queries{{"q1", "anything"}};
    const auto outcome = run_queries(queries, documents(3), std::ref(search));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(documents_of(outcome->run.lists[0]), (std::vector<std::string>{"a", "b", "c"}));
    ASSERT_EQ(search.asked.size(), 2U);
    EXPECT_EQ(search.asked[0].top_k, 3U);
    EXPECT_EQ(search.asked[1].top_k, 6U);
}

TEST(RunQueries, LowersAScoreThatStandsBelowASmallerOne) {
    FakeSearch search;
    const std::vector<Query> queries{{"q1", "bands"}};
    const auto outcome = run_queries(queries, documents(10), std::ref(search));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->run.lists[0].hits[2], (ScoredDocument{"c", 8}));
    EXPECT_TRUE(write_run(outcome->run));
}

TEST(RunQueries, AQueryWithoutHitsHasNoList) {
    FakeSearch search;
    const std::vector<Query> queries{{"q1", "nothing"}, {"q2", "x"}};
    const auto outcome = run_queries(queries, documents(1), std::ref(search));
    ASSERT_TRUE(outcome);
    ASSERT_EQ(outcome->run.lists.size(), 1U);
    EXPECT_EQ(outcome->run.lists[0].query, "q2");
    EXPECT_EQ(outcome->timings.size(), 2U);
}

TEST(RunQueries, AFailureNamesItsQuery) {
    FakeSearch search;
    const std::vector<Query> queries{{"q1", "x"}, {"q2", "broken"}};
    const auto outcome = run_queries(queries, documents(1), std::ref(search));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::IoError);
    EXPECT_NE(outcome.error().message.find("q2"), std::string::npos) << outcome.error().message;
}

TEST(RunQueries, SaysWhatHadNoEffect) {
    FakeSearch search;
    const std::vector<Query> queries{{"q1", "x"}, {"q2", "y"}};
    auto request = documents(1);
    request.request.use_hyde = true;
    const auto outcome = run_queries(queries, request, std::ref(search));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->warnings.at("\"use_hyde\" has no effect here"), 2U);
}

TEST(RunQueries, CountsIncompleteAnswersAndTheirWarnings) {
    FakeSearch search;
    const std::vector<Query> queries{{"q1", "half"}, {"q2", "half"}, {"q3", "x"}};
    auto request = documents(1);
    request.batch = 2;
    std::vector<std::size_t> progress;
    request.progress = [&](std::size_t done) { progress.push_back(done); };
    const auto outcome = run_queries(queries, request, std::ref(search));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->incomplete, 2U);
    EXPECT_EQ(outcome->warnings.at("one leg is down"), 2U);
    EXPECT_EQ(progress, (std::vector<std::size_t>{2, 3}));
    const Value json = timings_to_value(*outcome);
    EXPECT_EQ(json.find("queries")->as_int(), 3);
    EXPECT_EQ(json.find("legs")->find("dense")->find("p50_ms")->as_double(), 2);
}

TEST(RunQueries, HandsEachQueryItsVector) {
    FakeSearch search;
    const std::vector<Query> queries{{"q1", "x"}, {"q2", "y"}};
    auto request = documents(1);
    request.vectors = {{1.0F}, {2.0F}};
    ASSERT_TRUE(run_queries(queries, request, std::ref(search)));
    EXPECT_EQ(search.asked[1].query_embedding, std::vector<float>{2.0F});
    request.vectors.pop_back();
    EXPECT_FALSE(run_queries(queries, request, std::ref(search)));
}

TEST(RunQueries, NoQueriesOrNoDocumentsAreErrors) {
    FakeSearch search;
    EXPECT_FALSE(run_queries({}, documents(1), std::ref(search)));
    const std::vector<Query> queries{{"q1", "x"}};
    EXPECT_FALSE(run_queries(queries, documents(0), std::ref(search)));
}

}  // namespace
}  // namespace braid::eval
