#include "braid/ingest/jsonl.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "braid/ingest/format.hpp"
#include "braid/ingest/line_reader.hpp"
#include "braid/ingest/npy.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/chunk_json.hpp"

namespace braid::ingest {
namespace {

constexpr std::string_view kFirstLine = "line 1, ";

/// The ids seen so far, by hash, with the line of each: an open-addressing table, since a file may
/// have many millions of lines. Two ids with the same 64-bit hash would be taken for one; among a
/// billion ids the chance of that is 1 in 40.
class SeenIds {
public:
    /// The line that added the key before, or 0 if it is new.
    std::uint64_t add(std::uint64_t key, std::uint64_t line) {
        if ((used_ + 1) * 4 > slots_.size() * 3) grow();
        Slot& slot = find(key);
        if (slot.line != 0) return slot.line;
        slot = {key, line};
        ++used_;
        return 0;
    }

private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint64_t line = 0;  // 0: free
    };

    Slot& find(std::uint64_t key) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = key & mask;
        while (slots_[at].line != 0 && slots_[at].key != key) at = (at + 1) & mask;
        return slots_[at];
    }

    void grow() {
        std::vector<Slot> old(std::max<std::size_t>(1024, slots_.size() * 2));
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.line != 0) find(slot.key) = slot;
        }
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

std::uint64_t key_of(std::string_view namespace_name, std::string_view chunk_id) {
    std::string key(namespace_name);
    key += '\0';
    key += chunk_id;
    return std::hash<std::string_view>{}(key);
}

/// A parser's "line 1, column 7: ..." without the line number, which the reader knows better.
std::string_view without_line(std::string_view message) {
    if (message.starts_with(kFirstLine)) message.remove_prefix(kFirstLine.size());
    return message;
}

Result<> compare_counts(const std::string& path, const NpyFile& vectors) {
    if (path == "-") return {};
    BRAID_TRY(const std::uint64_t lines, count_lines(path));
    if (lines == vectors.rows()) return {};
    return invalid_argument(vectors.name() + " has " + std::to_string(vectors.rows()) +
                            " rows, but " + path + " has " + std::to_string(lines) +
                            " lines: row i belongs to line i");
}

}  // namespace

bool Batch::has_vectors() const {
    return std::ranges::any_of(parts, [](const Part& part) {
        return std::ranges::any_of(part.chunks,
                                   [](const Chunk& chunk) { return !chunk.vector.empty(); });
    });
}

struct JsonlReader::State {
    JsonlOptions options;
    LineReader lines;
    std::optional<NpyFile> vectors;
    json::Parser parser;
    SeenIds seen;
    std::uint64_t chunks = 0;
    std::uint64_t rows = 0;  // lines that have a row of vectors
    bool done = false;
    bool ended = false;  // reached the line that options.end_key names
    bool may_be_empty = false;

    State(const JsonlOptions& chosen, LineReader opened)
        : options(chosen),
          lines(std::move(opened)),
          parser(json::ParseLimits{.max_bytes = chosen.max_line_bytes}) {
        if (!options.vocabulary) options.vocabulary = std::make_shared<const core::Vocabulary>();
    }

    Result<wire::ChunkInput> read_line(std::string_view line);
    /// Whether this is the line that ends the file.
    Result<bool> ends(std::string_view line);
    Result<> add_line(std::string_view line, Batch& batch);
    Result<> check_end() const;
    /// About one line, after which others can still be read.
    bool may_pass_over(const Error& error) {
        const bool about_line = options.keep_going && error.code == ErrorCode::InvalidArgument;
        rows += about_line;
        return about_line;
    }
};

Result<wire::ChunkInput> JsonlReader::State::read_line(std::string_view line) {
    auto json = parser.parse(line);
    if (json && options.record) json = options.record(*std::move(json));
    if (!json) return lines.complain(without_line(json.error().message));
    auto input = wire::chunk_from_value(*json, *options.vocabulary);
    if (!input) return lines.complain(input.error().message);
    if (vectors) {
        if (!input->chunk.vector.empty()) {
            return lines.complain("has a vector of its own, and another in " + vectors->name());
        }
        BRAID_TRY(input->chunk.vector, vectors->row(rows - 1));
    }
    return *std::move(input);
}

Result<bool> JsonlReader::State::ends(std::string_view line) {
    if (options.end_key.empty()) return false;
    if (ended) return lines.complain("comes after the line that ends the file");
    if (!line.starts_with("{\"" + options.end_key + "\"")) return false;
    auto json = parser.parse(line);
    if (!json) return lines.complain(without_line(json.error().message));
    const Value* const count = json->find(options.end_key);
    if (count == nullptr || *count != Value(chunks)) {
        return lines.complain("its count of chunks differs from the " + std::to_string(chunks) +
                              " before it");
    }
    ended = true;
    return true;
}

Result<> JsonlReader::State::add_line(std::string_view line, Batch& batch) {
    ++rows;
    BRAID_TRY(auto input, read_line(line));
    const std::string& name = input.namespace_ ? *input.namespace_ : options.namespace_;
    const std::uint64_t before = seen.add(key_of(name, input.chunk.chunk_id), lines.number());
    if (before != 0) {
        return lines.complain("the id \"" + input.chunk.chunk_id + "\" is already in line " +
                              std::to_string(before));
    }
    for (const std::string& warning : input.warnings) {
        batch.warnings.push_back(lines.name() + ":" + std::to_string(lines.number()) + ": " +
                                 warning);
    }
    auto part = std::ranges::find(batch.parts, name, &Batch::Part::namespace_);
    if (part == batch.parts.end()) part = batch.parts.insert(part, {name, {}});
    part->chunks.push_back(std::move(input.chunk));
    ++batch.chunks;
    ++chunks;
    return {};
}

Result<> JsonlReader::State::check_end() const {
    if (!options.end_key.empty() && !ended) {
        return invalid_argument(lines.name() + " was cut short: it ends after " +
                                std::to_string(chunks) + " chunks, without the line \"" +
                                options.end_key + "\"");
    }
    if (rows == 0 && !may_be_empty && !options.may_be_empty)
        return invalid_argument(lines.name() + ": no lines");
    if (vectors && vectors->rows() != rows) {
        return invalid_argument(vectors->name() + " has " + std::to_string(vectors->rows()) +
                                " rows, but there were " + std::to_string(rows) + " lines");
    }
    return {};
}

Result<JsonlReader> JsonlReader::open(const std::string& path, const JsonlOptions& options) {
    BRAID_TRY(FileHandle file, FileHandle::open(path));
    auto state = std::make_unique<State>(
        options, LineReader(std::move(file), options.max_line_bytes, options.stop));
    if (!options.vectors.empty()) {
        BRAID_TRY(NpyFile vectors, NpyFile::open(options.vectors));
        BRAID_CHECK(compare_counts(path, vectors));
        state->vectors = std::move(vectors);
    }
    return JsonlReader(std::move(state));
}

JsonlReader JsonlReader::rest_of(LineReader lines, const JsonlOptions& options) {
    auto state = std::make_unique<State>(options, std::move(lines));
    state->may_be_empty = true;
    return JsonlReader(std::move(state));
}

JsonlReader::JsonlReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
JsonlReader::JsonlReader(JsonlReader&&) noexcept = default;
JsonlReader& JsonlReader::operator=(JsonlReader&&) noexcept = default;
JsonlReader::~JsonlReader() = default;

Result<std::optional<Batch>> JsonlReader::next() {
    State& state = *state_;
    if (state.done) return std::nullopt;
    Batch batch;
    const std::uint64_t start = state.lines.text_bytes_read();
    while (batch.chunks < state.options.batch_chunks) {
        auto read = state.lines.next();
        if (!read && state.may_pass_over(read.error())) {
            batch.failed.push_back(std::move(read).error().message);
            continue;
        }
        BRAID_TRY(const auto line, read);
        if (!line) {
            state.done = true;
            BRAID_CHECK(state.check_end());
            break;
        }
        BRAID_TRY(const bool is_end, state.ends(*line));
        if (is_end) continue;
        if (auto added = state.add_line(*line, batch); !added) {
            if (!state.options.keep_going) return tl::unexpected<Error>(std::move(added).error());
            batch.failed.push_back(std::move(added).error().message);
            if (batch.failed.size() >= state.options.batch_chunks) break;
        }
        if (state.lines.text_bytes_read() - start >= state.options.batch_bytes) break;
    }
    if (batch.chunks == 0 && batch.failed.empty()) return std::nullopt;
    return batch;
}

std::uint64_t JsonlReader::lines_read() const noexcept {
    return state_->lines.number();
}

std::uint64_t JsonlReader::bytes_read() const noexcept {
    return state_->lines.bytes_read();
}

std::optional<std::uint64_t> JsonlReader::file_bytes() const noexcept {
    return state_->lines.file_bytes();
}

std::optional<std::string> vectors_beside(const std::string& path) {
    if (path == "-") return std::nullopt;
    const auto beside = std::filesystem::path(unpacked_name(path)).replace_extension(".npy");
    std::error_code error;
    if (!std::filesystem::is_regular_file(beside, error)) return std::nullopt;
    return beside.string();
}

}  // namespace braid::ingest
