#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"

namespace braid::store {

class FileWriter;  // file_writer.hpp
class MappedFile;  // mapped_file.hpp
class Scratch;     // scratch.hpp

/// The bytes of one file as they were when it was opened: they do not change and do not fault, even
/// if the file is appended to, truncated, replaced or removed meanwhile.
///
/// The whole file is held in memory (a read error is an error of `open`, never a signal later), so
/// opening costs one read of the file. Safe for concurrent use.
class FileView {
public:
    virtual ~FileView() = default;

    /// Valid as long as the view. Aligned to at least 16 bytes.
    virtual std::span<const std::byte> bytes() const noexcept = 0;
};

/// A file that grows at its end. One owner at a time; not safe for concurrent use.
///
/// After an error of `append` or `sync`, nobody knows what the disk holds after the last successful
/// `sync`: stop using the object, and look at the file again after reopening it. After a
/// StorageFull from `append`, `truncate` to the previous size restores the file.
class AppendFile {
public:
    virtual ~AppendFile() = default;

    /// Writes all of `bytes` at the end; they are not durable until `sync`. On failure the file may
    /// hold part of them. StorageFull if there is no space.
    virtual Result<> append(std::span<const std::byte> bytes) = 0;

    /// Makes everything appended so far survive a power cut, along with the file's name.
    virtual Result<> sync() = 0;

    /// Bytes appended so far, including those of earlier owners.
    virtual std::uint64_t size() const noexcept = 0;

    /// Cuts the file to `size` bytes, durably. InvalidArgument if it is shorter than that.
    virtual Result<> truncate(std::uint64_t size) = 0;

    /// ReadOnly if the file's name is gone or now belongs to another file, or if someone else has
    /// written to it: anything appended then would be lost. Costs one look at the file system.
    virtual Result<> verify() const = 0;
};

/// Held until destroyed, or until the process that holds it ends, however it ends.
class DirectoryLock {
public:
    virtual ~DirectoryLock() = default;

    /// ReadOnly if the lock's file has been removed or replaced: a program that locks by that file
    /// alone may be writing. Costs one look at the file system; safe for concurrent use.
    virtual Result<> verify() const = 0;
};

struct DirectoryEntry {
    std::string name;
    bool is_directory;
    std::uint64_t size;  // of a file; 0 for a directory

    friend bool operator==(const DirectoryEntry&, const DirectoryEntry&) = default;
};

/// Where a collection keeps its files. Files are written once and never changed, except the
/// manifest (replaced whole) and the log (see append_log.hpp). Safe for concurrent use.
///
/// Names are 1 to 200 characters of [A-Za-z0-9._-], not starting with '.'; any other name is
/// InvalidArgument. What a change promises holds once it has returned success; after an error the
/// change may or may not have happened, but never halfway. Errors say what was attempted, on which
/// path, and why it failed: StorageFull for a full disk or quota, ResourceExhausted for too many
/// open files, ReadOnly or PermissionDenied where writing is not allowed, IoError for the rest.
///
/// open_posix_directory (production), make_memory_directory (scratch), FaultyDisk (tests: fails, or
/// drops what was not synced, at the n-th operation). One suite runs over all three.
class Directory {
public:
    virtual ~Directory() = default;

    /// For messages.
    virtual std::string path() const = 0;

    /// Another object for the same directory, which keeps it open.
    virtual std::unique_ptr<Directory> again() const = 0;

    /// NotFound if `name` does not exist. The view outlives removal of the file.
    virtual Result<std::unique_ptr<FileView>> open(std::string_view name) const = 0;

    /// For files that are written once and may be large: their bytes are read on demand. NotFound
    /// if `name` does not exist. The mapping outlives removal of the file.
    virtual Result<std::shared_ptr<const MappedFile>> map(std::string_view name) const = 0;

    /// Files and sub-directories, sorted by name. Anything else (links, devices), anything whose
    /// name could not be ours, and left-overs of crashes are not listed.
    virtual Result<std::vector<DirectoryEntry>> list() const = 0;

    /// The names that `list` leaves out, sorted.
    virtual Result<std::vector<std::string>> list_others() const = 0;

    /// Writes a new file, durably. AlreadyExists if `name` is taken, even by a directory.
    virtual Result<> create(std::string_view name, std::span<const std::byte> bytes) = 0;

    /// Begins a new file of any size, which exists, complete and durable, once the writer has
    /// finished. AlreadyExists if `name` is taken.
    virtual Result<std::unique_ptr<FileWriter>> write_file(std::string_view name) = 0;

    /// Memory for a computation that may need more than a process should take.
    virtual Result<std::unique_ptr<Scratch>> scratch(std::uint64_t size) = 0;

    /// Writes a file, durably, replacing an existing one. Readers see the old bytes or the new
    /// ones, never a mixture, even after a crash. AlreadyExists if a directory has that name.
    virtual Result<> replace(std::string_view name, std::span<const std::byte> bytes) = 0;

    /// Removes a file, durably. NotFound if `name` does not exist.
    virtual Result<> remove(std::string_view name) = 0;

    /// Opens a file for appending; creates it if absent, which is durable after the first `sync`.
    /// What an earlier owner left unsynced is synced first, and read back from the disk by the next
    /// `open`, so that nobody builds on bytes that only a cache holds.
    virtual Result<std::unique_ptr<AppendFile>> open_append(std::string_view name) = 0;

    /// Opens a sub-directory, created durably if absent. AlreadyExists if a file has that name.
    virtual Result<std::unique_ptr<Directory>> subdirectory(std::string_view name) = 0;

    /// NotFound if there is no such sub-directory.
    virtual Result<std::unique_ptr<Directory>> open_subdirectory(std::string_view name) const = 0;

    /// Renames a sub-directory, durably: after a crash it has one of the two names, with all its
    /// content. AlreadyExists if `to` is taken, NotFound if there is no sub-directory `from`.
    virtual Result<> rename_subdirectory(std::string_view from, std::string_view to) = 0;

    /// Removes a sub-directory with all its content: first the name, at once and durably, then the
    /// content. After a crash either all of it is there under `name`, or nothing.
    virtual Result<> remove_subdirectory(std::string_view name) = 0;

    /// Takes the one exclusive lock of this directory, without waiting. Locks the directory itself
    /// and a file `name` in it, which stays and says who holds it: removing the file does not
    /// unlock the directory. Locked if it is held, by this process or another; the message names
    /// the holder if known.
    virtual Result<std::unique_ptr<DirectoryLock>> lock(std::string_view name) = 0;

    /// Makes every name created or removed so far survive a power cut.
    virtual Result<> sync() = 0;

    /// Deletes what crashes left half-written or half-removed, and returns how many names that
    /// were. Call it only where nobody else writes, that is, under the lock.
    virtual Result<std::size_t> remove_leftovers() = 0;
};

/// Whether `name` may be passed to a Directory.
bool is_valid_name(std::string_view name) noexcept;

/// Whether it is a name that `Directory::remove_leftovers` removes.
bool is_leftover_name(std::string_view name) noexcept;

}  // namespace braid::store
