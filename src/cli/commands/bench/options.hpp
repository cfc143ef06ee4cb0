#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "braid/cli/args/arguments.hpp"
#include "braid/cli/commands/bench/rounds.hpp"
#include "braid/cli/session.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

/// What every bench command takes.
inline constexpr auto kBenchFlags = std::to_array<FlagSpec>({
    {.name = "top-k",
     .kind = FlagKind::Integer,
     .value = "K",
     .help = "hits per query (default: 10)",
     .letter = 'k'},
    {.name = "threads",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "queries at the same time (default: 1)"},
    {.name = "scratch",
     .kind = FlagKind::Text,
     .value = "DIR",
     .help = "temporary folder to build in (default: the system's)"},
    {.name = "index",
     .kind = FlagKind::Text,
     .value = "DIR",
     .help = "build and keep the index there, or reuse it"},
    {.name = "wait", .help = "measure when standard input says \"round\""},
});

struct BenchSizes {
    std::size_t top_k = 10;
    std::size_t threads = 1;
};

Result<BenchSizes> bench_sizes(const Arguments& arguments);

/// A file that the command requires.
Result<std::string> bench_file(const Arguments& arguments, std::string_view flag);

/// A number above 0 and at most 1, or `otherwise` where the flag is not given.
Result<double> bench_share(const Arguments& arguments, const FlagSpec& flag, double otherwise);

/// Prints what was measured, then what `extra` returns; or measures when told to by another
/// program.
Result<> bench_measure(Session& session, const BenchSubject& subject,
                       const std::function<Object()>& extra = nullptr);

}  // namespace braid::cli
