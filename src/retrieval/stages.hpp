#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/filter.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// A stage with its parameters, made for one request.
class Stage {
public:
    virtual ~Stage() = default;

    /// Before each run(): what is searched, and by whom.
    virtual Result<> prepare(Work& work);
    virtual Result<std::vector<StageEffect>> run(const StageInput& input) = 0;

    /// A condition that the legs apply, so that the stage never empties their lists.
    virtual std::optional<Filter> leg_filter(Timestamp now) const;
    /// Sets StageHit::matches.
    virtual const Filter* filter() const { return nullptr; }
    virtual bool wants_vectors() const { return false; }
    /// What lies deeper than the hits seen so far is cut off.
    virtual bool ended() const { return false; }
};

/// The names of the built-in stages.
std::span<const std::string_view> builtin_stage_names() noexcept;

/// InvalidArgument, naming the nearest that there is, for an unknown stage or parameter.
Result<std::unique_ptr<Stage>> make_stage(const StageChoice& choice,
                                          std::span<const CustomStage> custom);

/// The stages of one request, in order.
class StagePipeline {
public:
    static Result<StagePipeline> create(std::span<const StageChoice> choices,
                                        std::span<const CustomStage> custom);

    /// What the legs should leave out.
    std::vector<Filter> leg_filters(Timestamp now) const;

    /// Runs every stage over a band of candidates. One that fails is skipped from then on, and
    /// reported. Fails only if the chunks cannot be read.
    Result<> apply(Work& work, Timestamp now, std::vector<Candidate>& band);

    bool ended() const;

private:
    struct Step {
        std::string name;
        std::unique_ptr<Stage> stage;
        bool failed = false;
    };

    Result<> run(Step& step, Work& work, Timestamp now, std::vector<Candidate>& band);

    std::vector<Step> steps_;
};

}  // namespace braid::retrieval
