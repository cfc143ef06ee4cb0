// Stages of one's own, from profiles, and what happens when one fails.
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/stages.hpp"
#include "retrieval/stage_shelf.hpp"

namespace braid::retrieval {
namespace {

using namespace on_a_shelf;

TEST(Stages, SeeAllCandidatesAndNotOnlyThoseShown) {
    Shelf shelf;
    for (int i = 0; i < 20; ++i) shelf.put("c" + std::to_string(10 + i), 0.9 - 0.01 * i);
    shelf.put("last", 0.1).section_title = "summary";
    const auto answer = shelf.ask({{"boost_section_matches", {{"factor", 100}}}}, {},
                                  [](Request& request) { request.top_k = 1; });
    EXPECT_EQ(ids_shown(answer), (Ids{"last"}));
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
    EXPECT_EQ(ids_shown(answer), (Ids{"c", "a"}));
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
    EXPECT_EQ(ids_shown(boosted), (Ids{"b"}));
    request.cursor = present(boosted->cursor);
    EXPECT_EQ(ids_shown(retriever.retrieve(request, {}, {})), (Ids{"a"}));
    Request bare;
    bare.cursor = request.cursor;
    EXPECT_EQ(ids_shown(retriever.retrieve(bare, {}, {})), (Ids{"a"}));
    request.cursor.clear();
    const auto why = retriever.why_not(request, "a", {}, {});
    EXPECT_EQ(why->lost_at, "stage");
    EXPECT_EQ(why->change, (SuggestedChange{"top_k", 2}));
    request.stages = {{"min_score", {{"value", 0}}}};
    EXPECT_EQ(ids_shown(retriever.retrieve(request, {}, {})), (Ids{"a"}));
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
        EXPECT_EQ(ids_shown(answer), (Ids{"b", "a"}));
        EXPECT_FALSE(answer->complete);
        ASSERT_EQ(answer->warnings.size(), 1U);
        EXPECT_NE(answer->warnings[0].find(name), std::string::npos);
        expect_sound_receipts(*answer);
    }
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
    EXPECT_EQ(ids_shown(shelf.ask({{"own", {}}}, {own})), Ids{"a"});
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
    EXPECT_EQ(ids_shown(answer).front(), "b");
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
