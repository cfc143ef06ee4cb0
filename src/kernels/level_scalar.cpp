#include "braid/kernels/level.hpp"
#include "braid/kernels/level_body.hpp"

namespace braid::kernels {
namespace {

struct Scalar {
    struct Block {
        double lane[16];
    };

    static Block zero() noexcept { return {}; }

    static Block load(const float* p) noexcept {
        Block block;
        for (std::size_t i = 0; i < 16; ++i) block.lane[i] = static_cast<double>(p[i]);
        return block;
    }

    static Block load_first(const float* p, std::size_t count) noexcept {
        Block block{};
        for (std::size_t i = 0; i < count; ++i) block.lane[i] = static_cast<double>(p[i]);
        return block;
    }

    static void add_products(Block& sum, const Block& a, const Block& b) noexcept {
        for (std::size_t i = 0; i < 16; ++i) sum.lane[i] += a.lane[i] * b.lane[i];
    }

    static void add_squares(Block& sum, const Block& a, const Block& b) noexcept {
        for (std::size_t i = 0; i < 16; ++i) {
            const double difference = a.lane[i] - b.lane[i];
            sum.lane[i] += difference * difference;
        }
    }

    static double tree_sum(Block block) noexcept {
        for (std::size_t width = 8; width > 0; width /= 2) {
            for (std::size_t i = 0; i < width; ++i) block.lane[i] += block.lane[i + width];
        }
        return block.lane[0];
    }
};

constexpr Kernels kScalar = loops::table<Scalar>(CpuLevel::Scalar);

}  // namespace

const Kernels* scalar_level() noexcept {
    return &kScalar;
}

}  // namespace braid::kernels
