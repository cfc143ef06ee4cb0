#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "braid/answer.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"

namespace braid {

/// Runs stages, in order, over the answers of any retriever. Stages in OpenOptions, by contrast,
/// are named by requests and see all candidates, not only the hits.
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
    /// Turns an answer into another. Its error fails the pipeline.
    using AnswerStage = std::function<Result<Answer>(Answer answer)>;

    Pipeline& add_stage(AnswerStage stage);
    /// A stage as in OpenOptions: its effects enter scores and receipts. If it fails it is skipped,
    /// and the answer says so. It gets no vectors; one that wants vectors fails.
    Pipeline& add_stage(CustomStage stage, Object parameters = {});

    /// Runs the stages over `retriever.retrieve(request)`; a retriever is a Database or anything
    /// with such a member. InvalidArgument, before retrieving, if a stage rejects its parameters.
    template <class Retriever>
    Result<Answer> execute(const Request& request, const Retriever& retriever) const {
        BRAID_CHECK(check());
        Result<Answer> answer = retriever.retrieve(request);
        if (!answer) return answer;
        return apply(request, *std::move(answer));
    }

    /// Runs the stages over an answer to the request. Ranks restart from the first hit's.
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
