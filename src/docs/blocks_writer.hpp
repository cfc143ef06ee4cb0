#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/docs/block_codec.hpp"
#include "braid/result.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/sections.hpp"

namespace braid::docs {

struct DocumentsOptions {
    std::size_t block_bytes = 4 * 1024;  // of chunks, before they are compressed
    int level = 3;                       // of zstd
    /// How many bytes of chunks are held back to learn a dictionary from. 0: no dictionary.
    std::size_t sample_bytes = 2 * 1024 * 1024;
    /// A dictionary learnt from similar chunks before; if given, none is learnt.
    Bytes dictionary = {};
};

/// Rows in compressed blocks, with their index and dictionary. Blocks go to the sink as they are
/// filled.
class BlocksWriter {
public:
    /// Sections are named `prefix` + "docs.…". From the first `add` to the end of `finish` nobody
    /// else may write to the sink.
    BlocksWriter(store::SectionSink& sink, std::string prefix, DocumentsOptions options);

    /// Adds the next row.
    Result<> add(std::span<const std::byte> row);
    Result<> finish();

private:
    struct BlockEntry {
        std::uint64_t offset;
        std::uint32_t stored_bytes;
        std::uint32_t raw_bytes;
        std::uint64_t first_row;
    };

    Result<> end_block();
    Result<> choose_dictionary();
    Result<> write_block(std::span<const std::byte> raw, std::uint64_t first_row);

    store::SectionSink& sink_;
    std::string prefix_;
    DocumentsOptions options_;
    std::uint64_t rows_ = 0;

    // Rows of the block being filled.
    store::ByteWriter begun_;
    std::uint64_t begun_row_ = 0;
    // Blocks held back until the dictionary is chosen.
    std::vector<std::pair<std::uint64_t, Bytes>> held_;
    std::size_t held_bytes_ = 0;
    bool chosen_ = false;
    Bytes dictionary_;
    std::optional<BlockEncoder> encoder_;
    std::vector<BlockEntry> blocks_;
};

}  // namespace braid::docs
