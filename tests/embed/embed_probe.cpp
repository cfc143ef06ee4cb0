// Lets the Python references ask braid's tokenizer and models.
//
//   embed_probe tokens TOKENIZER_JSON        ids of each text, without a limit
//   embed_probe vectors MODELS NAME ROLE     vector of each text; ROLE is query or passage
//   embed_probe time MODELS NAME WORKERS SECONDS
//                                            embeds the texts over and over; prints a line of text
//
// Texts come on standard input, answers go to standard output; a record is a 4-byte little-endian
// count followed by that many bytes, 4-byte ids or 4-byte floats.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "braid/embed/model_file.hpp"
#include "braid/embed/onnx_embedder.hpp"
#include "braid/embed/wordpiece.hpp"

namespace {

using braid::TextRole;

std::vector<std::string> read_records() {
    std::vector<std::string> records;
    std::uint32_t size = 0;
    while (std::cin.read(reinterpret_cast<char*>(&size), sizeof size)) {
        std::string record(size, '\0');
        if (!std::cin.read(record.data(), size)) break;
        records.push_back(std::move(record));
    }
    return records;
}

template <class T>
void write_record(const std::vector<T>& values) {
    const auto size = static_cast<std::uint32_t>(values.size());
    std::cout.write(reinterpret_cast<const char*>(&size), sizeof size);
    std::cout.write(reinterpret_cast<const char*>(values.data()),
                    static_cast<std::streamsize>(values.size() * sizeof(T)));
}

int failed(const braid::Error& error) {
    std::cerr << error.message << "\n";
    return 1;
}

int print_tokens(const std::string& tokenizer_path) {
    const auto file = braid::embed::read_model_file(tokenizer_path, "");
    if (!file) return failed(file.error());
    const auto tokenizer = braid::embed::WordPiece::parse(file->text());
    if (!tokenizer) return failed(tokenizer.error());
    for (const std::string& text : read_records()) {
        const auto tokens = tokenizer->encode(text, std::numeric_limits<std::size_t>::max());
        if (!tokens) return failed(tokens.error());
        write_record(std::vector<std::int32_t>(tokens->ids.begin(), tokens->ids.end()));
    }
    return 0;
}

int print_vectors(const std::string& models, const std::string& name, TextRole role) {
    const auto embedder = braid::embed::make_builtin_embedder(
        name, braid::embed::ModelLocator({std::filesystem::path(models)}));
    if (!embedder) return failed(embedder.error());
    const auto records = read_records();
    const std::vector<std::string_view> texts(records.begin(), records.end());
    const auto embeddings = (*embedder)->embed(texts, role, {});
    if (!embeddings) return failed(embeddings.error());
    for (const braid::Embedding& embedding : *embeddings) write_record(embedding.vector);
    return 0;
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Seconds all threads have run or have been ready to run: unlike CPU time, not less on a busy
/// machine.
double ready_seconds() {
    double total = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        double ran = 0;
        double waited = 0;
        std::ifstream(task.path() / "schedstat") >> ran >> waited;
        total += (ran + waited) * 1e-9;
    }
    return total;
}

int measure(const std::string& models, const std::string& name, std::size_t workers,
            double at_least) {
    using Clock = std::chrono::steady_clock;
    const auto seconds_since = [](Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    auto start = Clock::now();
    const auto embedder = braid::embed::make_builtin_embedder(
        name, braid::embed::ModelLocator({std::filesystem::path(models)}), {.workers = workers});
    if (!embedder) return failed(embedder.error());
    const double load = seconds_since(start);
    const auto records = read_records();
    const std::vector<std::string_view> texts(records.begin(), records.end());
    std::size_t count = 0;
    const double cpu_before = cpu_seconds();
    const double ready_before = ready_seconds();
    start = Clock::now();
    do {
        const auto embeddings = (*embedder)->embed(texts, TextRole::Passage, {});
        if (!embeddings) return failed(embeddings.error());
        count += embeddings->size();
    } while (seconds_since(start) < at_least);
    const double wall = seconds_since(start);
    const double cpu = cpu_seconds() - cpu_before;
    const double ready = ready_seconds() - ready_before;
    std::cout << name << ": load " << load << " s, " << count << " texts in " << wall << " s, "
              << static_cast<double>(count) / wall << " per second, "
              << static_cast<double>(count) / cpu << " per CPU second, " << cpu / wall
              << " cores busy, " << ready / wall << " threads running or ready\n";
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    if (words.size() == 2 && words[0] == "tokens") return print_tokens(words[1]);
    if (words.size() == 4 && words[0] == "vectors") {
        return print_vectors(words[1], words[2],
                             words[3] == "query" ? TextRole::Query : TextRole::Passage);
    }
    if (words.size() == 5 && words[0] == "time") {
        return measure(words[1], words[2], std::stoul(words[3]), std::stod(words[4]));
    }
    std::cerr << "see the head of embed_probe.cpp for its use\n";
    return 2;
}
