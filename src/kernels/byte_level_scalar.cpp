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
