#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "braid/result.hpp"

namespace braid::store {

/// Every section begins at a multiple of this, in a file and in memory.
inline constexpr std::size_t kSectionAlignment = 64;

/// Where a builder puts the parts of an index: named sections, each written once, front to back,
/// one after another. Not safe for concurrent use.
class SectionSink {
public:
    virtual ~SectionSink() = default;

    /// Ends the current section, if there is one. InvalidArgument if the name was used before.
    virtual Result<> begin(std::string_view name) = 0;
    /// Appends bytes to the current section.
    virtual Result<> write(std::span<const std::byte> bytes) = 0;
    /// Bytes of the current section so far.
    virtual std::uint64_t offset() const noexcept = 0;
};

/// Knows which bytes of a mapping are as they were written.
class BlockGuard {
public:
    virtual ~BlockGuard() = default;

    /// Corruption if a block that overlaps the range is damaged or gone. Checks each block once.
    /// Requires that the range lies in the mapping.
    virtual Result<> verify(std::uint64_t offset, std::uint64_t length) const = 0;
    /// Corruption if a page vanished since it was verified: what was read meanwhile may be zeros.
    virtual Result<> intact() const = 0;
};

/// A borrowed view of one section. None of its bytes may be trusted before `bytes` hands them out.
/// Valid as long as the source it came from; safe for concurrent use.
class Section {
public:
    Section() = default;
    /// Without a guard the bytes are the process's own memory. `base` is where the section begins
    /// in the guarded mapping; `name` is not copied.
    Section(std::span<const std::byte> all, std::string_view name,
            const BlockGuard* guard = nullptr, std::uint64_t base = 0) noexcept
        : all_(all), name_(name), guard_(guard), base_(base) {}

    std::uint64_t size() const noexcept { return all_.size(); }
    std::string_view name() const noexcept { return name_; }

    /// A part, checked against the section's end and verified on first access. Corruption if it
    /// reaches past the end or is damaged.
    Result<std::span<const std::byte>> bytes(std::uint64_t offset, std::uint64_t length) const {
        if (offset > all_.size() || length > all_.size() - offset) {
            return fail(ErrorCode::Corruption, "section \"" + std::string(name_) + "\" has " +
                                                   std::to_string(all_.size()) +
                                                   " bytes, but bytes " + std::to_string(offset) +
                                                   " to " + std::to_string(offset + length) +
                                                   " were requested");
        }
        if (guard_ != nullptr) BRAID_CHECK(guard_->verify(base_ + offset, length));
        return all_.subspan(offset, length);
    }
    Result<std::span<const std::byte>> bytes() const { return bytes(0, all_.size()); }

    /// A part as a section of its own, checked against the end and verified when read. `name`, if
    /// given, is not copied.
    Result<Section> part(std::uint64_t offset, std::uint64_t length,
                         std::string_view name = {}) const {
        if (offset > all_.size() || length > all_.size() - offset) {
            return fail(ErrorCode::Corruption,
                        "section \"" + std::string(name_) + "\" ends within one of its parts");
        }
        return Section(all_.subspan(offset, length), name.empty() ? name_ : name, guard_,
                       base_ + offset);
    }

    /// Where it lies: for prefetching what is asked for with `bytes` later.
    const std::byte* place() const noexcept { return all_.data(); }
    /// Whether `intact` says the same for both.
    bool guarded_as(const Section& other) const noexcept { return guard_ == other.guard_; }

    /// To be asked once after a search that used bytes handed out earlier.
    Result<> intact() const { return guard_ == nullptr ? Result<>() : guard_->intact(); }

private:
    std::span<const std::byte> all_;
    std::string_view name_;
    const BlockGuard* guard_ = nullptr;
    std::uint64_t base_ = 0;
};

/// Where a reader finds what a SectionSink received.
class SectionSource {
public:
    virtual ~SectionSource() = default;

    /// NotFound if there is none of that name.
    virtual Result<Section> section(std::string_view name) const = 0;
};

}  // namespace braid::store
