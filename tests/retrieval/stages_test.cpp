#include "braid/retrieval/stages.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "core/present.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

using Ids = std::vector<std::string>;
using Kind = StageEffect::Kind;

constexpr std::int64_t kDay = 86'400'000'000;
constexpr Timestamp kNow{20'000 * kDay};

/// Dense scores 0.9, 0.8, ... in the order of the ids, by vectors made for the query {1, 0, ...}.
class Shelf {
public:
    Shelf() = default;

    Chunk& put(const std::string& id, double score) {
        Chunk chunk = chunk_of(id, "text of " + id);
        chunk.vector.assign(16, 0.0F);
        chunk.vector[0] = static_cast<float>(score);
        const auto rest = static_cast<float>(std::sqrt(1 - score * score));
        chunk.vector[1 + chunks_.size() % 15] = rest;
        return chunks_.emplace_back(std::move(chunk));
    }

    Result<Answer> ask(std::vector<StageChoice> stages, std::vector<CustomStage> custom = {},
                       const std::function<void(Request&)>& change = nullptr) {
        if (!chunks_.empty()) store.add("default", std::exchange(chunks_, {}));
        Request request;
        request.query = "q";
        request.query_embedding.assign(16, 0.0F);
        request.query_embedding[0] = 1.0F;
        request.strategy = Strategy::Dense;
        request.stages = std::move(stages);
        if (change) change(request);
        RetrieverOptions options = application_options();
        options.stages = std::move(custom);
        options.now = [] { return kNow; };
        return Retriever(store, fake_query_embedder(), std::move(options))
            .retrieve(request, {}, {});
    }

    LocalStore store;

private:
    std::vector<Chunk> chunks_;
};

Ids ids_of(const Result<Answer>& answer) {
    Ids ids;
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    if (!answer) return ids;
    for (const Hit& hit : answer->hits) ids.push_back(hit.chunk.chunk_id);
    return ids;
}

/// What each stage says it did follows from the score before it.
void expect_sound_receipts(const Answer& answer) {
    for (const Hit& hit : answer.hits) {
        double score = hit.receipt.fused;
        for (const ReceiptStage& stage : hit.receipt.stages) {
            if (stage.operation == "multiply") score *= stage.value;
            if (stage.operation == "divide") score /= stage.value;
            if (stage.operation == "add") score += stage.value;
            if (stage.operation == "replace") score = stage.value;
            EXPECT_TRUE(stage.operation != "keep" || score >= stage.value);
            EXPECT_EQ(score, stage.score) << stage.stage;
        }
        EXPECT_EQ(score, hit.receipt.score);
        EXPECT_EQ(score, hit.score);
    }
}

TEST(Stages, BoostTheLastHeadingWhateverItsCase) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.8).section_title = "Guide > OVERVIEW";
    shelf.put("c", 0.7).section_title = "Overview > Details";
    shelf.put("d", 0.6).section_title = "\u00c9TUDE";
    const auto answer = shelf.ask({{"boost_section_matches", {}}});
    EXPECT_EQ(ids_of(answer), (Ids{"b", "a", "c", "d"}));
    const Receipt& receipt = answer->hits[0].receipt;
    ASSERT_EQ(receipt.stages.size(), 1U);
    EXPECT_EQ(receipt.stages[0].operation, "multiply");
    EXPECT_EQ(receipt.stages[0].value, 1.2);
    EXPECT_EQ(receipt.score, receipt.fused * 1.2);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(answer->hits[i].receipt.stages.empty());
    expect_sound_receipts(*answer);
    const auto own =
        shelf.ask({{"boost_section_matches", {{"sections", Array{"\u00e9tude"}}, {"factor", 2}}}});
    EXPECT_EQ(ids_of(own).front(), "d");
}

TEST(Stages, LeaveNegativeScoresToTheSectionBoostAlone) {
    Shelf shelf;
    shelf.put("a", -0.5).section_title = "summary";
    const auto answer = shelf.ask({{"boost_section_matches", {}}});
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->hits.at(0).receipt.stages.empty());
}

TEST(Stages, PushRecencyIntoTheLegs) {
    Shelf shelf;
    for (int i = 0; i < 60; ++i) {  // more than the depth: an old chunk must not take a place
        shelf.put("old" + std::to_string(i), 0.9).created_at = Timestamp{kNow.micros - 40 * kDay};
    }
    shelf.put("new", 0.2).created_at = Timestamp{kNow.micros - 29 * kDay};
    shelf.put("edge", 0.1).created_at = Timestamp{kNow.micros - 30 * kDay};
    shelf.put("undated", 0.3);
    shelf.put("named", 0.15).metadata.set("created_at", "2100-01-01T00:00:00Z");
    EXPECT_EQ(ids_of(shelf.ask({{"filter_by_recency", {}}})), (Ids{"new", "named"}));
    EXPECT_EQ(ids_of(shelf.ask({{"filter_by_recency", {{"keep_undated", true}}}})),
              (Ids{"undated", "new", "named"}));
    EXPECT_EQ(ids_of(shelf.ask({{"filter_by_recency", {{"days", 31}}}})),
              (Ids{"new", "named", "edge"}));
}

TEST(Stages, DecayByAge) {
    Shelf shelf;
    shelf.put("old", 0.9).created_at = Timestamp{kNow.micros - 20 * kDay};
    shelf.put("new", 0.8).created_at = Timestamp{kNow.micros + kDay};
    shelf.put("undated", 0.5);
    const auto answer = shelf.ask({{"decay_by_age", {{"half_life_days", 10}}}});
    EXPECT_EQ(ids_of(answer), (Ids{"new", "undated", "old"}));
    EXPECT_EQ(answer->hits[2].receipt.stages.at(0).value, 0.25);
    EXPECT_EQ(*answer->hits[2].receipt.stages[0].detail.find("age_days"), Value(20.0));
    EXPECT_EQ(answer->hits[0].receipt.stages.at(0).value, 1.0);
    expect_sound_receipts(*answer);
    const auto floored =
        shelf.ask({{"decay_by_age", {{"half_life_days", 1}, {"offset_days", 5}, {"floor", 0.5}}}});
    EXPECT_EQ(floored->hits.back().receipt.stages.at(0).value, 0.5);
}

TEST(Stages, BoostHitsThatMatchAFilter) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.8).metadata.set("category", "guide");
    shelf.put("c", -0.5).metadata.set("category", "guide");
    const Object parameters{{"filter", Object{{"category", "guide"}}}, {"factor", 2}};
    const auto answer = shelf.ask({{"boost_fields", parameters}});
    EXPECT_EQ(ids_of(answer), (Ids{"b", "a", "c"}));
    EXPECT_EQ(answer->hits[2].receipt.stages.at(0).operation, "divide");
    EXPECT_GT(answer->hits[2].score, answer->hits[2].receipt.fused);
    expect_sound_receipts(*answer);
}

TEST(Stages, DiversifyByMarginalRelevance) {
    Shelf shelf;
    const std::vector<float> twin = shelf.put("a", 0.9).vector;
    shelf.put("b", 0.89).vector = twin;
    shelf.put("c", 0.7);
    shelf.put("d", 0.6);
    EXPECT_EQ(ids_of(shelf.ask({})), (Ids{"a", "b", "c", "d"}));
    const auto answer = shelf.ask({{"mmr", {{"lambda", 0.2}}}});
    EXPECT_EQ(ids_of(answer), (Ids{"a", "d", "c", "b"}));
    expect_sound_receipts(*answer);
    for (const Hit& hit : answer->hits) {
        const Object& detail = hit.receipt.stages.at(0).detail;
        EXPECT_EQ(hit.score, 0.2 * detail.find("relevance")->as_double() -
                                 (1 - 0.2) * detail.find("similarity")->as_double());
        EXPECT_TRUE(hit.chunk.vector.empty());
    }
    EXPECT_EQ(ids_of(shelf.ask({{"mmr", {{"lambda", 1}}}})), (Ids{"a", "b", "c", "d"}));
    const auto some = shelf.ask({{"mmr", {{"lambda", 0.2}, {"candidates", 3}}}});
    EXPECT_EQ(ids_of(some), (Ids{"a", "c", "b", "d"}));
    EXPECT_TRUE(some->hits[3].receipt.stages.empty());
}

TEST(Stages, SkipDiversityWithoutVectorsAndSaySo) {
    LocalStore store;
    store.add("default", {chunk_of("a", "foxes"), chunk_of("b", "foxes")}, "none");
    Request request;
    request.query = "foxes";
    request.strategy = Strategy::Sparse;
    request.stages = {{"mmr", {}}, {"min_score", {{"value", 0}}}};
    const auto answer =
        Retriever(store, fake_query_embedder(), application_options()).retrieve(request, {}, {});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->hits.size(), 2U);
    EXPECT_FALSE(answer->complete);
    ASSERT_EQ(answer->warnings.size(), 1U);
    EXPECT_NE(answer->warnings[0].find("\"mmr\" failed and was skipped"), std::string::npos);
    EXPECT_EQ(answer->hits[0].receipt.stages.size(), 1U);
}

TEST(Stages, CutByScore) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.875);
    shelf.put("c", 0.5);
    shelf.put("d", 0.25);
    const auto absolute = shelf.ask({{"min_score", {{"value", 0.5}}}});
    EXPECT_EQ(ids_of(absolute), (Ids{"a", "b", "c"}));
    EXPECT_EQ(absolute->hits[2].receipt.stages.at(0).operation, "keep");
    expect_sound_receipts(*absolute);
    EXPECT_EQ(ids_of(shelf.ask({{"relative_score", {{"fraction", 0.6}}}})), (Ids{"a", "b"}));
    const auto gap = shelf.ask({{"largest_gap", {}}});
    EXPECT_EQ(ids_of(gap), (Ids{"a", "b"}));
    expect_sound_receipts(*gap);
    EXPECT_EQ(ids_of(shelf.ask({{"largest_gap", {{"min_hits", 3}}}})), (Ids{"a", "b", "c"}));
    EXPECT_EQ(ids_of(shelf.ask({{"largest_gap", {{"min_hits", 9}}}})), (Ids{"a", "b", "c", "d"}));
}

TEST(Stages, LookNoDeeperOnceSomethingWasCut) {
    Shelf shelf;
    for (int i = 0; i < 40; ++i) shelf.put("c" + std::to_string(10 + i), 0.9 - 0.01 * i);
    shelf.store.remember = true;
    const auto shallow = [](Request& request) {
        request.dense_top_k = 10;
        request.top_k = 30;
    };
    EXPECT_EQ(ids_of(shelf.ask({{"min_score", {{"value", 0.85}}}}, {}, shallow)).size(), 6U);
    EXPECT_EQ(shelf.store.searched.size(), 1U);
    EXPECT_EQ(ids_of(shelf.ask({{"relative_score", {{"fraction", 0.1}}}}, {}, shallow)).size(),
              30U);
    EXPECT_GT(shelf.store.searched.size(), 2U);
}

TEST(Stages, RunInTheOrderTheyAreGiven) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.8).section_title = "summary";
    const StageChoice cut{"min_score", {{"value", 0.85}}};
    const StageChoice boost{"boost_section_matches", {}};
    EXPECT_EQ(ids_of(shelf.ask({cut, boost})), (Ids{"a"}));
    EXPECT_EQ(ids_of(shelf.ask({boost, cut})), (Ids{"b", "a"}));
}

TEST(Stages, ComeAfterTheThreshold) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.8).section_title = "summary";
    EXPECT_EQ(ids_of(shelf.ask({{"boost_section_matches", {}}}, {},
                               [](Request& request) { request.score_threshold = 0.85; })),
              (Ids{"a"}));
}

TEST(Stages, SeeAllCandidatesAndNotOnlyThoseShown) {
    Shelf shelf;
    for (int i = 0; i < 20; ++i) shelf.put("c" + std::to_string(10 + i), 0.9 - 0.01 * i);
    shelf.put("last", 0.1).section_title = "summary";
    const auto answer = shelf.ask({{"boost_section_matches", {{"factor", 100}}}}, {},
                                  [](Request& request) { request.top_k = 1; });
    EXPECT_EQ(ids_of(answer), (Ids{"last"}));
}

TEST(Stages, TakeCallablesOfOnesOwn) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.8);
    shelf.put("c", 0.7);
    const CustomStage rerank{
        "rerank",
        [](const StageInput& input, const Object& parameters) -> Result<std::vector<StageEffect>> {
            EXPECT_EQ(input.query, "q");
            EXPECT_EQ(input.now, kNow);
            std::vector<StageEffect> effects(input.hits.size());
            for (std::size_t i = 0; i < effects.size(); ++i) {
                const std::string& id = input.hits[i].chunk.chunk_id;
                const double score =
                    parameters.find(id) != nullptr ? parameters.find(id)->as_double() : 0.0;
                effects[i] = {id == "b" ? Kind::Drop : Kind::Replace, score, {}, false};
            }
            return effects;
        },
        false};
    const auto answer = shelf.ask({{"rerank", {{"c", 5.0}, {"a", 3.0}}}}, {rerank});
    EXPECT_EQ(ids_of(answer), (Ids{"c", "a"}));
    EXPECT_EQ(answer->hits[0].score, 5.0);
    expect_sound_receipts(*answer);
}

TEST(Stages, ComeFromTheProfileWhereTheRequestNamesNone) {
    LocalStore store;
    Chunk summary = chunk_of("b", "fox and more words");
    summary.section_title = "Summary";
    store.add("default", {chunk_of("a", "fox"), summary, chunk_of("c", "fox too")});
    Profile profile;
    profile.name = "mine";
    profile.stages = {{"boost_section_matches", {{"factor", 9}}}};
    RetrieverOptions options = application_options();
    options.profiles = {profile};
    const Retriever retriever(store, fake_query_embedder(), options);
    Request request;
    request.query = "fox";
    request.profile = "mine";
    request.top_k = 1;
    const auto boosted = retriever.retrieve(request, {}, {});
    EXPECT_EQ(ids_of(boosted), (Ids{"b"}));
    request.cursor = present(boosted->cursor);
    EXPECT_EQ(ids_of(retriever.retrieve(request, {}, {})), (Ids{"a"}));
    Request bare;
    bare.cursor = request.cursor;
    EXPECT_EQ(ids_of(retriever.retrieve(bare, {}, {})), (Ids{"a"}));
    request.cursor.clear();
    const auto why = retriever.why_not(request, "a", {}, {});
    EXPECT_EQ(why->lost_at, "stage");
    EXPECT_EQ(why->change, (SuggestedChange{"top_k", 2}));
    request.stages = {{"min_score", {{"value", 0}}}};
    EXPECT_EQ(ids_of(retriever.retrieve(request, {}, {})), (Ids{"a"}));
}

TEST(Stages, ReportAndSkipWhatFails) {
    const std::vector<std::pair<std::string, StageFunction>> bad{
        {"fails",
         [](const StageInput&, const Object&) -> Result<std::vector<StageEffect>> {
             return fail(ErrorCode::Unavailable, "model gone");
         }},
        {"throws",
         [](const StageInput&, const Object&) -> Result<std::vector<StageEffect>> {
             throw std::runtime_error("model gone");
         }},
        {"short",
         [](const StageInput&, const Object&) -> Result<std::vector<StageEffect>> {
             return std::vector<StageEffect>{};
         }},
        {"nan",
         [](const StageInput& input, const Object&) -> Result<std::vector<StageEffect>> {
             return std::vector<StageEffect>(
                 input.hits.size(),
                 {Kind::Replace, std::numeric_limits<double>::quiet_NaN(), {}, false});
         }},
        {"huge", [](const StageInput& input, const Object&) -> Result<std::vector<StageEffect>> {
             return std::vector<StageEffect>(input.hits.size(), {Kind::Divide, 0, {}, false});
         }}};
    for (const auto& [name, function] : bad) {
        SCOPED_TRACE(name);
        Shelf shelf;
        shelf.put("a", 0.9);
        shelf.put("b", 0.8).section_title = "summary";
        const auto answer =
            shelf.ask({{name, {}}, {"boost_section_matches", {}}}, {{name, function, false, {}}});
        EXPECT_EQ(ids_of(answer), (Ids{"b", "a"}));
        EXPECT_FALSE(answer->complete);
        ASSERT_EQ(answer->warnings.size(), 1U);
        EXPECT_NE(answer->warnings[0].find(name), std::string::npos);
        expect_sound_receipts(*answer);
    }
}

TEST(Stages, CollapseEqualContentUnderTheBestAndNameTheRest) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.8).content = "text of a";
    shelf.put("c", 0.7);
    shelf.put("d", 0.6).content = "text of a";
    shelf.put("e", 0.5).content = "text of c";
    EXPECT_EQ(ids_of(shelf.ask({})), (Ids{"a", "b", "c", "d", "e"}));
    const auto answer = shelf.ask({{"collapse_duplicates", {}}});
    EXPECT_EQ(ids_of(answer), (Ids{"a", "c"}));
    ASSERT_EQ(answer->hits[0].receipt.stages.size(), 1U);
    const ReceiptStage& stage = answer->hits[0].receipt.stages[0];
    EXPECT_EQ(stage.operation, "keep");
    EXPECT_EQ(stage.detail, (Object{{"duplicates", Array{"b", "d"}}}));
    EXPECT_EQ(answer->hits[0].score, answer->hits[0].receipt.fused);
    expect_sound_receipts(*answer);
    // Found deeper than the one that stays: left out all the same.
    const auto deeper = shelf.ask({{"collapse_duplicates", {}}}, {}, [](Request& request) {
        request.dense_top_k = 1;
        request.top_k = 10;
    });
    EXPECT_EQ(ids_of(deeper), (Ids{"a", "c"}));
}

TEST(Stages, CollapseNearlyEqualContentIfTold) {
    const std::string text =
        "the quick brown fox jumps over the lazy dog and then it sleeps by the river";
    Shelf shelf;
    Chunk& first = shelf.put("a", 0.9);
    first.content = text;
    first.document_id = "x";
    Chunk& second = shelf.put("b", 0.8);
    second.content = text + " again";
    second.document_id = "y";
    Chunk& third = shelf.put("c", 0.7);
    third.content = text + " now";
    third.document_id = "x";
    shelf.put("d", 0.6).content = "the lazy dog sleeps by the river and the fox jumps over it";
    EXPECT_EQ(ids_of(shelf.ask({{"collapse_duplicates", {}}})), (Ids{"a", "b", "c", "d"}));
    EXPECT_EQ(ids_of(shelf.ask({{"collapse_duplicates", {{"similarity", 0.8}}}})), (Ids{"a", "d"}));
    const auto answer =
        shelf.ask({{"collapse_duplicates", {{"similarity", 0.8}, {"within", "document"}}}});
    EXPECT_EQ(ids_of(answer), (Ids{"a", "b", "d"}));
    EXPECT_EQ(answer->hits[0].receipt.stages[0].detail, (Object{{"duplicates", Array{"c"}}}));
    expect_sound_receipts(*answer);
    EXPECT_FALSE(shelf.ask({{"collapse_duplicates", {{"within", "page"}}}}));
    EXPECT_FALSE(shelf.ask({{"collapse_duplicates", {{"similarity", 0.1}}}}));
}

TEST(Stages, OfOnesOwnJudgeTheirParametersFirst) {
    Shelf shelf;
    shelf.put("a", 0.9);
    const CustomStage own{
        "own",
        [](const StageInput& input, const Object&) -> Result<std::vector<StageEffect>> {
            return std::vector<StageEffect>(input.hits.size());
        },
        false,
        [](const Object& parameters) -> Result<> {
            if (parameters.empty()) return {};
            return fail(ErrorCode::InvalidArgument, "own takes no parameters");
        }};
    EXPECT_EQ(ids_of(shelf.ask({{"own", {}}}, {own})), Ids{"a"});
    const auto refused = shelf.ask({{"own", {{"size", 1}}}}, {own});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "own takes no parameters");
}

TEST(Stages, NameTheNearestOfWhatIsUnknown) {
    Shelf shelf;
    shelf.put("a", 0.9);
    const auto message = [&](StageChoice stage) {
        const auto answer = shelf.ask({std::move(stage)});
        EXPECT_FALSE(answer);
        if (answer) return std::string();
        EXPECT_EQ(answer.error().code, ErrorCode::InvalidArgument);
        return answer.error().message;
    };
    EXPECT_NE(message({"bost_section_matches", {}}).find("\"boost_section_matches\""),
              std::string::npos);
    EXPECT_NE(message({"mmr", {{"lamda", 0.5}}}).find("did you mean \"lambda\""),
              std::string::npos);
    EXPECT_NE(message({"xyzzy", {}}).find("largest_gap"), std::string::npos);
    const std::vector<StageChoice> bad{
        {"min_score", {}},
        {"min_score", {{"value", "high"}}},
        {"mmr", {{"lambda", 2}}},
        {"boost_fields", {}},
        {"boost_fields", {{"filter", Object{{"a", Object{{"$nope", 1}}}}}}},
        {"boost_section_matches", {{"sections", "overview"}}},
        {"boost_section_matches", {{"factor", 0}}},
        {"filter_by_recency", {{"days", -1}}},
        {"filter_by_recency", {{"keep_undated", "no"}}},
        {"decay_by_age", {{"half_life_days", 0}}},
    };
    for (const StageChoice& stage : bad) EXPECT_FALSE(message(stage).empty());
}

TEST(Stages, WorkOnSeveralCollections) {
    LocalStore store;
    Chunk summary = chunk_of("b", "foxes");
    summary.section_title = "Summary";
    store.add("artifacts", {chunk_of("a", "foxes"), summary});
    store.add("memory", {chunk_of("a", "foxes")});
    Request request;
    request.query = "foxes";
    request.collections = {"artifacts", "memory"};
    request.stages = {{"boost_section_matches", {{"factor", 3}}}, {"mmr", {}}};
    const auto answer =
        Retriever(store, fake_query_embedder(), application_options()).retrieve(request, {}, {});
    EXPECT_EQ(ids_of(answer).front(), "b");
    EXPECT_EQ(answer->hits.size(), 3U);
    expect_sound_receipts(*answer);
}

TEST(Stages, AreSkippedWhenNoTimeIsLeft) {
    StagePipeline pipeline =
        *StagePipeline::create(std::vector<StageChoice>{{"min_score", {{"value", 10}}}}, {});
    LocalStore store;
    store.add("default", {chunk_of("a", "foxes")});
    const QueryEmbedder embedder = fake_query_embedder();
    const LogSink log;
    const Request request;
    const Principal principal;
    CallLimits limits;
    limits.deadline = std::chrono::steady_clock::now();
    const QueryMemory remembered;
    core::Crew crew;
    Work work{.backend = store,
              .embedder = embedder,
              .hypothesis_embedder = embedder,
              .remembered = remembered,
              .crew = crew,
              .log_sink = log,
              .request = request,
              .principal = principal,
              .limits = limits,
              .stage_limits = limits};
    work.plan.namespace_ = "default";
    work.plan.collections.push_back({.name = "default", .schema = {}});
    work.snapshot = *store.snapshot(std::vector<std::string>{"default"}, {});
    std::vector<Candidate> band(1);
    band[0].chunk_id = "a";
    ASSERT_TRUE(pipeline.apply(work, kNow, band));
    EXPECT_EQ(band.size(), 1U);
    EXPECT_FALSE(work.answer.complete);
    EXPECT_FALSE(pipeline.ended());
}

}  // namespace
}  // namespace braid::retrieval
