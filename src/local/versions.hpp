#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "braid/index/prepared.hpp"
#include "braid/store/directory.hpp"
#include "braid/types.hpp"

namespace braid::local {

using index::Sequence;

/// Gives a log record the version of the chunks it changes. Replaying the record gives the same
/// version; another record gives another. It tells callers nothing else: not how many records there
/// are, which would count the writes of chunks they may not see (docs/decisions/0026).
///
/// Versions are 1 to 2^53 - 1, the whole numbers that every JSON reader preserves.
class Versions {
public:
    /// `log_id`: random and unique to this log, so that outsiders cannot compute a version. `base`:
    /// how many records the logs before this one had.
    Versions(std::uint64_t log_id, Version base) : log_id_(log_id), base_(base) {}

    Version of(Sequence sequence, std::span<const std::byte> payload) const;

    Version base() const noexcept { return base_; }
    void set_base(Version base) noexcept { base_ = base; }

private:
    std::uint64_t log_id_;
    Version base_;
};

/// The id of the log in a file, as far as it can be read; otherwise 0.
std::uint64_t log_id_of(const store::Directory& files, const std::string& log);

}  // namespace braid::local
