#include "braid/ingest/npy.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

namespace braid::ingest {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20;
constexpr std::uint64_t kMaxDimension = 65'536;

tl::unexpected<Error> damaged(const std::string& name, std::string_view what) {
    return fail(ErrorCode::Corruption, name + ": " + std::string(what));
}

tl::unexpected<Error> unsuitable(const std::string& name, std::string_view what) {
    return invalid_argument(name + ": " + std::string(what));
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
        value = (value << 8U) | std::to_integer<std::uint64_t>(bytes[i]);
    }
    return value;
}

struct Header {
    std::string descr;
    bool fortran_order = false;
    std::vector<std::uint64_t> shape;
};

/// Parses the Python literal that describes the array: a dictionary of a string, a boolean and a
/// tuple of integers.
class HeaderParser {
public:
    explicit HeaderParser(std::string_view text) : rest_(text) {}

    std::optional<Header> parse() {
        Header header;
        bool descr = false;
        bool order = false;
        bool shape = false;
        if (!take('{')) return std::nullopt;
        while (!take('}')) {
            const auto key = quoted();
            if (!key || !take(':')) return std::nullopt;
            if (*key == "descr" && !descr) {
                const auto value = quoted();
                if (!value) return std::nullopt;
                header.descr = *value;
                descr = true;
            } else if (*key == "fortran_order" && !order) {
                if (!boolean(header.fortran_order)) return std::nullopt;
                order = true;
            } else if (*key == "shape" && !shape) {
                if (!tuple(header.shape)) return std::nullopt;
                shape = true;
            } else {
                return std::nullopt;
            }
            if (!take(',') && !starts_with('}')) return std::nullopt;
        }
        if (!descr || !order || !shape) return std::nullopt;
        return header;
    }

private:
    void skip_space() {
        const std::size_t start = rest_.find_first_not_of(" \t\n");
        rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
    }

    bool starts_with(char c) {
        skip_space();
        return rest_.starts_with(c);
    }

    bool take(char c) {
        if (!starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    std::optional<std::string_view> quoted() {
        skip_space();
        if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return std::nullopt;
        const std::size_t end = rest_.find(rest_.front(), 1);
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view text = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        return text;
    }

    bool boolean(bool& out) {
        skip_space();
        for (const auto& [word, value] : {std::pair{std::string_view("True"), true},
                                          std::pair{std::string_view("False"), false}}) {
            if (!rest_.starts_with(word)) continue;
            rest_.remove_prefix(word.size());
            out = value;
            return true;
        }
        return false;
    }

    bool tuple(std::vector<std::uint64_t>& out) {
        if (!take('(')) return false;
        while (!take(')')) {
            skip_space();
            std::uint64_t number = 0;
            const char* const end = rest_.data() + rest_.size();
            const auto [after, error] = std::from_chars(rest_.data(), end, number);
            if (error != std::errc() || out.size() == 32) return false;
            rest_.remove_prefix(static_cast<std::size_t>(after - rest_.data()));
            out.push_back(number);
            if (!take(',') && !starts_with(')')) return false;
        }
        return true;
    }

    std::string_view rest_;
};

/// Bytes of one number, or 0 for a type other than little-endian float.
std::size_t item_bytes_of(std::string_view descr) {
    if (descr == "<f2") return 2;
    if (descr == "<f4") return 4;
    if (descr == "<f8") return 8;
    return 0;
}

double half_to_double(std::uint64_t bits) {
    const bool negative = (bits & 0x8000U) != 0;
    const int exponent = static_cast<int>((bits >> 10U) & 0x1FU);
    const double fraction = static_cast<double>(bits & 0x3FFU);
    double value = 0;
    if (exponent == 31) {
        value = fraction == 0 ? HUGE_VAL : std::nan("");
    } else if (exponent == 0) {
        value = std::ldexp(fraction, -24);
    } else {
        value = std::ldexp(fraction + 1024, exponent - 25);
    }
    return negative ? -value : value;
}

float item_at(std::span<const std::byte> item) {
    const std::uint64_t bits = little_endian(item);
    if (item.size() == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return static_cast<float>(item.size() == 8 ? std::bit_cast<double>(bits)
                                               : half_to_double(bits));
}

struct Prefix {
    std::uint64_t header_offset = 0;
    std::size_t header_bytes = 0;
};

Result<Prefix> read_prefix(const FileHandle& file) {
    std::array<std::byte, 12> bytes{};
    const auto prefix = std::span(bytes);
    const std::uint64_t file_bytes = file.size().value_or(0);
    if (file_bytes < 10) {
        return unsuitable(file.name(), "not a NumPy file: too short");
    }
    BRAID_CHECK(file.read_at(0, prefix.first(10)));
    for (std::size_t i = 0; i < kMagic.size(); ++i) {
        if (static_cast<char>(prefix[i]) != kMagic[i]) {
            return unsuitable(file.name(), "not a NumPy file");
        }
    }
    const auto version = std::to_integer<unsigned>(prefix[6]);
    if (version < 1 || version > 3) {
        return unsuitable(file.name(), "NumPy format version " + std::to_string(version) +
                                           " is unknown; versions 1 to 3 are read");
    }
    Prefix out{10, static_cast<std::size_t>(little_endian(prefix.subspan(8, 2)))};
    if (version > 1) {
        BRAID_CHECK(file.read_at(0, prefix));
        out = {12, static_cast<std::size_t>(little_endian(prefix.subspan(8, 4)))};
    }
    if (out.header_bytes > kMaxHeaderBytes || out.header_offset + out.header_bytes > file_bytes) {
        return damaged(file.name(), "the header is longer than the file");
    }
    return out;
}

}  // namespace

Result<NpyFile> NpyFile::open(const std::string& path) {
    BRAID_TRY(FileHandle file, FileHandle::open(path));
    BRAID_TRY(const Prefix prefix, read_prefix(file));
    std::string text(prefix.header_bytes, '\0');
    BRAID_CHECK(file.read_at(prefix.header_offset, std::as_writable_bytes(std::span(text))));
    const auto header = HeaderParser(text).parse();
    const std::string& name = file.name();
    if (!header) return damaged(name, "the header cannot be read");
    const std::size_t item_bytes = item_bytes_of(header->descr);
    if (item_bytes == 0) {
        return unsuitable(name, "holds numbers of type '" + header->descr.substr(0, 40) +
                                    "'; expected little-endian floats ('<f4', '<f8', '<f2')");
    }
    if (header->shape.empty() || header->shape.size() > 2) {
        return unsuitable(name, "has " + std::to_string(header->shape.size()) +
                                    " dimensions, not two (rows, and numbers per row)");
    }
    const std::uint64_t rows = header->shape.size() == 2 ? header->shape[0] : 1;
    const std::uint64_t dimension = header->shape.back();
    if (header->fortran_order && rows > 1 && dimension > 1) {
        return unsuitable(name, "is stored by columns; save numpy.ascontiguousarray(a)");
    }
    if (dimension == 0 || dimension > kMaxDimension) {
        return unsuitable(
            name, "has rows of " + std::to_string(dimension) + " numbers; 1 to 65536 are allowed");
    }
    // Divide rather than multiply: the product of hostile numbers may wrap around.
    const std::uint64_t data_offset = prefix.header_offset + prefix.header_bytes;
    const std::uint64_t row_bytes = dimension * item_bytes;
    const std::uint64_t data_bytes = file.size().value_or(data_offset) - data_offset;
    if (data_bytes / row_bytes != rows || data_bytes % row_bytes != 0) {
        return damaged(name, "its size does not fit its shape (" + std::to_string(rows) + ", " +
                                 std::to_string(dimension) + "); the file may be cut short");
    }
    return NpyFile(std::move(file), data_offset, rows, static_cast<std::size_t>(dimension),
                   item_bytes);
}

Result<std::vector<float>> NpyFile::row(std::uint64_t index) const {
    if (index >= rows_) {
        return unsuitable(name(), "has no row " + std::to_string(index) + ", only " +
                                      std::to_string(rows_) + " rows");
    }
    std::vector<std::byte> bytes(dimension_ * item_bytes_);
    BRAID_CHECK(file_.read_at(data_offset_ + index * bytes.size(), bytes));
    std::vector<float> out(dimension_);
    for (std::size_t i = 0; i < dimension_; ++i) {
        out[i] = item_at(std::span(bytes).subspan(i * item_bytes_, item_bytes_));
        if (!std::isfinite(out[i])) {
            return unsuitable(name(), "row " + std::to_string(index) + ", column " +
                                          std::to_string(i) + " (from 0): not a finite float");
        }
    }
    return out;
}

Result<std::vector<std::vector<float>>> NpyFile::all_rows() const {
    std::vector<std::vector<float>> all;
    all.reserve(rows_);
    for (std::uint64_t i = 0; i < rows_; ++i) {
        BRAID_TRY(auto one, row(i));
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace braid::ingest
