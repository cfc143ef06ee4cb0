#include "braid/ingest/compression.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <zlib.h>
#include <zstd.h>

namespace braid::ingest {
namespace {

constexpr std::size_t kStep = std::size_t{64} << 10;
constexpr int kWindowLog = 27;
constexpr std::string_view kDamaged = "its contents are damaged or cut off";

struct Unpacked {
    std::string text;
    bool complete = false;  // the stream ended properly
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
            // gzip files may consist of several streams, one after the other.
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
    ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kWindowLog);
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
    if (!unpacked.complete) return invalid_argument(std::string(kDamaged));
    return std::move(unpacked.text);
}

}  // namespace

struct Unpacker::State {
    Compression kind = Compression::None;
    z_stream deflate{};
    std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> zstd{nullptr, &ZSTD_freeDCtx};
    bool ready = false;
    bool complete = false;

    explicit State(Compression chosen) : kind(chosen) {
        if (kind == Compression::Zstd) {
            zstd.reset(ZSTD_createDCtx());
            ready = zstd != nullptr;
            if (ready) ZSTD_DCtx_setParameter(zstd.get(), ZSTD_d_windowLogMax, kWindowLog);
        } else {
            ready = inflateInit2(&deflate, 16 + MAX_WBITS) == Z_OK;
        }
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        if (ready && kind != Compression::Zstd) inflateEnd(&deflate);
    }

    Result<std::size_t> unpack_zstd(std::string_view& in, std::span<char> out) {
        ZSTD_inBuffer from{in.data(), in.size(), 0};
        ZSTD_outBuffer to{out.data(), out.size(), 0};
        const std::size_t status = ZSTD_decompressStream(zstd.get(), &to, &from);
        if (ZSTD_isError(status) != 0) return invalid_argument(std::string(kDamaged));
        in.remove_prefix(from.pos);
        if (from.pos > 0 || to.pos > 0) complete = status == 0;
        return to.pos;
    }
    Result<std::size_t> unpack_deflate(std::string_view& in, std::span<char> out) {
        if (complete) {  // gzip files may consist of several streams
            if (inflateReset(&deflate) != Z_OK) return invalid_argument(std::string(kDamaged));
            complete = in.empty();
        }
        const auto offered =
            static_cast<uInt>(std::min<std::size_t>(in.size(), std::size_t{1} << 30));
        // zlib does not write to its input.
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast,cppcoreguidelines-pro-type-reinterpret-cast)
        deflate.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
        deflate.avail_in = offered;
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
        deflate.next_out = reinterpret_cast<Bytef*>(out.data());
        deflate.avail_out =
            static_cast<uInt>(std::min<std::size_t>(out.size(), std::size_t{1} << 30));
        const uInt room = deflate.avail_out;
        const int status = inflate(&deflate, Z_NO_FLUSH);
        in.remove_prefix(offered - deflate.avail_in);
        // Z_BUF_ERROR: no progress was possible with what there is.
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
            return invalid_argument(std::string(kDamaged));
        }
        if (status == Z_STREAM_END) complete = true;
        return room - deflate.avail_out;
    }
};

Unpacker::Unpacker(Compression kind) : state_(std::make_unique<State>(kind)) {}
Unpacker::Unpacker(Unpacker&&) noexcept = default;
Unpacker& Unpacker::operator=(Unpacker&&) noexcept = default;
Unpacker::~Unpacker() = default;

Result<std::size_t> Unpacker::unpack(std::string_view& in, std::span<char> out) {
    if (!state_->ready) return fail(ErrorCode::ResourceExhausted, "not enough memory to unpack it");
    while (!in.empty() || !state_->complete) {
        const std::size_t had = in.size();
        BRAID_TRY(const std::size_t count, state_->kind == Compression::Zstd
                                               ? state_->unpack_zstd(in, out)
                                               : state_->unpack_deflate(in, out));
        if (count > 0 || in.empty() || in.size() == had) return count;
    }
    return 0;
}

bool Unpacker::is_complete() const noexcept {
    return state_->complete;
}

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
