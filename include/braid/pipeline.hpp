#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "braid/answer.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"

namespace braid {

/// Stages over whole answers, one after the other, whoever retrieves them. Those that a Database
/// was opened with see all candidates instead, and are named by the request.
///
///     auto answer = braid::Pipeline()
///                       .add_stage(rerank, {{"candidates", 20}})
///                       .add_stage([](braid::Answer found) -> braid::Result<braid::Answer> {
///                           if (found.hits.size() > 3) found.hits.resize(3);
///                           return found;
///                       })
///                       .execute(request, database);
class Pipeline {
public:
    /// Makes another answer of an answer. Its error is that of the whole.
    using AnswerStage = std::function<Result<Answer>(Answer answer)>;

    Pipeline& add_stage(AnswerStage stage);
    /// A stage as OpenOptions takes them: its effects go into scores and receipts. One that fails
    /// is skipped, and the answer says so. It is given no vectors, and fails if it wants some.
    Pipeline& add_stage(CustomStage stage, Object parameters = {});

    /// Runs the stages over what `retriever.retrieve(request)` answers: a Database's, or that of
    /// anything that has such a member. InvalidArgument, before that, if a stage does not take its
    /// parameters.
    template <class Retriever>
    Result<Answer> execute(const Request& request, const Retriever& retriever) const {
        BRAID_CHECK(check());
        Result<Answer> answer = retriever.retrieve(request);
        if (!answer) return answer;
        return apply(request, *std::move(answer));
    }

    /// Runs the stages over an answer to the request. Ranks are given anew, from the first hit's.
    Result<Answer> apply(const Request& request, Answer answer) const;

private:
    struct HitStage {
        CustomStage stage;
        Object parameters;
    };

    Result<> check() const;

    std::vector<std::variant<AnswerStage, HitStage>> stages_;
};

}  // namespace braid
