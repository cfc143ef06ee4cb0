#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "store/faulty_directory.hpp"

namespace braid::store::testing {

/// A file: what reads see, and what is on disk.
struct FaultyFile {
    using Bytes = std::vector<std::byte>;
    using Range = std::pair<std::size_t, std::size_t>;

    Bytes cached;
    Bytes disk;
    std::vector<Range> dirty;  // of `cached`, to be written by the next sync

    void append(std::span<const std::byte> bytes);
    void truncate(std::size_t size);
    void sync() {
        disk = synced();
        dirty.clear();
    }
    /// The file system gives up on what it could not write and forgets that it is missing.
    void lose() { dirty.clear(); }
    void drop_cache();
    /// What a power cut leaves.
    Bytes after_crash(std::mt19937_64& rng, CrashMode mode) const;

private:
    Bytes synced() const;
};

/// A directory: the names reads see, those on disk, and the changes in between.
struct FaultyFolder {
    using Node = std::variant<std::shared_ptr<FaultyFile>, std::shared_ptr<FaultyFolder>>;
    using Names = std::map<std::string, Node>;
    /// Atomic: a rename removes one name and adds another.
    struct Change {
        std::optional<std::string> removed;
        std::optional<std::pair<std::string, Node>> added;
    };

    Names cached;
    Names disk;
    std::vector<Change> pending;
    bool locked = false;

    void change(Change change);
    void sync() {
        disk = cached;
        pending.clear();
    }
    /// What a power cut leaves, all of it on disk.
    std::shared_ptr<FaultyFolder> after_crash(std::mt19937_64& rng, CrashMode mode) const;
};

struct FaultyDisk::Tree {
    std::mutex mutex;
    std::shared_ptr<FaultyFolder> root = std::make_shared<FaultyFolder>();
};

}  // namespace braid::store::testing
