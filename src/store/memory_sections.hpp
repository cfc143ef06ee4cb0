#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/store/sections.hpp"

namespace braid::store {

/// Sections in memory: what a builder wrote can be read at once. Write first, then read: a section
/// that is still growing moves.
class MemorySections final : public SectionSink, public SectionSource {
public:
    Result<> begin(std::string_view name) override;
    Result<> write(std::span<const std::byte> bytes) override;
    std::uint64_t offset() const noexcept override;
    Result<Section> section(std::string_view name) const override;

    /// Of all sections together.
    std::uint64_t size_bytes() const noexcept;

private:
    struct Line {
        alignas(kSectionAlignment) std::byte bytes[kSectionAlignment];  // NOLINT: raw memory
    };
    struct Part {
        std::vector<Line> lines;
        std::uint64_t size = 0;
    };

    std::map<std::string, Part, std::less<>> parts_;
    Part* last_ = nullptr;
};

}  // namespace braid::store
