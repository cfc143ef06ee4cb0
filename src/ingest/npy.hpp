#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "braid/ingest/file_handle.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Rows of a NumPy file: format 1.0 to 3.0, float16, float32 or float64, little endian, C order,
/// one or two dimensions (one: a single row). Rows are read from the file on demand.
class NpyFile {
public:
    /// NotFound; InvalidArgument for another kind of array; Corruption if the file is damaged or
    /// its size does not match its shape.
    static Result<NpyFile> open(const std::string& path);

    std::uint64_t rows() const noexcept { return rows_; }
    std::size_t dimension() const noexcept { return dimension_; }
    const std::string& name() const noexcept { return file_.name(); }

    /// InvalidArgument, naming the row, if one of its numbers is not finite as a float.
    Result<std::vector<float>> row(std::uint64_t index) const;
    Result<std::vector<std::vector<float>>> all_rows() const;

private:
    NpyFile(FileHandle file, std::uint64_t data_offset, std::uint64_t rows, std::size_t dimension,
            std::size_t item_bytes)
        : file_(std::move(file)),
          data_offset_(data_offset),
          rows_(rows),
          dimension_(dimension),
          item_bytes_(item_bytes) {}

    FileHandle file_;
    std::uint64_t data_offset_;
    std::uint64_t rows_;
    std::size_t dimension_;
    std::size_t item_bytes_;
};

}  // namespace braid::ingest
