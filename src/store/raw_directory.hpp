#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/mapped_file.hpp"
#include "braid/store/scratch.hpp"

namespace braid::store {

/// Which file it is, regardless of its name, and how long it is.
struct FileState {
    std::uint64_t device;
    std::uint64_t number;
    std::uint64_t size;

    bool same_file(const FileState& other) const noexcept {
        return device == other.device && number == other.number;
    }
};

/// An open file with the system's bare operations: see RawDirectory.
class RawFile {
public:
    virtual ~RawFile() = default;

    virtual Result<std::uint64_t> size() const = 0;
    virtual Result<FileState> state() const = 0;
    /// Writes at the end, perhaps less than asked; returns how much: at least 1 if `bytes` is not
    /// empty.
    virtual Result<std::size_t> write(std::span<const std::byte> bytes) = 0;
    /// Makes content and length durable, but not the name.
    virtual Result<> sync() = 0;
    /// Not durable before `sync`.
    virtual Result<> truncate(std::uint64_t size) = 0;
    /// Drops cached content that is not waiting to be written: the next read asks the disk.
    virtual void drop_cache() noexcept = 0;
};

struct RawEntry {
    enum class Kind { File, Directory, Other };

    std::string name;
    Kind kind;
    std::uint64_t size;  // of a file
};

/// The few file system operations that Directory is built from, each atomic, none durable by
/// itself. The order in which make_directory() calls them is what makes data safe, and the tests
/// cut the power between any two of them. Names are trusted here. Operations on files do not see
/// directories of that name (NotFound), and vice versa. Safe for concurrent use.
class RawDirectory {
public:
    enum class Access { Append, AppendNew };  // AppendNew: AlreadyExists if the name is taken
    enum class IfTaken { Replace, Fail };

    virtual ~RawDirectory() = default;

    virtual std::string path() const = 0;
    virtual Result<std::unique_ptr<FileView>> view(const std::string& name) const = 0;
    /// See Directory::map. Unless overridden, makes a copy of what `view` shows.
    virtual Result<std::shared_ptr<const MappedFile>> map(const std::string& name) const;
    /// See Directory::scratch. Unless overridden, on the heap.
    virtual Result<std::unique_ptr<Scratch>> scratch(std::uint64_t size);
    virtual Result<std::unique_ptr<RawFile>> open_file(const std::string& name, Access access) = 0;
    virtual Result<std::shared_ptr<RawDirectory>> open_directory(const std::string& name) const = 0;
    /// AlreadyExists if the name is taken.
    virtual Result<> make_directory(const std::string& name) = 0;
    /// Moves a file or a directory. Fail: AlreadyExists if `to` is taken.
    virtual Result<> rename(const std::string& from, const std::string& to, IfTaken if_taken) = 0;
    /// For whatever has that name now. NotFound if nothing has.
    virtual Result<FileState> state(const std::string& name) const = 0;
    /// Removes anything but a directory.
    virtual Result<> remove_file(const std::string& name) = 0;
    /// Removes an empty directory.
    virtual Result<> remove_directory(const std::string& name) = 0;
    /// Everything in it, in any order.
    virtual Result<std::vector<RawEntry>> list() const = 0;
    /// See Directory::lock.
    virtual Result<std::unique_ptr<DirectoryLock>> lock(const std::string& name) = 0;
    /// Makes the names in this directory durable.
    virtual Result<> sync() = 0;
};

/// What DirectoryLock::verify says when the lock's file is no longer there.
tl::unexpected<Error> lock_is_lost(const std::string& path);

/// The Directory built on `raw`.
std::unique_ptr<Directory> make_directory(std::shared_ptr<RawDirectory> raw);

}  // namespace braid::store
