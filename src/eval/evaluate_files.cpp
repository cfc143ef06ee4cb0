#include "braid/eval/evaluate_files.hpp"

#include <algorithm>
#include <filesystem>

#include "braid/eval/measures.hpp"

namespace braid::eval {
namespace {

std::vector<std::string> names_of(const std::vector<std::string>& paths) {
    std::vector<std::string> names;
    names.reserve(paths.size());
    for (const std::string& path : paths) {
        names.push_back(std::filesystem::path(path).stem().string());
    }
    std::vector<std::string> unique;
    unique.reserve(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const bool shared = std::count(names.begin(), names.end(), names[i]) > 1;
        unique.push_back(shared ? paths[i] : names[i]);
    }
    return unique;
}

}  // namespace

Result<EvalOutcome> evaluate_files(const EvalRequest& request) {
    std::vector<Measure> measures = default_measures();
    if (!request.measures.empty()) {
        BRAID_TRY(measures, parse_measures(request.measures));
    }
    EvalOutcome outcome;
    BRAID_TRY(outcome.qrels, read_qrels(request.qrels));
    const std::vector<std::string> names = names_of(request.runs);
    for (std::size_t i = 0; i < names.size(); ++i) {
        BRAID_TRY(Run run, read_run(request.runs[i]));
        run.name = names[i];
        outcome.runs.push_back(std::move(run));
    }
    if (!request.queries.empty()) {
        BRAID_TRY(outcome.queries, read_queries(request.queries));
    }
    BRAID_TRY(outcome.comparison, compare(outcome.qrels, outcome.runs, measures, request.options));
    return outcome;
}

}  // namespace braid::eval
