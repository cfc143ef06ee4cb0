#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "braid/result.hpp"
#include "braid/store/block_checksums.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/file_writer.hpp"
#include "braid/store/sections.hpp"

namespace braid::store {

/// Writes a section file (docs/formats/segment.md), which SectionFile reads. There is nothing under
/// its name until `finish` succeeds, and nothing at all is left if it is never called. Holds about
/// 1 MiB, whatever the size of the sections. Not safe for concurrent use.
class SectionFileWriter final : public SectionSink {
public:
    /// The file is named section_file_name(kind, generation). AlreadyExists if that name is taken,
    /// InvalidArgument if the kind is not valid.
    static Result<std::unique_ptr<SectionFileWriter>> create(Directory& directory,
                                                             std::string_view kind,
                                                             std::uint64_t generation);

    Result<> begin(std::string_view name) override;
    Result<> write(std::span<const std::byte> bytes) override;
    std::uint64_t offset() const noexcept override;

    /// Makes the file durable, including its name. Returns its size.
    Result<std::uint64_t> finish();

private:
    struct Place {
        std::uint64_t offset = 0;
        std::uint64_t length = 0;
    };

    SectionFileWriter(std::unique_ptr<FileWriter> file, std::uint64_t generation)
        : file_(std::move(file)), generation_(generation), summer_(generation) {}
    Result<> put(std::span<const std::byte> bytes);
    Result<> pad();

    std::unique_ptr<FileWriter> file_;
    std::uint64_t generation_;
    BlockSummer summer_;
    std::map<std::string, Place, std::less<>> places_;
    Place* last_ = nullptr;
};

}  // namespace braid::store
