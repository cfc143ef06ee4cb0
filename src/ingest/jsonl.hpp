#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/core/vocabulary.hpp"
#include "braid/ingest/line_reader.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::ingest {

struct JsonlOptions {
    core::VocabularyPtr
        vocabulary{};  // of the applications whose chunks are read; empty: braid's own
    std::size_t batch_chunks = 500;
    std::size_t batch_bytes = std::size_t{32} << 20;  // of lines; whichever limit comes first
    std::size_t max_line_bytes = std::size_t{64} << 20;
    std::string namespace_{kDefaultNamespace};  // of lines that name none
    std::string vectors{};                      // a .npy file, row i for line i; empty: none
    std::stop_token stop{};                     // ends a wait for input
    /// The last line is an object with this one member, the number of chunks before it; a file
    /// without it was cut short. Empty: there is no such line.
    std::string end_key{};
    /// Converts a line in another form to a chunk, as wire::chunk_from_value reads it. None: lines
    /// are chunks.
    std::function<Result<Value>(Value line)> record{};
    /// A line that is not a chunk is skipped and named in Batch::failed.
    bool keep_going = false;
    bool may_be_empty = false;  // a file without lines is not an error
};

/// Some lines of a file, to be written together.
struct Batch {
    struct Part {
        std::string namespace_;
        std::vector<Chunk> chunks;
    };

    std::vector<Part> parts;  // one per namespace, in the order they first appear
    std::size_t chunks = 0;   // over all parts
    std::vector<std::string> warnings;
    std::vector<std::string> failed;  // lines that are not chunks, "FILE:LINE: what is wrong"

    bool has_vectors() const;  // any of its chunks
};

/// Supplies chunks batch by batch.
class RecordReader {
public:
    RecordReader() = default;
    RecordReader(const RecordReader&) = default;
    RecordReader& operator=(const RecordReader&) = default;
    RecordReader(RecordReader&&) = default;
    RecordReader& operator=(RecordReader&&) = default;
    virtual ~RecordReader() = default;

    /// Nullopt at the end.
    virtual Result<std::optional<Batch>> next() = 0;
    virtual std::uint64_t bytes_read() const noexcept = 0;
};

/// Reads chunks from JSON lines, one per line (wire::chunk_from_value), optionally packed by gzip
/// or zstd, in memory bounded by one batch, apart from some 40 bytes per line to notice repeated
/// ids.
class JsonlReader final : public RecordReader {
public:
    /// "-" is standard input. Opens the vectors too, and compares their number with the lines.
    static Result<JsonlReader> open(const std::string& path, const JsonlOptions& options = {});
    /// The lines that follow what was already read; there may be none. `options.vectors` must be
    /// empty; line length and stopping are the reader's own.
    static JsonlReader rest_of(LineReader lines, const JsonlOptions& options);

    JsonlReader(JsonlReader&&) noexcept;
    JsonlReader& operator=(JsonlReader&&) noexcept;
    JsonlReader(const JsonlReader&) = delete;
    JsonlReader& operator=(const JsonlReader&) = delete;
    ~JsonlReader() override;

    /// Nullopt at the end. InvalidArgument "FILE:LINE: what is wrong", including an id that an
    /// earlier line of the file has in the same namespace, a vector where the .npy file supplies
    /// one, and a file without lines; with `keep_going` only the last. The failing batch is not
    /// returned, and the reader must not be used afterwards.
    Result<std::optional<Batch>> next() override;

    std::uint64_t lines_read() const noexcept;
    std::uint64_t bytes_read() const noexcept override;
    /// None for a pipe.
    std::optional<std::uint64_t> file_bytes() const noexcept;

private:
    struct State;
    explicit JsonlReader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// "corpus.npy" for "corpus.jsonl" if such a file lies beside it.
std::optional<std::string> vectors_beside(const std::string& path);

}  // namespace braid::ingest
