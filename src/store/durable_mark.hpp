#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "braid/result.hpp"
#include "braid/store/directory.hpp"

namespace braid::store {

/// So much of a log is on disk, and perhaps more.
struct DurableLength {
    std::uint64_t log_id;
    std::uint64_t bytes;
    std::uint64_t next_sequence;  // of the record that follows those bytes; 0: unknown

    friend bool operator==(const DurableLength&, const DurableLength&) = default;
};

/// The file beside the log `name` that knows how long the log is: "log-000001-durable".
std::string durable_mark_name(std::string_view log);

/// What it says; nothing if there is none, or nothing whole in it. Read it before the log, which
/// is then at least that long.
std::optional<DurableLength> read_durable_mark(const Directory& directory, std::string_view log);

/// Corruption: there was a mark beside the log of this path, and now nothing is whole in it.
tl::unexpected<Error> missing_mark(const std::string& path);

/// The content of one that says this.
std::vector<std::byte> encode_durable_mark(const DurableLength& length);

/// Removes a log and, before it, its mark. NotFound if there is no such log.
Result<> remove_log(Directory& directory, std::string_view log);

/// Keeps that file (docs/formats/log.md). What it cannot write is only not known later, so nothing
/// of it is an error. One user at a time.
class DurableMark {
public:
    /// `known`: what the file says now.
    DurableMark(std::unique_ptr<Directory> directory, std::string_view log, std::uint64_t log_id,
                std::optional<DurableLength> known);

    /// The log is on disk so far. A small write, no sync: a crash of the machine may forget it, a
    /// crash of this process does not.
    void record(std::uint64_t bytes, std::uint64_t next_sequence) noexcept;
    /// What was recorded survives a crash of the machine, too. Mends the file if somebody removed
    /// or changed it.
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
