#include "braid/kernels/byte_level.hpp"
#include "braid/kernels/byte_level_body.hpp"

namespace braid::kernels {
namespace {

struct ScalarBytes {
    static std::uint64_t at_least(const std::uint8_t* p, std::uint8_t cut) noexcept {
        std::uint64_t hits = 0;
        for (unsigned i = 0; i < 64; ++i) {
            hits |= static_cast<std::uint64_t>(p[i] >= cut ? 1 : 0) << i;
        }
        return hits;
    }

    static bool any_at_least(const std::uint8_t* p, std::uint8_t cut) noexcept {
        std::uint8_t most = 0;
        for (unsigned i = 0; i < 256; ++i) most = p[i] > most ? p[i] : most;
        return most >= cut;
    }

    static void fold(const std::uint8_t* p, std::size_t blocks, const std::uint64_t* mask,
                     std::uint8_t* out) noexcept {
        for (unsigned i = 0; i < 64; ++i) {
            std::uint8_t most = 0;
            for (std::size_t block = 0; block < blocks; ++block) {
                const bool counts = mask == nullptr || (mask[block] >> i & 1) != 0;
                const std::uint8_t byte = p[64 * block + i];
                if (counts && byte > most) most = byte;
            }
            out[i] = most;
        }
    }

    static void add(std::uint8_t* bytes, const std::uint8_t* nibbles,
                    const std::uint8_t* table) noexcept {
        for (std::size_t i = 0; i < 64; ++i) {
            const unsigned nibble = (nibbles[i / 2] >> (4 * (i % 2))) & 15U;
            const unsigned sum = static_cast<unsigned>(bytes[i]) + table[nibble];
            bytes[i] = static_cast<std::uint8_t>(sum > 255 ? 255 : sum);
        }
    }
};

constexpr ByteKernels kScalarBytes = byte_loops::table<ScalarBytes>(CpuLevel::Scalar);

}  // namespace

const ByteKernels* scalar_byte_level() noexcept {
    return &kScalarBytes;
}

}  // namespace braid::kernels
