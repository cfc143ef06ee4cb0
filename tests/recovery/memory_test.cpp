// A database three times the memory that its process may have: it is filled, and answers.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/helpers.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/store/posix_directory.hpp"
#include "core/temporary_folder.hpp"

namespace braid::testing {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kAllowed = 96 * kMiB;  // heap, stacks, all that is not a mapped file
constexpr std::size_t kDimension = 384;
constexpr std::uint64_t kLeastBytes = 1850;  // of a chunk on disk
constexpr int kBatch = 100;

std::uint64_t bytes_below(const std::string& path) {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        if (entry.is_regular_file()) bytes += entry.file_size();
    }
    return bytes;
}

std::vector<Chunk> batch(int first) {
    std::mt19937 rng(static_cast<unsigned>(first));
    std::vector<Chunk> chunks;
    for (int i = first; i < first + kBatch; ++i) {
        std::vector<float> vector(kDimension);
        for (float& x : vector) x = static_cast<float>(rng() % 2001) / 1000.0F - 1.0F;
        std::string text = "all of row" + std::to_string(i);
        for (int word = 0; word < 40; ++word) text += " w" + std::to_string(rng() % 20'000);
        chunks.push_back(make_chunk("c" + std::to_string(i), std::move(text), std::move(vector)));
    }
    return chunks;
}

Result<std::unique_ptr<Backend>> open_at(const std::string& path) {
    local::LocalOptions options;
    options.write_memory_bytes = kAllowed / 3;
    BRAID_TRY(auto directory, store::open_posix_directory(path, store::OpenMode::CreateIfMissing));
    BRAID_TRY(auto opened, local::open_local_backend(std::move(directory), options));
    return std::move(opened.backend);
}

Result<int> fill(const std::string& path) {
    BRAID_TRY(const auto backend, open_at(path));
    BRAID_CHECK(backend->create_collection("c", vectors_schema(kDimension)));
    int count = 0;
    // Not by what is there: files come and go with merges.
    while (static_cast<std::uint64_t>(count) * kLeastBytes < 3 * kAllowed) {
        BRAID_CHECK(backend->upsert("c", "default", batch(count), {}));
        count += kBatch;
    }
    return count;
}

Result<> ask(const std::string& path, int count) {
    BRAID_TRY(const auto backend, open_at(path));
    const std::vector<std::string> names{"c"};
    for (int i = 0; i < count; i += count / 20) {
        BRAID_TRY(const ReaderPtr snapshot, backend->snapshot(names, {}));
        BRAID_TRY(const std::uint64_t all, snapshot->count(scope_of("c")));
        if (all != static_cast<std::uint64_t>(count)) return invalid_argument("chunks are missing");
        const std::string id = "c" + std::to_string(i);
        Leg words = words_leg(scope_of("c"), {"row" + std::to_string(i)});
        BRAID_TRY(const LegResult by_words, snapshot->search_leg(words));
        if (ids_of(by_words) != Ids{id}) return invalid_argument(id + " is not found by words");
        Leg leg =
            vector_leg(scope_of("c"),
                       batch(i / kBatch * kBatch).at(static_cast<std::size_t>(i % kBatch)).vector);
        leg.depth = 1;
        BRAID_TRY(const LegResult by_vector, snapshot->search_leg(leg));
        if (ids_of(by_vector) != Ids{id}) return invalid_argument(id + " is not found by vector");
    }
    return {};
}

std::string status_line(const std::string& key) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key)) return line;
    }
    return {};
}

TEST(MemoryLimit, ADatabaseThreeTimesAsLargeIsFilledAndAnswers) {
    const TemporaryFolder folder;
    const std::string path = folder / "data";
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        pthread_attr_t stacks;
        ::pthread_attr_init(&stacks);
        ::pthread_attr_setstacksize(&stacks, kMiB);
        ::pthread_setattr_default_np(&stacks);
        const rlimit limit{kAllowed, kAllowed};
        if (::setrlimit(RLIMIT_DATA, &limit) != 0) ::_exit(2);
        const auto count = fill(path);
        if (!count) {
            std::cerr << "filling: " << count.error().message << std::endl;
            ::_exit(1);
        }
        std::cerr << *count << " chunks, " << bytes_below(path) / kMiB << " MiB; "
                  << status_line("VmHWM") << ", " << status_line("RssAnon") << std::endl;
        const auto asked = ask(path, *count);
        if (!asked) std::cerr << "asking: " << asked.error().message << std::endl;
        ::_exit(asked ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_GE(bytes_below(path), 3 * kAllowed);
}

}  // namespace
}  // namespace braid::testing
