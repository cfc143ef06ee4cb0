// Near-identical passages of one document are shown once, at every door.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/core/vocabulary.hpp"
#include "braid/retrieval/retriever.hpp"
#include "braid/wire/answer_json.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"
#include "retrieval/receipt_checker.hpp"

namespace braid::retrieval {
namespace {

const std::string kText =
    "the quick brown fox jumps over the lazy dog and then it sleeps for a long time by the river "
    "until the sun comes up again over the hills";

Chunk passage(std::string id, std::string document, std::string content) {
    Chunk chunk = chunk_of(std::move(id), std::move(content));
    chunk.document_id = std::move(document);
    return chunk;
}

std::vector<Chunk> shelf() {
    return {passage("a", "x", "fox fox fox " + kText), passage("b", "x", "fox fox fox " + kText),
            passage("c", "x", "fox fox fox " + kText + " now"),
            passage("d", "y", "fox fox fox " + kText),
            passage("e", "x", "a fox sleeps by a river")};
}

Request ask_for(std::string query) {
    Request request;
    request.query = std::move(query);
    request.collections = {"notes"};
    request.strategy = Strategy::Sparse;
    return request;
}

std::vector<std::string> ids(const Answer& answer) {
    std::vector<std::string> out;
    for (const Hit& hit : answer.hits) out.push_back(hit.chunk.chunk_id);
    return out;
}

class Copies : public ::testing::Test {
protected:
    Copies() { store.add("notes", shelf()); }

    Answer ask(const Request& request) {
        auto answer = retriever.retrieve(request, {}, {});
        EXPECT_TRUE(answer) << answer.error().message;
        return answer.value_or(Answer{});
    }

    LocalStore store;
    Retriever retriever{store, fake_query_embedder(), application_options()};
};

TEST_F(Copies, OfOneDocumentAreShownOnceAndNamedInTheReceipt) {
    const Answer answer = ask(ask_for("fox"));
    EXPECT_EQ(ids(answer), (std::vector<std::string>{"a", "d", "e"}));
    ASSERT_EQ(answer.hits[0].receipt.stages.size(), 1U);
    const ReceiptStage& line = answer.hits[0].receipt.stages[0];
    EXPECT_EQ(line.stage, "collapse_duplicates");
    EXPECT_EQ(line.operation, "keep");
    EXPECT_EQ(line.detail, (Object{{"duplicates", Array{"b", "c"}}}));
    EXPECT_TRUE(answer.hits[1].receipt.stages.empty());
    EXPECT_EQ(answer.hits[2].rank, 3U);
    EXPECT_FALSE(answer.cursor);
    EXPECT_EQ(check_receipts(wire::answer_to_value(answer, {})), "");
}

TEST_F(Copies, AreKeptIfToldSo) {
    Request request = ask_for("fox");
    request.keep_duplicates = true;
    EXPECT_EQ(ids(ask(request)).size(), 5U);
    // Who names the stage says himself what a copy is.
    request.keep_duplicates = false;
    request.stages = {{"collapse_duplicates", {}}};
    EXPECT_EQ(ids(ask(request)), (std::vector<std::string>{"a", "c", "e"}));
}

TEST_F(Copies, PagesArePiecesOfOneRanking) {
    for (std::size_t size = 1; size <= 4; ++size) {
        Request request = ask_for("fox");
        request.top_k = size;
        std::vector<std::string> joined;
        Answer page = ask(request);
        while (true) {
            EXPECT_FALSE(page.hits.empty()) << size;
            for (const std::string& id : ids(page)) joined.push_back(id);
            if (!page.cursor) break;
            Request next;
            next.cursor = *page.cursor;
            page = ask(next);
        }
        EXPECT_EQ(joined, (std::vector<std::string>{"a", "d", "e"})) << size;
    }
}

TEST_F(Copies, AreFoundAmongHitsOfDeeperBands) {
    Request request = ask_for("fox");
    request.sparse_top_k = 1;
    EXPECT_EQ(ids(ask(request)), (std::vector<std::string>{"a", "d", "e"}));
}

TEST_F(Copies, WhyNotSaysWhatStandsForOne) {
    const auto lost = retriever.why_not(ask_for("fox"), "c", {}, {});
    ASSERT_TRUE(lost) << lost.error().message;
    EXPECT_EQ(lost->lost_at, "deduplicated");
    ASSERT_TRUE(lost->change);
    EXPECT_EQ(lost->change->key, "keep_duplicates");
    EXPECT_EQ(lost->change->value, Value(true));
}

TEST_F(Copies, OfOtherCollectionsAreOthers) {
    store.add("others", {passage("z", "x", "fox fox fox " + kText)});
    Request request = ask_for("fox");
    request.collections = {"notes", "others"};
    const auto shown = ids(ask(request));
    EXPECT_EQ(std::ranges::count(shown, "z"), 1);
    EXPECT_EQ(std::ranges::count(shown, "b"), 0);
}

}  // namespace
}  // namespace braid::retrieval
