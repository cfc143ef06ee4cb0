#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/store/block_checksums.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/mapped_file.hpp"
#include "braid/store/section_file_format.hpp"
#include "braid/store/sections.hpp"

namespace braid::store {

/// A mapped section file. Opening reads header, directory and the list of checksums; sections are
/// read and verified on demand. Safe for concurrent use.
class SectionFile final : public SectionSource {
public:
    /// NotFound if there is no such file, Unsupported if a newer braid wrote it, Corruption if it
    /// is damaged or is not the file its name says: kind and generation must agree.
    static Result<std::shared_ptr<const SectionFile>> open(const Directory& directory,
                                                           std::string_view name);

    /// Valid as long as the file.
    Result<Section> section(std::string_view name) const override;

    const std::string& kind() const noexcept { return header_.kind; }
    std::uint64_t generation() const noexcept { return header_.generation; }
    std::uint64_t size_bytes() const noexcept { return mapping_->bytes().size(); }
    const std::string& path() const noexcept { return mapping_->path(); }
    /// A checksum of all its sections, which files derived from this one record.
    std::uint64_t identity() const noexcept { return identity_; }
    /// By name, with offsets in the file and lengths.
    const std::vector<SectionEntry>& sections() const noexcept { return sections_; }

    /// Blocks that can be passed to `verify_block`.
    std::uint64_t blocks() const noexcept {
        return block_count(sections_end_, header_.block_bytes());
    }
    /// Reads one block again, whether or not it was verified before. Requires block < blocks().
    Result<> verify_block(std::uint64_t block) const;
    /// See BlockGuard::intact.
    Result<> intact() const { return mapping_->intact(); }

private:
    SectionFile() = default;
    Result<> read(std::string_view name);

    std::shared_ptr<const MappedFile> mapping_;
    SectionFileHeader header_;
    std::uint64_t sections_end_ = 0;
    std::uint64_t identity_ = 0;
    std::span<const std::byte> sums_;
    std::vector<SectionEntry> sections_;
    std::optional<CheckedBlocks> blocks_;
};

}  // namespace braid::store
