// Evaluates the cases that ir_measures_test.py has written and prints a JSON value per case:
//     measure_cases MEASURES FOLDER...
// where a folder holds `qrels` and `run`.

#include <cstdio>
#include <span>
#include <string>

#include "braid/eval/compare.hpp"
#include "braid/eval/measures.hpp"
#include "braid/eval/trec.hpp"
#include "braid/json/json.hpp"

namespace braid::eval {
namespace {

Result<Value> evaluated(std::span<const Measure> measures, const std::string& folder) {
    BRAID_TRY(const Qrels qrels, read_qrels(folder + "/qrels"));
    BRAID_TRY(const Run run, read_run(folder + "/run"));
    BRAID_TRY(const Comparison comparison,
              compare(qrels, std::span(&run, 1), measures, {.resamples = 100}));
    return to_value(comparison, true);
}

Result<> evaluate_all(std::span<char* const> arguments) {
    BRAID_TRY(const std::vector<Measure> measures, parse_measures(arguments[0]));
    for (const char* folder : arguments.subspan(1)) {
        BRAID_TRY(const Value value, evaluated(measures, folder));
        std::puts(json::print(value).c_str());
    }
    return {};
}

}  // namespace
}  // namespace braid::eval

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const auto done = braid::eval::evaluate_all({argv + 1, static_cast<std::size_t>(argc - 1)});
    if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return done ? 0 : 1;
}
