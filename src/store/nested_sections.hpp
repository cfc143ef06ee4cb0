#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/store/section_file_format.hpp"
#include "braid/store/sections.hpp"

namespace braid::store {

/// Sections inside one section of another sink: thousands of small groups of sections in one file,
/// whose own directory names each group once (docs/formats/segment.md). Not safe for concurrent
/// use.
class NestedSink final : public SectionSink {
public:
    /// The outer sink must have begun the section, and nobody else may use it until `finish`.
    explicit NestedSink(SectionSink& outer) noexcept : outer_(outer) {}

    Result<> begin(std::string_view name) override;
    Result<> write(std::span<const std::byte> bytes) override;
    std::uint64_t offset() const noexcept override;
    /// Writes the directory of the group. Nothing may follow.
    Result<> finish();

private:
    Result<> pad();

    SectionSink& outer_;
    std::vector<SectionEntry> entries_;
};

/// Reads what a NestedSink wrote. Valid as long as the outer section's source; safe for concurrent
/// use.
class NestedSource final : public SectionSource {
public:
    /// Reads only the directory. Corruption if there is none.
    static Result<NestedSource> open(const Section& outer);

    Result<Section> section(std::string_view name) const override;
    const std::vector<SectionEntry>& sections() const noexcept { return entries_; }

private:
    Section outer_;
    std::vector<SectionEntry> entries_;
};

}  // namespace braid::store
