// What merging costs the disk: bytes written for each that stays, and room beside them.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/local/backend.hpp"
#include "braid/store/posix_directory.hpp"
#include "core/temporary_folder.hpp"

namespace braid::testing {
namespace {

/// By all writes of this process so far.
std::uint64_t bytes_written() {
    std::ifstream file("/proc/self/io");
    for (std::string key, value; file >> key >> value;) {
        if (key == "wchar:") return std::stoull(value);
    }
    return 0;
}

std::uint64_t bytes_of_segments(const std::string& path) {
    std::uint64_t bytes = 0;
    std::error_code error;  // files come and go meanwhile
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with("segment-") && !name.starts_with(".tmp-")) continue;
        const std::uint64_t size = entry.file_size(error);
        if (!error) bytes += size;
    }
    return bytes;
}

TEST(MergeCost, IsAFewWritesOfEachRowAndRoomForAllOnceMore) {
    constexpr std::uint64_t flush_rows = 50;
    constexpr int batches = 600;  // of which eight make one, and of those again eight
    constexpr int batch = 50;
    const TemporaryFolder folder;
    local::LocalOptions options;
    options.flush_rows = flush_rows;
    options.compaction.background = false;
    auto opened = must(local::open_local_backend(
        must(store::open_posix_directory(folder / "db", store::OpenMode::CreateIfMissing)),
        options));
    auto& backend = dynamic_cast<local::LocalBackend&>(*opened.backend);
    must(backend.create_collection("c", vectors_schema(2)));
    const std::string files = folder / "db/collections/c";
    const std::uint64_t before = bytes_written();
    std::atomic<bool> done = false;
    std::uint64_t most = 0;
    {
        std::jthread looking([&] {
            for (; !done; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
                most = std::max(most, bytes_of_segments(files));
            }
        });
        std::mt19937 rng(1);
        for (int i = 0; i < batches; ++i) {
            std::vector<Chunk> chunks;
            for (int j = 0; j < batch; ++j) {
                std::string text;
                for (int word = 0; word < 20; ++word) text += " w" + std::to_string(rng() % 5000);
                chunks.push_back(make_chunk("c" + std::to_string(rng()), std::move(text),
                                            {static_cast<float>(rng() % 1000), 1}));
            }
            must(backend.upsert("c", "default", std::move(chunks), {}));
            backend.run_due_compactions();
        }
        done = true;
    }
    const std::uint64_t stays = bytes_of_segments(files);
    const double writes =
        static_cast<double>(bytes_written() - before) / static_cast<double>(stays);
    const double room = static_cast<double>(most) / static_cast<double>(stays);
    std::cout << writes << " bytes written for each that stays, " << room
              << " times their room at most\n";
    // The log, the flush, and each of two sizes; small files are larger than their share.
    EXPECT_LE(writes, 7.0);
    EXPECT_LE(room, 2.2);
}

}  // namespace
}  // namespace braid::testing
