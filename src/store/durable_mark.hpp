#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "braid/result.hpp"
#include "braid/store/directory.hpp"

namespace braid::store {

/// This much of a log is on disk, and perhaps more.
struct DurableLength {
    std::uint64_t log_id;
    std::uint64_t bytes;
    std::uint64_t next_sequence;  // of the record that follows those bytes; 0: unknown

    friend bool operator==(const DurableLength&, const DurableLength&) = default;
};

/// The file beside the log `name` that records its length: "log-000001-durable".
std::string durable_mark_name(std::string_view log);

/// What it says; none if it is missing or has no intact entry. Read it before the log, which is
/// then at least that long.
std::optional<DurableLength> read_durable_mark(const Directory& directory, std::string_view log);

/// Corruption: there was a mark beside the log at this path, and now it has no intact entry.
tl::unexpected<Error> missing_mark(const std::string& path);

/// The content of a mark that says this.
std::vector<std::byte> encode_durable_mark(const DurableLength& length);

/// Removes a log and, before it, its mark. NotFound if there is no such log.
Result<> remove_log(Directory& directory, std::string_view log);

/// Maintains that file (docs/formats/log.md). What it fails to write is merely not known later, so
/// nothing here is an error. One user at a time.
class DurableMark {
public:
    /// `known`: what the file says now.
    DurableMark(std::unique_ptr<Directory> directory, std::string_view log, std::uint64_t log_id,
                std::optional<DurableLength> known);

    /// The log is on disk up to here. A small write without a sync: it survives a crash of this
    /// process, but perhaps not of the machine.
    void record(std::uint64_t bytes, std::uint64_t next_sequence) noexcept;
    /// Makes what was recorded survive a crash of the machine too. Restores the file if somebody
    /// removed or changed it.
    void sync() noexcept;

private:
    Result<> write(const DurableLength& length);
    bool ends_well() const;

    std::unique_ptr<Directory> directory_;
    std::string name_;
    std::uint64_t log_id_;
    std::optional<DurableLength> known_;
    std::unique_ptr<AppendFile> file_;
    bool unsynced_ = false;
};

}  // namespace braid::store
