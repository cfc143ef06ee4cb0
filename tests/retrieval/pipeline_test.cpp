#include "braid/pipeline.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace braid {
namespace {

using Ids = std::vector<std::string>;
using Effects = std::vector<StageEffect>;

Ids ids_of(const Answer& answer) {
    Ids ids;
    for (const Hit& hit : answer.hits) ids.push_back(hit.chunk.chunk_id);
    return ids;
}

/// Anything that retrieves: "a" with 3, "b" with 2, "c" with 1, on the page after the first ten.
struct Fixed {
    Result<Answer> retrieve(const Request& request) const {
        if (request.query.empty()) return invalid_argument("no query");
        Answer answer;
        answer.query = request.query;
        for (const char* const id : {"a", "b", "c"}) {
            Hit& hit = answer.hits.emplace_back();
            hit.chunk.chunk_id = id;
            hit.rank = 10 + answer.hits.size();
            hit.score = 4.0 - static_cast<double>(answer.hits.size());
            hit.receipt.fused = hit.receipt.score = hit.score;
        }
        return answer;
    }
};

CustomStage turn_over() {
    CustomStage stage;
    stage.name = "turn_over";
    stage.run = [](const StageInput& input, const Object& parameters) -> Result<Effects> {
        Effects effects;
        const Value* const factor = parameters.find("factor");
        for (std::size_t i = 0; i < input.hits.size(); ++i) {
            effects.push_back({StageEffect::Kind::Multiply,
                               factor == nullptr ? -1.0 : factor->as_double(),
                               {},
                               false});
        }
        return effects;
    };
    stage.check = [](const Object& parameters) -> Result<> {
        if (parameters.find("wrong") == nullptr) return {};
        return invalid_argument("wrong");
    };
    return stage;
}

Request foxes() {
    Request request;
    request.query = "foxes";
    return request;
}

TEST(Pipeline, WithoutStagesGivesTheAnswer) {
    const auto answer = Pipeline().execute(foxes(), Fixed());
    ASSERT_TRUE(answer);
    EXPECT_EQ(*answer, *Fixed().retrieve(foxes()));
}

TEST(Pipeline, RunsStagesInTheirOrderAndRanksAnew) {
    const auto answer = Pipeline()
                            .add_stage(turn_over(), {{"factor", -2.0}})
                            .add_stage([](Answer found) -> Result<Answer> {
                                found.hits.erase(found.hits.begin());
                                found.warnings.emplace_back("the best is gone");
                                return found;
                            })
                            .execute(foxes(), Fixed());
    ASSERT_TRUE(answer);
    EXPECT_EQ(ids_of(*answer), (Ids{"b", "a"}));
    EXPECT_EQ(answer->hits.at(0).rank, 11U);
    EXPECT_EQ(answer->hits.at(1).rank, 12U);
    EXPECT_EQ(answer->hits.at(0).score, -4.0);
    const ReceiptStage expected{"turn_over", "multiply", -2.0, -4.0, {}};
    EXPECT_EQ(answer->hits.at(0).receipt.stages, std::vector<ReceiptStage>{expected});
    EXPECT_EQ(answer->warnings, Ids{"the best is gone"});
    EXPECT_TRUE(answer->complete);
}

TEST(Pipeline, SkipsAStageOfHitsThatFailsAndSaysSo) {
    CustomStage broken = turn_over();
    broken.name = "broken";
    broken.run = [](const StageInput&, const Object&) -> Result<Effects> {
        throw std::runtime_error("no luck");
    };
    CustomStage short_one = broken;
    short_one.name = "short";
    short_one.run = [](const StageInput&, const Object&) -> Result<Effects> { return Effects(1); };
    CustomStage greedy = turn_over();
    greedy.name = "greedy";
    greedy.wants_vectors = true;
    const auto answer = Pipeline().add_stage(broken).add_stage(short_one).add_stage(greedy).execute(
        foxes(), Fixed());
    ASSERT_TRUE(answer);
    EXPECT_EQ(ids_of(*answer), (Ids{"a", "b", "c"}));
    EXPECT_FALSE(answer->complete);
    EXPECT_EQ(answer->warnings,
              (Ids{"the stage \"broken\" failed and was skipped: no luck",
                   "the stage \"short\" failed and was skipped: it answered for 1 of 3 hits",
                   "the stage \"greedy\" failed and was skipped: it needs vectors, which answers "
                   "do not carry"}));
}

TEST(Pipeline, FailsWithTheRetrieverAndWithAStageOfAnswers) {
    EXPECT_EQ(Pipeline().execute({}, Fixed()).error().message, "no query");
    const auto failed = Pipeline()
                            .add_stage([](const Answer&) -> Result<Answer> {
                                return fail(ErrorCode::Unavailable, "closed");
                            })
                            .execute(foxes(), Fixed());
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "closed");
}

TEST(Pipeline, ChecksParametersBeforeItRetrieves) {
    struct Never {
        Result<Answer> retrieve(const Request&) const {
            ADD_FAILURE() << "it was asked";
            return Answer{};
        }
    };
    const auto refused =
        Pipeline().add_stage(turn_over(), {{"wrong", true}}).execute(foxes(), Never());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
}

TEST(Pipeline, CanBeKeptAndUsedAgain) {
    const Pipeline pipeline = Pipeline().add_stage(turn_over());
    for (int i = 0; i < 2; ++i) {
        const auto answer = pipeline.execute(foxes(), Fixed());
        ASSERT_TRUE(answer);
        EXPECT_EQ(ids_of(*answer), (Ids{"c", "b", "a"}));
    }
}

}  // namespace
}  // namespace braid
