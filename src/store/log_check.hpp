#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/store/append_log.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/durable_mark.hpp"

namespace braid::store {

struct LogProblem {
    std::uint64_t offset;
    std::uint64_t bytes;  // how many bytes are unreadable from there on
    bool acknowledged;    // true: a loss; false: an unsynced end, which opening the log cuts off
    std::string message;
    std::uint64_t first_lost = 0;  // sequence number of the first record that is lost by it
    std::uint64_t lost = 0;        // how many are, as far as is known
};

struct LogCheck {
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;         // readable ones, also behind damage
    std::vector<LogProblem> problems;  // in file order, the first hundred
    std::uint64_t problem_count = 0;
};

/// Walks the log `name` without replaying or changing it, and lists everything wrong with it. Fails
/// only if the file cannot be read at all, or is of a newer version.
Result<LogCheck> check_log(const Directory& directory, std::string_view name);

/// The same, and passes every readable record to `salvage` in file order, including those after
/// damage: for saving what can be saved of a log that AppendLog::open calls corrupt. Sequence
/// numbers have gaps where records are lost. An error from `salvage` stops it and is returned.
Result<LogCheck> salvage_log(const Directory& directory, std::string_view name,
                             const AppendLog::ReplayFn& salvage);

/// The same for the content of a log, or its beginning, that has been read already; `path` names it
/// in messages. `durable`: how much of it must be intact, as far as that is known.
Result<LogCheck> salvage_log(std::span<const std::byte> file, std::string_view path,
                             const std::optional<DurableLength>& durable,
                             const AppendLog::ReplayFn& salvage);

}  // namespace braid::store
