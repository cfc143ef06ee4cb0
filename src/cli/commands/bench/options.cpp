#include "braid/cli/commands/bench/options.hpp"

#include "braid/cli/view/table.hpp"
#include "braid/cli/view/terminal.hpp"
#include "braid/core/numbers.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kRounds = 5;

}  // namespace

Result<BenchSizes> bench_sizes(const Arguments& arguments) {
    BenchSizes sizes;
    BRAID_TRY(const auto top_k, arguments.integer("top-k", 1, 10'000));
    BRAID_TRY(const auto threads, arguments.integer("threads", 1, 1024));
    if (top_k) sizes.top_k = static_cast<std::size_t>(*top_k);
    if (threads) sizes.threads = static_cast<std::size_t>(*threads);
    return sizes;
}

Result<std::string> bench_file(const Arguments& arguments, std::string_view flag) {
    auto text = arguments.text(flag);
    if (text) return *std::move(text);
    return invalid_argument("\"" + std::string(arguments.command->name) + "\" needs --" +
                            std::string(flag));
}

Result<double> bench_share(const Arguments& arguments, const FlagSpec& flag, double otherwise) {
    BRAID_TRY(const Value value, arguments.value(flag));
    if (!value.is_number()) return otherwise;
    const double share = value.as_double();
    if (!(share > 0 && share <= 1)) {
        return invalid_argument("--" + std::string(flag.name) + ": must be above 0 and at most 1");
    }
    return share;
}

Result<> bench_measure(Session& session, const BenchSubject& subject,
                       const std::function<Object()>& extra) {
    if (session.arguments.has("wait")) return bench_wait(session, subject);
    BRAID_TRY(const BenchRound round, bench_median(subject, kRounds));
    Object all = bench_figures(round);
    for (const auto& [key, value] : subject.built) all.set(key, value);
    const Object more = extra ? extra() : Object();
    for (const auto& [key, value] : more) all.set(key, value);
    all.set("queries", subject.queries);
    all.set("threads", subject.threads);
    if (session.json()) {
        session.out.json(all);
        return {};
    }
    Table table({{"figure"}, {"value", true}});
    for (const auto& [key, value] : all) {
        table.add({key, value.is_double()
                            ? core::fixed(value.as_double(), 3)
                            : core::grouped(static_cast<unsigned long long>(value.as_int()))});
    }
    table.print(session.out);
    return {};
}

}  // namespace braid::cli
