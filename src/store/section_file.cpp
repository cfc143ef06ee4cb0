#include "braid/store/section_file.hpp"

#include <algorithm>

#include "braid/store/checksum.hpp"

namespace braid::store {
namespace {

auto damaged(const std::string& path, const std::string& problem) {
    return fail(ErrorCode::Corruption, path + " is damaged: " + problem);
}

}  // namespace

Result<std::shared_ptr<const SectionFile>> SectionFile::open(const Directory& directory,
                                                             std::string_view name) {
    std::shared_ptr<SectionFile> file(new SectionFile);  // NOLINT: private
    BRAID_TRY(file->mapping_, directory.map(name));
    Result<> read = file->read(name);
    // What was read from vanished pages says nothing about the file.
    BRAID_CHECK(file->mapping_->intact());
    BRAID_CHECK(std::move(read));
    return file;
}

Result<> SectionFile::read(std::string_view name) {
    const std::span<const std::byte> all = mapping_->bytes();
    const std::string& path = mapping_->path();
    if (all.size() < kSectionFileHeaderBytes) return damaged(path, "it has no valid header");
    BRAID_TRY(header_, decode_section_header(all.first(kSectionFileHeaderBytes), path));
    const std::string own = section_file_name(header_.kind, header_.generation);
    if (own != name) return damaged(path, "its content is that of a file named " + own);
    if (all.size() < kSectionFileHeaderBytes + kSectionFileFooterBytes) {
        return damaged(path, "it has no valid footer, so it was cut short");
    }
    BRAID_TRY(const SectionFileFooter footer,
              decode_section_footer(all.last(kSectionFileFooterBytes), path, all.size(),
                                    header_.block_bytes()));
    if (footer.generation != header_.generation) {
        return damaged(path, "its header and footer belong to different files");
    }
    // In range, as decode_section_footer has checked.
    const auto directory = all.subspan(footer.directory_offset, footer.directory_length);
    const std::uint64_t end = footer.directory_offset + footer.directory_length;
    const auto zeros = all.subspan(end, footer.blocks_offset() - end);
    if (checksum(directory, header_.generation) != footer.directory_checksum ||
        std::ranges::any_of(zeros, [](std::byte byte) { return byte != std::byte{0}; })) {
        return damaged(path, "its list of sections has a wrong checksum");
    }
    BRAID_TRY(sections_, decode_section_directory(directory, path, footer.directory_offset));
    sections_end_ = footer.directory_offset;
    identity_ = footer.blocks_checksum;
    sums_ = all.subspan(footer.blocks_offset(), blocks() * sizeof(std::uint64_t));
    if (checksum(sums_, header_.generation) != footer.blocks_checksum) {
        return damaged(path, "its list of checksums has a wrong checksum");
    }
    blocks_.emplace(mapping_, sections_end_, sums_, header_.generation, header_.block_bytes());
    return {};
}

Result<Section> SectionFile::section(std::string_view name) const {
    const auto found = std::lower_bound(
        sections_.begin(), sections_.end(), name,
        [](const SectionEntry& entry, std::string_view wanted) { return entry.name < wanted; });
    if (found == sections_.end() || found->name != name) {
        return fail(ErrorCode::NotFound,
                    "there is no section \"" + std::string(name) + "\" in " + path());
    }
    return Section(mapping_->bytes().subspan(found->offset, found->length), found->name, &*blocks_,
                   found->offset);
}

Result<> SectionFile::verify_block(std::uint64_t block) const {
    BRAID_CHECK(blocks_->verify_block(block));
    return intact();
}

}  // namespace braid::store
