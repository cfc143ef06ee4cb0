// The bars of storing files: model start, chunks a second with given vectors, the share of the
// model's own throughput, memory over the number of files.
//
//   ingest_bench [--quick] [start] [given] [model] [memory]     all four unless some are named
//     --files N            memory: of so many files alone; given: so many files
//     --write-memory-mb N  OpenOptions::write_memory_mb, for given and memory (64, as `braid
//     ingest`)
//     --usual-allocator    without core::keep_memory_low(), which `braid ingest` calls
//
// Files are generated from a fixed seed. Every ratio is of two figures of the same run.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "braid/core/resident_memory.hpp"
#include "braid/database.hpp"
#include "braid/embed/model_locator.hpp"
#include "braid/embed/onnx_embedder.hpp"
#include "braid/ingest/directory.hpp"

namespace braid::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kDimension = 384;
constexpr std::string_view kModel = "bge-small-en-v1.5";

[[noreturn]] void die(const std::string& message) {
    std::cerr << "ingest_bench: " << message << "\n";
    std::_Exit(1);
}

template <class T>
T must(Result<T> result) {
    if (!result) die(result.error().message);
    return *std::move(result);
}

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// CPU seconds of all threads: what a busy machine changes little.
double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void print(const char* format, auto... values) {
    std::printf(format, values...);
    std::fflush(stdout);
}

/// A folder of its own, removed at the end.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "braid-ingest-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) die("no temporary folder");
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// Markdown files of a title, three headings and `words` words, 200 in a folder.
void write_files(const fs::path& root, std::size_t count, std::size_t words) {
    std::mt19937 random(7);
    const auto word = [&] {
        std::string out;
        for (std::size_t left = 3 + random() % 6; left > 0; --left) {
            out += static_cast<char>('a' + random() % 26);
        }
        return out;
    };
    std::vector<std::string> vocabulary(5000);
    for (std::string& entry : vocabulary) entry = word();
    for (std::size_t i = 0; i < count; ++i) {
        const fs::path folder = root / ("d" + std::to_string(i / 200));
        if (i % 200 == 0) fs::create_directories(folder);
        std::string text = "# File " + std::to_string(i) + "\n\n";
        for (std::size_t w = 0; w < words; ++w) {
            if (w % std::max<std::size_t>(words / 3, 1) == 0) text += "\n\n## " + word() + "\n\n";
            text += vocabulary[random() % vocabulary.size()];
            text += w % 12 == 11 ? ". " : " ";
        }
        std::ofstream(folder / ("f" + std::to_string(i) + ".md"), std::ios::binary) << text;
    }
}

/// Vectors that cost next to nothing, as if they had been brought.
class GivenVectors final : public Embedder {
public:
    const EmbedderFingerprint& fingerprint() const override { return fingerprint_; }
    Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts, TextRole /*role*/,
                                         const CallLimits& /*limits*/) const override {
        std::vector<Embedding> out(texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i) {
            std::minstd_rand random(
                static_cast<unsigned>(std::hash<std::string_view>{}(texts[i]) | 1U));
            out[i].vector.resize(kDimension);
            for (float& x : out[i].vector) x = static_cast<float>(random() % 2001) / 1000.0F - 1;
        }
        return out;
    }
    std::size_t count_tokens(std::string_view text) const override {
        return ingest::estimate_tokens(text);
    }

private:
    EmbedderFingerprint fingerprint_{.model = "given",
                                     .model_hash = "given",
                                     .dimension = kDimension,
                                     .pooling = "none",
                                     .query_prefix = {},
                                     .passage_prefix = {},
                                     .token_limit = 256,
                                     .runtime = "none",
                                     .cpu_level = "any"};
};

struct Settings {
    std::uint64_t write_memory_mb = 64;
    std::size_t files = 0;  // 0: as usual
};
Settings settings;  // NOLINT: of the whole run

struct Stored {
    ingest::DirectoryReport report;
    double seconds = 0;
    double cpu = 0;
};

/// Stores a folder in a new durable database.
Stored store(const fs::path& data, const fs::path& files, const std::string& embedder) {
    OpenOptions options;
    options.write_memory_mb = settings.write_memory_mb;
    if (embedder == "given") {
        options.embedders = [](const VectorSpec&) -> Result<std::shared_ptr<const Embedder>> {
            return std::make_shared<const GivenVectors>();
        };
    }
    Database database = must(Database::open(data.string(), options));
    Schema schema;
    schema.vectors.embedder = embedder;
    if (auto made = database.create_collection("default", schema); !made) {
        die(made.error().message);
    }
    (void)must(database.token_counter("default"));  // loads the model, which is measured elsewhere
    Stored stored;
    const auto start = Clock::now();
    const double cpu = cpu_seconds();
    ingest::DirectoryOptions as_the_program;
    as_the_program.list_all = false;
    stored.report = must(ingest::ingest_directory(database, {files}, as_the_program));
    stored.seconds = seconds_since(start);
    stored.cpu = cpu_seconds() - cpu;
    return stored;
}

void measure_start() {
    const Folder cache;
    const auto places = embed::ModelLocator::standard().places();
    const embed::ModelLocator plain(places);
    const embed::ModelLocator cached(places, cache.path());
    struct Least {
        double wall = std::numeric_limits<double>::max();
        double cpu = std::numeric_limits<double>::max();
    };
    const auto load = [](const embed::ModelLocator& locator, Least& least) {
        const auto start = Clock::now();
        const double cpu = cpu_seconds();
        (void)must(embed::make_builtin_embedder(kModel, locator));
        least.wall = std::min(least.wall, 1000 * seconds_since(start));
        least.cpu = std::min(least.cpu, 1000 * (cpu_seconds() - cpu));
    };
    Least first;
    Least without;
    Least with;
    load(cached, first);
    for (int round = 0; round < 7; ++round) {
        load(plain, without);
        load(cached, with);
    }
    print("model start: %.0f ms (bar 120), %.0f of CPU; without the cache %.0f, %.0f of CPU\n",
          with.wall, with.cpu, without.wall, without.cpu);
    print("  ratio %.2f, of CPU %.2f; %.0f ms when it is made\n", without.wall / with.wall,
          without.cpu / with.cpu, first.wall);
}

void measure_given(std::size_t files) {
    const Folder folder;
    write_files(folder.path() / "in", files, 300);
    double best = 0;
    Stored stored;
    for (int round = 0; round < 3; ++round) {
        stored =
            store(folder.path() / ("data" + std::to_string(round)), folder.path() / "in", "given");
        best = std::max(best, static_cast<double>(stored.report.chunks) / stored.seconds);
    }
    print(
        "given vectors: %zu files, %llu chunks: %.0f chunks/s (bar 5000), %.0f a CPU second; "
        "reading %.2f s, parsing "
        "%.2f s, storing %.2f s of %.2f s\n",
        files, static_cast<unsigned long long>(stored.report.chunks), best,
        static_cast<double>(stored.report.chunks) / stored.cpu, stored.report.times.reading,
        stored.report.times.parsing, stored.report.times.storing, stored.seconds);
}

void measure_model(std::size_t files) {
    const Folder folder;
    write_files(folder.path() / "in", files, 300);
    const auto embedder =
        must(embed::make_builtin_embedder(kModel, embed::ModelLocator::standard()));
    double ratio = 0;
    for (int round = 0; round < 3; ++round) {
        const fs::path data = folder.path() / ("data" + std::to_string(round));
        const Stored stored = store(data, folder.path() / "in", std::string(kModel));
        Database database = must(Database::open(data.string(), {.read_only = true}));
        std::vector<std::string> texts;
        for (std::string after;;) {
            const auto page = must(database.scan({}, after, 500));
            for (const Chunk& chunk : page) {
                texts.push_back(chunk.title.value_or("") + "\n" + chunk.section_title.value_or("") +
                                "\n" + chunk.content);
            }
            if (page.size() < 500) break;
            after = page.back().chunk_id;
        }
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        const auto start = Clock::now();
        const double cpu = cpu_seconds();
        (void)must(embedder->embed(views, TextRole::Passage, {}));
        const double alone = seconds_since(start);
        print("  CPU: stored %.2f s, embedded alone %.2f s, ratio %.3f\n", stored.cpu,
              cpu_seconds() - cpu, (cpu_seconds() - cpu) / stored.cpu);
        ratio = std::max(ratio, alone / stored.seconds);
        print(
            "  %llu chunks, %llu tokens: stored in %.2f s (%.1f chunks/s), embedded alone in %.2f "
            "s, ratio %.3f\n",
            static_cast<unsigned long long>(stored.report.chunks),
            static_cast<unsigned long long>(stored.report.tokens), stored.seconds,
            static_cast<double>(stored.report.chunks) / stored.seconds, alone,
            alone / stored.seconds);
    }
    print("embedding: %.1f %% of the model's own throughput, the best of three (bar 90 %%)\n",
          100 * ratio);
}

struct Peak {
    double all = 0;    // MiB, with the pages of mapped files, which the system takes back at will
    double owned = 0;  // without them
};

/// Of a process's memory, in MiB, what no file holds.
double owned_memory(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("RssAnon:")) return std::strtod(line.c_str() + 8, nullptr) / 1024;
    }
    return 0;
}

/// In a process of its own, so that its peak is its own.
Peak peak_of(std::size_t files) {
    const Folder folder;
    write_files(folder.path() / "in", files, 60);
    const pid_t child = ::fork();
    if (child == 0) {
        (void)store(folder.path() / "data", folder.path() / "in", "given");
        std::_Exit(0);
    }
    if (child < 0) die("no process");
    Peak peak;
    int status = 0;
    rusage usage{};
    pid_t ended = 0;
    while ((ended = ::wait4(child, &status, WNOHANG, &usage)) == 0) {
        peak.owned = std::max(peak.owned, owned_memory(child));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (ended != child || status != 0) die("a run failed");
    peak.all = static_cast<double>(usage.ru_maxrss) / 1024;
    return peak;
}

void measure_memory(bool quick) {
    Peak first;
    std::vector<std::size_t> sizes = {1000, 10'000, 100'000};
    if (settings.files > 0) sizes = {settings.files};
    for (const std::size_t files : sizes) {
        if (quick && files > 10'000) break;
        const Peak peak = peak_of(files);
        if (first.all == 0) first = peak;
        print(
            "memory: %zu files, peak %.0f MiB, %.2f of that of 1,000; with mapped files %.0f MiB, "
            "%.2f\n",
            files, peak.owned, peak.owned / first.owned, peak.all, peak.all / first.all);
    }
}

/// Takes "--NAME N" out of the words.
std::uint64_t number_of(std::vector<std::string>& words, const std::string& name,
                        std::uint64_t otherwise) {
    const auto found = std::ranges::find(words, name);
    if (found == words.end()) return otherwise;
    if (found + 1 == words.end()) die(name + " needs a number");
    const std::uint64_t number = std::strtoull((found + 1)->c_str(), nullptr, 10);
    words.erase(found, found + 2);
    return number;
}

int run(std::vector<std::string> words) {
    settings.write_memory_mb = number_of(words, "--write-memory-mb", settings.write_memory_mb);
    settings.files = number_of(words, "--files", 0);
    if (std::erase(words, "--usual-allocator") == 0) core::keep_memory_low();

    const bool quick = std::ranges::find(words, "--quick") != words.end();
    const auto wanted = [&](const std::string& part) {
        return std::ranges::all_of(words, [](const auto& word) { return word == "--quick"; }) ||
               std::ranges::find(words, part) != words.end();
    };
    if (wanted("memory")) measure_memory(quick);  // first: children begin as large as this process
    if (wanted("start")) measure_start();
    if (wanted("given")) measure_given(settings.files > 0 ? settings.files : quick ? 1000 : 10'000);
    if (wanted("model")) measure_model(quick ? 40 : 300);
    return 0;
}

}  // namespace
}  // namespace braid::bench

int main(int count, char** arguments) {
    return braid::bench::run({arguments + 1, arguments + count});
}
