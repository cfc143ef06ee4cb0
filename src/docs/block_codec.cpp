#include "braid/docs/block_codec.hpp"

#include <string>

#include <zdict.h>
#include <zstd.h>

namespace braid::docs {
namespace {

// A zstd block holds at most 128 KiB and takes at least four bytes, so no frame holds more.
constexpr std::uint64_t kMaxRatio = 32 * 1024;

struct FreeEncoder {
    void operator()(ZSTD_CCtx* context) const noexcept { (void)ZSTD_freeCCtx(context); }
};
struct FreeEncoderDictionary {
    void operator()(ZSTD_CDict* dictionary) const noexcept { (void)ZSTD_freeCDict(dictionary); }
};
struct FreeDecoder {
    void operator()(ZSTD_DCtx* context) const noexcept { (void)ZSTD_freeDCtx(context); }
};
struct FreeDecoderDictionary {
    void operator()(ZSTD_DDict* dictionary) const noexcept { (void)ZSTD_freeDDict(dictionary); }
};

auto no_memory() {
    return fail(ErrorCode::ResourceExhausted, "no memory to compress or decompress documents");
}

}  // namespace

Bytes train_dictionary(const std::vector<Bytes>& samples, std::size_t max_bytes) {
    Bytes all;
    std::vector<std::size_t> sizes;
    sizes.reserve(samples.size());
    for (const Bytes& sample : samples) {
        all.insert(all.end(), sample.begin(), sample.end());
        sizes.push_back(sample.size());
    }
    Bytes dictionary(max_bytes);
    const std::size_t size =
        ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), all.data(), sizes.data(),
                              static_cast<unsigned>(sizes.size()));
    // It fails where samples have nothing in common; then there is nothing to gain.
    if (ZDICT_isError(size) != 0) return {};
    dictionary.resize(size);
    return dictionary;
}

struct BlockEncoder::State {
    std::unique_ptr<ZSTD_CCtx, FreeEncoder> context;
    std::unique_ptr<ZSTD_CDict, FreeEncoderDictionary> dictionary;
    int level = 0;
};

BlockEncoder::BlockEncoder(int level, std::span<const std::byte> dictionary)
    : state_(std::make_unique<State>()) {
    state_->level = level;
    state_->context.reset(ZSTD_createCCtx());
    if (dictionary.empty()) return;
    state_->dictionary.reset(ZSTD_createCDict(dictionary.data(), dictionary.size(), level));
    if (state_->dictionary == nullptr) state_->context = nullptr;
}
BlockEncoder::~BlockEncoder() = default;

Result<Bytes> BlockEncoder::encode(std::span<const std::byte> raw) {
    if (state_->context == nullptr) return no_memory();
    Bytes block(ZSTD_compressBound(raw.size()));
    const std::size_t size =
        state_->dictionary != nullptr
            ? ZSTD_compress_usingCDict(state_->context.get(), block.data(), block.size(),
                                       raw.data(), raw.size(), state_->dictionary.get())
            : ZSTD_compressCCtx(state_->context.get(), block.data(), block.size(), raw.data(),
                                raw.size(), state_->level);
    if (ZSTD_isError(size) != 0) {
        return fail(ErrorCode::ResourceExhausted,
                    std::string("cannot compress documents: ") + ZSTD_getErrorName(size));
    }
    block.resize(size);
    return block;
}

struct BlockDecoder::State {
    std::unique_ptr<ZSTD_DDict, FreeDecoderDictionary> dictionary;
};

BlockDecoder::BlockDecoder() : state_(std::make_unique<State>()) {}
BlockDecoder::~BlockDecoder() = default;

Result<std::shared_ptr<const BlockDecoder>> BlockDecoder::create(
    std::span<const std::byte> dictionary) {
    std::shared_ptr<BlockDecoder> decoder(new BlockDecoder);  // NOLINT: private
    if (!dictionary.empty()) {
        decoder->state_->dictionary.reset(ZSTD_createDDict(dictionary.data(), dictionary.size()));
        if (decoder->state_->dictionary == nullptr) {
            return fail(ErrorCode::Corruption, "the dictionary of stored documents is damaged");
        }
    }
    return decoder;
}

Result<Bytes> BlockDecoder::decode(std::span<const std::byte> block, std::uint64_t raw_size,
                                   std::string_view source) const {
    // One per thread: it is large, and holds nothing between calls.
    thread_local const std::unique_ptr<ZSTD_DCtx, FreeDecoder> context(ZSTD_createDCtx());
    if (context == nullptr) return no_memory();
    const auto corrupt = [&](const std::string& problem) {
        return fail(ErrorCode::Corruption, std::string(source) + " is damaged: " + problem);
    };
    if (raw_size / kMaxRatio > block.size() ||
        ZSTD_getFrameContentSize(block.data(), block.size()) != raw_size) {
        return corrupt("a block does not say that it holds " + std::to_string(raw_size) + " bytes");
    }
    Bytes raw(static_cast<std::size_t>(raw_size));
    const std::size_t size =
        state_->dictionary != nullptr
            ? ZSTD_decompress_usingDDict(context.get(), raw.data(), raw.size(), block.data(),
                                         block.size(), state_->dictionary.get())
            : ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), block.data(),
                                  block.size());
    if (ZSTD_isError(size) != 0) return corrupt(ZSTD_getErrorName(size));
    if (size != raw_size) return corrupt("a block holds less than it says");
    return raw;
}

}  // namespace braid::docs
