#include "braid/ingest/compression.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <zlib.h>
#include <zstd.h>

namespace braid::ingest {
namespace {

constexpr std::size_t kStep = std::size_t{64} << 10;

struct Unpacked {
    std::string text;
    bool complete = false;  // the stream ended as it should
    bool too_long = false;
};

/// `window`: zlib's; negative for raw deflate.
Unpacked unpack_deflate(std::string_view bytes, int window, std::size_t max_bytes) {
    Unpacked out;
    z_stream stream{};
    if (inflateInit2(&stream, window) != Z_OK) return out;
    std::array<char, kStep> buffer{};
    // zlib does not write to its input.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast,cppcoreguidelines-pro-type-reinterpret-cast)
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    std::size_t left = bytes.size();
    while (true) {
        if (stream.avail_in == 0) {
            stream.avail_in = static_cast<uInt>(std::min(left, std::size_t{1} << 30));
            left -= stream.avail_in;
        }
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
        stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream.avail_out = static_cast<uInt>(buffer.size());
        const int status = inflate(&stream, Z_NO_FLUSH);
        out.text.append(buffer.data(), buffer.size() - stream.avail_out);
        if (out.text.size() > max_bytes) {
            out.too_long = true;
            break;
        }
        if (status == Z_STREAM_END) {
            out.complete = true;
            // gzip files may be several, one after the other.
            if (window < 0 || stream.avail_in + left == 0 || inflateReset(&stream) != Z_OK) break;
            continue;
        }
        if (status != Z_OK || (stream.avail_in + left == 0 && stream.avail_out > 0)) {
            out.complete = false;
            break;
        }
    }
    inflateEnd(&stream);
    return out;
}

Unpacked unpack_zstd(std::string_view bytes, std::size_t max_bytes) {
    Unpacked out;
    const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                          &ZSTD_freeDCtx);
    if (context == nullptr) return out;
    ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, 27);
    std::array<char, kStep> buffer{};
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    std::size_t status = 1;
    while (true) {
        ZSTD_outBuffer to{buffer.data(), buffer.size(), 0};
        const std::size_t before = in.pos;
        status = ZSTD_decompressStream(context.get(), &to, &in);
        out.text.append(buffer.data(), to.pos);
        if (ZSTD_isError(status) != 0) break;
        if (out.text.size() > max_bytes) {
            out.too_long = true;
            break;
        }
        if (in.pos == in.size && to.pos < to.size) break;
        if (in.pos == before && to.pos == 0) break;
    }
    out.complete = status == 0;
    return out;
}

Unpacked unpack(std::string_view bytes, std::size_t max_bytes) {
    return compression_of(bytes) == Compression::Zstd
               ? unpack_zstd(bytes, max_bytes)
               : unpack_deflate(bytes, 16 + MAX_WBITS, max_bytes);
}

Result<std::string> checked(Unpacked unpacked, std::size_t max_bytes) {
    if (unpacked.too_long) {
        return invalid_argument("once unpacked it is larger than " + std::to_string(max_bytes) +
                                " bytes");
    }
    if (!unpacked.complete) return invalid_argument("its contents are damaged or cut off");
    return std::move(unpacked.text);
}

}  // namespace

Compression compression_of(std::string_view head) {
    if (head.starts_with("\x1F\x8B\x08")) return Compression::Gzip;
    if (head.starts_with("\x28\xB5\x2F\xFD")) return Compression::Zstd;
    return Compression::None;
}

Result<std::string> decompressed(std::string_view bytes, std::size_t max_bytes) {
    return checked(unpack(bytes, max_bytes), max_bytes);
}

std::string decompressed_head(std::string_view bytes, std::size_t max_bytes) {
    std::string text = unpack(bytes, max_bytes).text;
    text.resize(std::min(text.size(), max_bytes));
    return text;
}

Result<std::string> inflated(std::string_view bytes, std::size_t max_bytes) {
    return checked(unpack_deflate(bytes, -MAX_WBITS, max_bytes), max_bytes);
}

}  // namespace braid::ingest
