#include <algorithm>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/helpers.hpp"
#include "braid/local/backend.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/store/posix_directory.hpp"
#include "core/temporary_folder.hpp"
#include "recovery/workload.hpp"
#include "store/faulty_directory.hpp"

namespace braid::testing {
namespace {

using store::testing::CrashMode;
using store::testing::FaultKind;
using store::testing::FaultyDisk;

std::unique_ptr<Backend> open_whole(FaultyDisk& disk) {
    auto opened = must(local::open_local_backend(disk.root(), {}));
    EXPECT_TRUE(opened.notes.empty());
    return std::move(opened.backend);
}

Ids ids_in(const Backend& backend, const std::string& collection) {
    const std::vector<std::string> names{collection};
    const ReaderPtr snapshot = must(backend.snapshot(names, {}));
    return ids_of(must(snapshot->scan(scope_of(collection), "", 1000, false)));
}

Result<WriteReport> put(Backend& backend, const std::string& collection, const std::string& id) {
    return backend.upsert(collection, "default", {make_chunk(id, "all " + id, {1, 1})}, {});
}

TEST(FailedSync, MakesTheCollectionReadOnlyAndReadsGoOn) {
    FaultyDisk disk;
    {
        const auto backend = open_whole(disk);
        must(backend->create_collection("c", vectors_schema(2)));
        must(backend->create_collection("d", vectors_schema(2)));
        must(put(*backend, "c", "a"));
        disk.plan().fail_sync_at(1);
        expect_error(put(*backend, "c", "b"), ErrorCode::IoError, "\"c\"");
        expect_error(put(*backend, "c", "b"), ErrorCode::ReadOnly, "error");
        expect_error(backend->remove(scope_of("c"), by_ids({"a"}), {}), ErrorCode::ReadOnly);
        expect_error(backend->update("c", "default", {{.chunk_id = "a"}}, {}), ErrorCode::ReadOnly);
        EXPECT_EQ(ids_in(*backend, "c"), Ids{"a"});
        expect_both_legs_agree(*backend);
        expect_check_is_clean(*backend);
        must(put(*backend, "d", "other collections are not affected"));
    }
    FaultyDisk after = disk.crash_state(1, CrashMode::DropAll);
    const auto backend = open_whole(after);
    EXPECT_EQ(ids_in(*backend, "c"), Ids{"a"}) << "what was not acknowledged is gone";
    must(put(*backend, "c", "b"));
    EXPECT_EQ(ids_in(*backend, "d").size(), 1U);
}

struct Switched {
    std::uint64_t operations = 0;  // of the disk
    Ids acknowledged;
};

/// Copies the one chunk of "c" to a schema with one dimension more, and has the n-th operation of
/// the switch fail; 0: none. What can be written afterwards is written.
Switched write_after_a_switch(FaultyDisk& disk, std::uint64_t n) {
    Switched switched{.acknowledged = {"a"}};
    const auto backend = open_whole(disk);
    must(backend->create_collection("c", vectors_schema(2)));
    must(put(*backend, "c", "a"));
    const auto work = must(backend->rewrite("c", vectors_schema(3)));
    Rewrite::Batch batch = must(work->pending(10));
    for (Chunk& chunk : batch.chunks) chunk.vector.push_back(1);
    must(work->put(std::move(batch)));
    const std::uint64_t before = disk.plan().operations();
    if (n > 0) disk.plan().fail_at(n, FaultKind::IoError);
    (void)work->finish();
    disk.plan().clear();
    switched.operations = disk.plan().operations() - before;
    const std::size_t dimension = must(backend->describe("c", {})).schema.vectors.dimension;
    const std::vector<float> vector(dimension, 1.0F);
    if (backend->upsert("c", "default", {make_chunk("b", "all", vector)}, {})) {
        switched.acknowledged.emplace_back("b");
    }
    expect_check_is_clean(*backend);
    return switched;
}

TEST(FailedSwitch, LosesNoWriteThatIsAcknowledgedAfterIt) {
    FaultyDisk undisturbed;
    const std::uint64_t operations = write_after_a_switch(undisturbed, 0).operations;
    ASSERT_GT(operations, 3U);
    for (std::uint64_t n = 1; n <= operations; ++n) {
        FaultyDisk disk;
        const Ids acknowledged = write_after_a_switch(disk, n).acknowledged;
        for (const CrashMode mode : store::testing::kCrashModes) {
            SCOPED_TRACE(::testing::Message()
                         << "operation " << n << " of the switch, mode " << static_cast<int>(mode));
            FaultyDisk after = disk.crash_state(n, mode);
            const auto opened = must(local::open_local_backend(after.root(), {}));
            EXPECT_EQ(ids_in(*opened.backend, "c"), acknowledged);
            expect_check_is_clean(*opened.backend);
        }
    }
}

TEST(FullDisk, IsSaidClearlyAndLosesNothing) {
    FaultyDisk disk;
    {
        const auto backend = open_whole(disk);
        must(backend->create_collection("c", vectors_schema(2)));
        must(put(*backend, "c", "a"));
        disk.plan().fill_disk(true);
        expect_error(put(*backend, "c", "b"), ErrorCode::StorageFull, "space");
        expect_error(backend->create_collection("d", words_schema()), ErrorCode::StorageFull,
                     "space");
        EXPECT_EQ(ids_in(*backend, "c"), Ids{"a"});
        expect_both_legs_agree(*backend);
    }
    EXPECT_EQ(
        ids_in(*must(local::open_local_backend(disk.root(), {.read_only = true})).backend, "c"),
        Ids{"a"})
        << "a full disk can still be read";
    disk.plan().fill_disk(false);
    auto opened = must(local::open_local_backend(disk.root(), {}));  // may cut what was unfinished
    EXPECT_EQ(ids_in(*opened.backend, "c"), Ids{"a"});
    must(put(*opened.backend, "c", "b"));
    must(opened.backend->create_collection("d", words_schema()));
}

TEST(FullDisk, TakesWritesAgainAsSoonAsThereIsSpace) {
    FaultyDisk disk;
    std::vector<std::string> told;
    local::LocalOptions options;
    options.log = [&](const LogEvent& event) {
        told.push_back(std::string(event.name) + ": " + std::string(event.message));
    };
    const auto backend = std::move(must(local::open_local_backend(disk.root(), options)).backend);
    must(backend->create_collection("c", vectors_schema(2)));
    must(put(*backend, "c", "a"));
    EXPECT_TRUE(backend->health().refusing.empty());
    disk.plan().fill_disk(true);
    expect_error(put(*backend, "c", "b"), ErrorCode::StorageFull, "space");
    expect_error(put(*backend, "c", "b"), ErrorCode::StorageFull, "space");
    const BackendHealth full = backend->health();
    ASSERT_EQ(full.refusing.size(), 1U);
    EXPECT_EQ(full.refusing.front().collection, "c");
    EXPECT_EQ(full.refusing.front().cause.code, ErrorCode::StorageFull);
    EXPECT_EQ(full.failed_writes, 2U);
    ASSERT_EQ(told.size(), 1U) << "once, not with every write";
    EXPECT_NE(told.front().find("writes_refused: collection \"c\""), std::string::npos);
    EXPECT_NE(told.front().find("space"), std::string::npos) << told.front();

    disk.plan().fill_disk(false);
    EXPECT_TRUE(backend->health().refusing.empty()) << "nobody has to write to find out";
    must(put(*backend, "c", "b"));
    EXPECT_EQ(ids_in(*backend, "c"), (Ids{"a", "b"}));
    ASSERT_EQ(told.size(), 2U);
    EXPECT_NE(told.back().find("writes_resumed"), std::string::npos);
    expect_check_is_clean(*backend);
    for (const CrashMode mode : store::testing::kCrashModes) {
        FaultyDisk after = disk.crash_state(1, mode);
        EXPECT_EQ(ids_in(*open_whole(after), "c"), (Ids{"a", "b"}));
    }
}

TEST(FullDisk, AFailedCompactionLeavesNothingBehind) {
    std::uint64_t operations = 0;
    for (std::uint64_t n = 0; n <= operations; ++n) {
        SCOPED_TRACE(::testing::Message() << "no space from operation " << n);
        FaultyDisk disk;
        const auto backend = open_whole(disk);
        must(backend->create_collection("c", vectors_schema(2)));
        for (int i = 0; i < 3; ++i) must(put(*backend, "c", "a"));
        const std::uint64_t before = disk.plan().operations();
        if (n > 0) disk.plan().fail_at(n, FaultKind::NoSpace);
        const auto compact = [&]() -> Result<bool> {
            BRAID_TRY(const auto work, backend->compaction("c"));
            BRAID_TRY(auto batch, work->pending(10));
            BRAID_CHECK(work->put(std::move(batch)));
            return work->finish();
        };
        const auto done = compact();
        if (n == 0) operations = disk.plan().operations() - before;
        if (!done) {
            EXPECT_EQ(done.error().code, ErrorCode::StorageFull);
        }
        disk.plan().clear();
        const auto files =
            must(must(disk.root()->open_subdirectory("collections"))->open_subdirectory("c"));
        const auto mark_missing = [](const auto& entries) {  // for want of space, until a write
            return std::ranges::none_of(
                entries, [](const auto& entry) { return entry.name.ends_with("-durable"); });
        };
        auto entries = must(files->list());
        std::erase_if(entries, [](const auto& entry) { return entry.name == "manifest-copy"; });
        EXPECT_EQ(entries.size(), n > 0 && mark_missing(entries) ? 2U : 3U)
            << "one manifest, one log and its mark";
        EXPECT_TRUE(must(files->list_others()).empty());
        must(put(*backend, "c", "b"));
        EXPECT_EQ(ids_in(*backend, "c"), (Ids{"a", "b"}));
        expect_check_is_clean(*backend);
    }
}

TEST(FullDisk, AFailedFlushOrMergeLosesNothingAndIsMadeUpFor) {
    std::uint64_t operations = 0;
    for (std::uint64_t n = 0; n <= operations; ++n) {
        SCOPED_TRACE(::testing::Message() << "no space from operation " << n);
        FaultyDisk disk;
        local::LocalOptions options;
        options.flush_on_close_rows = 1;  // a segment even of so little
        const auto backend =
            std::move(must(local::open_local_backend(disk.root(), options)).backend);
        must(backend->create_collection("c", vectors_schema(2)));
        const auto compact = [&]() -> Result<bool> {
            BRAID_TRY(const auto work, backend->compaction("c"));
            return work->finish();
        };
        for (int i = 0; i < 3; ++i) must(put(*backend, "c", "a"));
        must(compact());
        must(put(*backend, "c", "b"));
        must(backend->remove(scope_of("c"), by_ids({"a"}), {}));
        must(put(*backend, "c", "c"));
        const std::uint64_t before = disk.plan().operations();
        if (n > 0) disk.plan().fail_at(n, FaultKind::NoSpace);
        const auto done = compact();
        if (n == 0) operations = disk.plan().operations() - before;
        if (!done) {
            EXPECT_EQ(done.error().code, ErrorCode::StorageFull);
        }
        disk.plan().clear();
        EXPECT_EQ(ids_in(*backend, "c"), (Ids{"b", "c"}));
        expect_check_is_clean(*backend);
        must(put(*backend, "c", "d"));
        EXPECT_TRUE(must(compact()));
        EXPECT_EQ(ids_in(*backend, "c"), (Ids{"b", "c", "d"}));
        const CheckReport report = must(backend->check({}));
        EXPECT_EQ(report.problems, std::vector<std::string>());
        EXPECT_EQ(report.notes, std::vector<std::string>()) << "nothing is left over";
        EXPECT_EQ(report.superseded, 0U);
    }
}

/// Flushing begins a log: whoever tries again with what has not been flushed uses the one begun.
TEST(FullDisk, FlushesThatFailAgainAndAgainLeaveOneMoreLogAtMost) {
    std::uint64_t operations = 0;
    for (std::uint64_t n = 0; n <= operations; ++n) {
        SCOPED_TRACE(::testing::Message() << "no space at operation " << n);
        FaultyDisk disk;
        local::LocalOptions options;
        options.compaction.background = false;
        for (const std::uint64_t rows_flushed_on_close : {1, 1000}) {
            options.flush_on_close_rows = rows_flushed_on_close;
            const auto opened = must(local::open_local_backend(disk.root(), options));
            if (rows_flushed_on_close == 1) {
                must(opened.backend->create_collection("c", vectors_schema(2)));
                must(put(*opened.backend, "c", "a"));
            }
            must(put(*opened.backend, "c", rows_flushed_on_close == 1 ? "b" : "c"));
        }
        for (int attempt = 0; attempt < 4; ++attempt) {
            const auto backend =
                std::move(must(local::open_local_backend(disk.root(), options)).backend);
            const std::uint64_t before = disk.plan().operations();
            if (n > 0) disk.plan().fail_at(n, FaultKind::NoSpace);
            const auto done = [&]() -> Result<bool> {
                BRAID_TRY(const auto work, backend->compaction("c"));
                return work->finish();
            }();
            operations = n == 0 && attempt == 0 ? disk.plan().operations() - before : operations;
            disk.plan().clear();
            EXPECT_TRUE(n > 0 || done);
            EXPECT_EQ(ids_in(*backend, "c"), (Ids{"a", "b", "c"}));
        }
        std::size_t logs = 0;
        const auto files =
            must(must(disk.root()->open_subdirectory("collections"))->open_subdirectory("c"));
        for (const auto& entry : must(files->list())) {
            const bool marks = entry.name.ends_with("-durable");
            logs += entry.name.starts_with("log-") && !marks ? 1U : 0U;
        }
        EXPECT_LE(logs, 2U);
        if (n == 0) {
            EXPECT_GT(operations, 0U);
        }
    }
}

TEST(FullDisk, AnAutomaticCompactionThatFailsIsNotTriedAgainAtOnce) {
    FaultyDisk disk;
    std::vector<std::string> told;
    local::LocalOptions options;
    options.engine = local::Engine::Exact;
    options.compaction = {.min_void_bytes = 2000, .background = false};
    options.log = [&](const LogEvent& event) { told.emplace_back(event.name); };
    auto opened = must(local::open_local_backend(disk.root(), options));
    auto& backend = dynamic_cast<local::LocalBackend&>(*opened.backend);
    must(backend.create_collection("c", words_schema()));
    const auto write = [&] {
        must(backend.upsert("c", "default", {make_chunk("a", std::string(500, 'x'))}, {}));
    };
    for (int i = 0; i < 8; ++i) write();
    disk.plan().fill_disk(true);
    backend.run_due_compactions();
    disk.plan().fill_disk(false);
    EXPECT_EQ(backend.health().failed_compactions, 1U);
    EXPECT_EQ(told, std::vector<std::string>{"compaction_failed"});
    write();
    backend.run_due_compactions();
    EXPECT_EQ(backend.health().compactions, 0U) << "the log has not grown much";
    for (int i = 0; i < 8; ++i) write();
    backend.run_due_compactions();
    EXPECT_EQ(backend.health().compactions, 1U);
    EXPECT_EQ(backend.health().failed_compactions, 1U);
}

/// Runs `work` in a process of its own, so that limits do not stay behind; it returns what failed,
/// or nothing.
void in_child(const std::function<std::string()>& work) {
    int channel[2];
    ASSERT_EQ(::pipe2(channel, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const std::string problem = work();
        (void)!::write(channel[1], problem.data(), problem.size());
        ::_exit(problem.empty() ? 0 : 1);
    }
    ::close(channel[1]);
    std::string problem;
    char part[256];
    for (ssize_t got = 0; (got = ::read(channel[0], part, sizeof part)) > 0;) {
        problem.append(part, static_cast<std::size_t>(got));
    }
    ::close(channel[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << problem;
}

/// Only so many descriptors more than are open now.
void allow_descriptors(rlim_t more) {
    const int next = ::dup(0);
    ::close(next);
    const rlimit limit{static_cast<rlim_t>(next) + more, static_cast<rlim_t>(next) + more};
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<std::unique_ptr<Backend>> open_folder(const std::string& path) {
    BRAID_TRY(auto directory, store::open_posix_directory(path, store::OpenMode::CreateIfMissing));
    BRAID_TRY(auto opened, local::open_local_backend(std::move(directory), {}));
    return std::move(opened.backend);
}

TEST(FileSizeLimit, IsLikeAFullDisk) {
    const TemporaryFolder folder;
    const std::string path = folder / "db";
    in_child([&]() -> std::string {
        std::signal(SIGXFSZ, SIG_IGN);
        const auto backend = open_folder(path);
        if (!backend) return backend.error().message;
        if (!(*backend)->create_collection("c", vectors_schema(2))) return "no collection";
        if (!put(**backend, "c", "a")) return "no chunk";
        const auto write_large = [&] {
            return (*backend)->upsert("c", "default",
                                      {make_chunk("large", std::string(50'000, 'x'), {1, 1})}, {});
        };
        rlimit limit{};
        (void)::getrlimit(RLIMIT_FSIZE, &limit);
        rlimit small = limit;
        small.rlim_cur = 16'384;
        if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return "no limit";
        const auto refused = write_large();
        if (refused || refused.error().code != ErrorCode::StorageFull) return "not full";
        if (refused.error().message.find("EFBIG") == std::string::npos) {
            return "no cause: " + refused.error().message;
        }
        if ((*backend)->health().refusing.size() != 1) return "said to be healthy";
        if (!put(**backend, "c", "b")) return "what fits is refused too";
        if (!(*backend)->health().refusing.empty()) return "not said to be healthy again";
        if (write_large()) return "no longer full";
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return "no limit";
        if (!(*backend)->health().refusing.empty()) return "still refusing";
        if (const auto written = write_large(); !written) return written.error().message;
        return "";
    });
    EXPECT_EQ(ids_in(*must(open_folder(path)), "c"), (Ids{"a", "b", "large"}));
}

TEST(TooManyOpenFiles, IsAnErrorThatLosesNothing) {
    const TemporaryFolder folder;
    const std::string path = folder / "db";
    {
        const auto backend = must(open_folder(path));
        for (const char* name : {"a", "b", "c"}) {
            must(backend->create_collection(name, vectors_schema(2)));
            must(put(*backend, name, "kept"));
        }
    }
    for (rlim_t descriptors = 0; descriptors < 14; ++descriptors) {
        SCOPED_TRACE(::testing::Message() << descriptors << " descriptors");
        in_child([&]() -> std::string {
            allow_descriptors(descriptors);
            const auto backend = open_folder(path);
            if (!backend) {
                return backend.error().code == ErrorCode::ResourceExhausted
                           ? ""
                           : "opening: " + backend.error().message;
            }
            const auto infos = (*backend)->collections({});
            if (!infos) return infos.error().message;
            // There may be more: those that were created, or failed to be at the very end.
            if (infos->size() < 3) return "a collection is not listed";
            for (const CollectionInfo& info : *infos) {
                const auto written = put(**backend, info.name, "more");
                if (info.damage.empty() != written.has_value()) return info.name + " is half open";
                if (!written && written.error().code != ErrorCode::ResourceExhausted) {
                    return written.error().message;
                }
            }
            const std::string fresh = "d" + std::to_string(descriptors);
            const auto created = (*backend)->create_collection(fresh, vectors_schema(2));
            if (!created && created.error().code != ErrorCode::ResourceExhausted) {
                return created.error().message;
            }
            if (created && !put(**backend, fresh, "first")) return fresh + " takes no chunk";
            return "";
        });
        const auto backend = must(open_folder(path));
        for (const char* name : {"a", "b", "c"}) {
            const Ids ids = ids_in(*backend, name);
            EXPECT_EQ(std::ranges::count(ids, "kept"), 1) << name;
        }
        expect_both_legs_agree(*backend);
    }
}

TEST(TooManyOpenFiles, AreNeverNeededForManyCollections) {
    const TemporaryFolder folder;
    const std::string path = folder / "db";
    in_child([&]() -> std::string {
        allow_descriptors(24);
        auto directory = store::open_posix_directory(path, store::OpenMode::CreateIfMissing);
        if (!directory) return directory.error().message;
        // Even where more are to be kept open than there are descriptors for.
        local::LocalOptions options;
        options.max_open = 100;
        auto opened = local::open_local_backend(*std::move(directory), options);
        if (!opened) return opened.error().message;
        Backend& backend = *opened->backend;
        for (int i = 0; i < 60; ++i) {
            const std::string name = "c" + std::to_string(i);
            const auto created = backend.create_collection(name, vectors_schema(2));
            if (!created) return name + " is not created: " + created.error().message;
            const auto written = put(backend, name, "a");
            if (!written) return name + " takes no chunk: " + written.error().message;
        }
        const auto infos = backend.collections({});
        if (!infos || infos->size() != 60) return "not all are listed";
        for (const CollectionInfo& info : *infos) {
            if (!info.damage.empty() || info.chunks != 1) return info.name + ": " + info.damage;
        }
        return "";
    });
}

}  // namespace
}  // namespace braid::testing
