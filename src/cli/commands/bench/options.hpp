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
     .help = "where to build (default: the folder for temporary files)"},
    {.name = "index",
     .kind = FlagKind::Text,
     .value = "DIR",
     .help = "keep what is built there, or open what is there"},
    {.name = "wait", .help = "measure when standard input says \"round\""},
});

struct BenchSizes {
    std::size_t top_k = 10;
    std::size_t threads = 1;
};

Result<BenchSizes> bench_sizes(const Arguments& arguments);

/// A file that the command cannot do without.
Result<std::string> bench_file(const Arguments& arguments, std::string_view flag);

/// Prints what was measured, with what `extra` gives afterwards; or measures when asked to.
Result<> bench_measure(Session& session, const BenchSubject& subject,
                       const std::function<Object()>& extra = nullptr);

}  // namespace braid::cli
