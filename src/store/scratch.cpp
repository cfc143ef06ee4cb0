#include "braid/store/scratch.hpp"

#include <vector>

#include "braid/store/sections.hpp"

namespace braid::store {
namespace {

class HeapScratch final : public Scratch {
public:
    explicit HeapScratch(std::uint64_t size)
        : lines_((size + kSectionAlignment - 1) / kSectionAlignment), size_(size) {}

    std::span<std::byte> bytes() const noexcept override {
        return {reinterpret_cast<std::byte*>(lines_.data()), size_};
    }
    Result<> intact() const override { return {}; }

private:
    struct Line {
        alignas(kSectionAlignment) std::byte bytes[kSectionAlignment];  // NOLINT: raw memory
    };

    mutable std::vector<Line> lines_;
    std::size_t size_;
};

}  // namespace

std::unique_ptr<Scratch> scratch_in_memory(std::uint64_t size) {
    return std::make_unique<HeapScratch>(size);
}

}  // namespace braid::store
