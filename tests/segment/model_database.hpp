#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "backend/random_data.hpp"
#include "braid/local/backend.hpp"
#include "braid/store/memory_directory.hpp"

namespace braid::testing {

/// A database that is flushed, merged and opened anew now and then.
class Database {
public:
    using Clock = std::atomic<std::int64_t>;  // microseconds
    /// Whether it flushes and merges when it likes, or when `settle` tells it to.
    enum class Work { WhenTold, InBackground };

    Database(local::Engine engine, std::uint64_t flush_rows, const Clock* clock = nullptr,
             Work work = Work::WhenTold)
        : root_(store::make_memory_directory()) {
        if (clock != nullptr) options_.clock = [clock] { return Timestamp{*clock}; };
        options_.engine = engine;
        options_.flush_rows = flush_rows;
        options_.flush_on_close_rows = flush_rows;
        options_.compaction = {.enabled = false, .background = work == Work::InBackground};
        reopen();
    }

    void reopen() {
        backend_.reset();
        auto opened = must(local::open_local_backend(must(root_->subdirectory("db")), options_));
        EXPECT_EQ(opened.notes, std::vector<std::string>());
        backend_ = std::move(opened.backend);
    }
    /// As a crash leaves it: what is on disk is all there is, and nobody closed it.
    void crash() {
        auto copy = store::make_memory_directory();
        copy_tree(*root_, *copy);
        backend_.reset();
        root_ = std::move(copy);
        reopen();
    }
    void reopen_as(local::Engine engine) {
        options_.engine = engine;
        reopen();
    }
    Backend& backend() { return *backend_; }
    void settle() { dynamic_cast<local::LocalBackend&>(*backend_).run_due_compactions(); }
    void compact() { compact_whole(*backend_, "c"); }
    std::size_t files() const { return entries().size(); }
    std::uint64_t bytes() const {
        std::uint64_t bytes = 0;
        for (const store::DirectoryEntry& entry : entries()) bytes += entry.size;
        return bytes;
    }
    ReaderPtr snapshot() {
        const std::vector<std::string> names{"c"};
        return must(backend_->snapshot(names, {}));
    }

private:
    std::vector<store::DirectoryEntry> entries() const {
        const auto home = must(root_->subdirectory("db"));
        return must(must(must(home->subdirectory("collections"))->subdirectory("c"))->list());
    }
    static void copy_tree(store::Directory& from, store::Directory& to) {
        for (const store::DirectoryEntry& entry : must(from.list())) {
            if (entry.is_directory) {
                copy_tree(*must(from.subdirectory(entry.name)), *must(to.subdirectory(entry.name)));
            } else {
                must(to.create(entry.name, must(from.open(entry.name))->bytes()));
            }
        }
    }

    std::unique_ptr<store::Directory> root_;
    local::LocalOptions options_;
    std::unique_ptr<Backend> backend_;
};

/// Everything that a snapshot shows to a principal, as text, for questions drawn from the seed.
std::string shown(const ReaderPtr& snapshot, const Principal& principal, unsigned seed);

/// Those that `shown` is asked for.
const std::vector<Principal>& principals();

/// One random change, the same to both.
void change(RandomData& random, Timestamp now, Database& one, Database& other);

}  // namespace braid::testing
