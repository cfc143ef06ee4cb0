#include "braid/store/section_file_writer.hpp"

#include <utility>
#include <vector>

#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/section_file_format.hpp"

namespace braid::store {

Result<std::unique_ptr<SectionFileWriter>> SectionFileWriter::create(Directory& directory,
                                                                     std::string_view kind,
                                                                     std::uint64_t generation) {
    if (!is_valid_kind(kind)) {
        return invalid_argument("\"" + std::string(kind) +
                                "\" is not 1 to 16 lower-case letters and dashes");
    }
    BRAID_TRY(auto file, directory.write_file(section_file_name(kind, generation)));
    std::unique_ptr<SectionFileWriter> writer(
        new SectionFileWriter(std::move(file), generation));  // NOLINT: private
    BRAID_CHECK(writer->put(encode_section_header({std::string(kind), generation})));
    return writer;
}

Result<> SectionFileWriter::put(std::span<const std::byte> bytes) {
    BRAID_CHECK(file_->write(bytes));
    summer_.add(bytes);
    return {};
}

Result<> SectionFileWriter::pad() {
    const std::size_t past = file_->size() % kSectionAlignment;
    if (past == 0) return {};
    return put(std::vector<std::byte>(kSectionAlignment - past));
}

Result<> SectionFileWriter::begin(std::string_view name) {
    if (name.empty() || name.size() > kMaxSectionNameBytes) {
        return invalid_argument("the name of a section is empty or longer than " +
                                std::to_string(kMaxSectionNameBytes) + " bytes");
    }
    if (places_.contains(name)) {
        return invalid_argument("section \"" + std::string(name) + "\" has already been written");
    }
    BRAID_CHECK(pad());
    last_ = &places_[std::string(name)];
    last_->offset = file_->size();
    return {};
}

Result<> SectionFileWriter::write(std::span<const std::byte> bytes) {
    if (last_ == nullptr) return invalid_argument("no section was begun");
    BRAID_CHECK(put(bytes));
    last_->length += bytes.size();
    return {};
}

std::uint64_t SectionFileWriter::offset() const noexcept {
    return last_ == nullptr ? 0 : last_->length;
}

Result<std::uint64_t> SectionFileWriter::finish() {
    BRAID_CHECK(pad());
    std::vector<SectionEntry> entries;
    entries.reserve(places_.size());
    for (const auto& [name, place] : places_) entries.push_back({name, place.offset, place.length});
    last_ = nullptr;

    SectionFileFooter footer;
    footer.generation = generation_;
    footer.directory_offset = file_->size();
    ByteWriter directory(encode_section_directory(entries));
    footer.directory_length = directory.size();
    footer.directory_checksum = checksum(directory.view(), generation_);
    directory.pad_to(sizeof(std::uint64_t));
    ByteWriter sums;
    for (const std::uint64_t sum : summer_.finish()) sums.u64(sum);
    footer.blocks_checksum = checksum(sums.view(), generation_);
    footer.file_size =
        footer.directory_offset + directory.size() + sums.size() + kSectionFileFooterBytes;

    BRAID_CHECK(file_->write(directory.view()));
    BRAID_CHECK(file_->write(sums.view()));
    BRAID_CHECK(file_->write(encode_section_footer(footer)));
    BRAID_CHECK(file_->finish());
    return footer.file_size;
}

}  // namespace braid::store
