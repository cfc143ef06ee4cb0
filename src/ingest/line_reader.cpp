#include "braid/ingest/line_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "braid/core/blank.hpp"
#include "braid/core/utf8.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kBlockBytes = kMiB;
constexpr std::size_t kMagicBytes = 4;  // enough to tell how a file is packed
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string shown_size(std::size_t bytes) {
    if (bytes >= kMiB && bytes % kMiB == 0) return std::to_string(bytes / kMiB) + " MiB";
    return std::to_string(bytes) + " bytes";
}

std::string hex(unsigned char byte) {
    return {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
}

}  // namespace

Result<std::size_t> TextBytes::read(std::span<char> out, const std::stop_token& stop) {
    if (!std::exchange(started_, true)) {
        packed_.resize(kBlockBytes);
        std::size_t had = 0;
        while (had < kMagicBytes) {  // a pipe may deliver them one by one
            BRAID_TRY(const std::size_t count, read_file(std::span(packed_).subspan(had), stop));
            if (count == 0) break;
            had += count;
        }
        left_ = {packed_.data(), had};
        const Compression kind = compression_of(left_);
        if (kind != Compression::None) unpacker_.emplace(kind);
    }
    if (!unpacker_) {
        if (left_.empty()) return read_file(out, stop);
        const std::size_t count = std::min(left_.size(), out.size());
        std::memcpy(out.data(), left_.data(), count);
        left_.remove_prefix(count);
        if (left_.empty()) packed_ = {};
        return count;
    }
    while (true) {
        auto count = unpacker_->unpack(left_, out);
        if (!count) return fail(file_.name(), count.error());
        if (*count > 0) return *count;
        BRAID_TRY(const std::size_t more, read_file(packed_, stop));
        if (more == 0) {
            if (unpacker_->is_complete()) return std::size_t{0};
            return invalid_argument(file_.name() + ": its contents are damaged or cut off");
        }
        left_ = {packed_.data(), more};
    }
}

Result<std::size_t> TextBytes::read_file(std::span<char> out, const std::stop_token& stop) {
    BRAID_TRY(const std::size_t count, file_.read(out, stop));
    file_bytes_read_ += count;
    return count;
}

LineReader::LineReader(FileHandle file, std::size_t max_line_bytes, std::stop_token stop)
    : bytes_(std::move(file)),
      max_line_bytes_(max_line_bytes),
      stop_(std::move(stop)),
      buffer_(kBlockBytes) {}

Result<std::optional<std::string_view>> LineReader::next() {
    while (true) {
        BRAID_TRY(auto line, raw_line());
        if (!line) return std::nullopt;
        if (line->ends_with('\r')) line->remove_suffix(1);
        if (number_ == 1 && line->starts_with(kByteOrderMark)) line->remove_prefix(3);
        if (core::is_blank(*line)) continue;
        const std::size_t valid = core::valid_utf8_prefix(*line);
        if (valid < line->size()) {
            return complain("not valid UTF-8: byte " +
                            hex(static_cast<unsigned char>((*line)[valid])) + " at byte " +
                            std::to_string(valid + 1) + " of the line");
        }
        return line;
    }
}

tl::unexpected<Error> LineReader::complain(std::string_view what) const {
    return invalid_argument(name() + ":" + std::to_string(number_) + ": " + std::string(what));
}

Result<> LineReader::skip_rest() {
    while (in_long_line_) {
        const void* const found = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
        if (found != nullptr) {
            begin_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()) + 1;
            in_long_line_ = false;
            return {};
        }
        begin_ = end_ = 0;
        BRAID_TRY(const bool more, fill());
        at_end_ = !more;
        in_long_line_ = more;
    }
    return {};
}

Result<std::optional<std::string_view>> LineReader::raw_line() {
    BRAID_CHECK(skip_rest());
    std::size_t searched = begin_;  // no line break before it
    while (true) {
        const char* const start = buffer_.data() + begin_;
        const void* const found =
            searched < end_ ? std::memchr(buffer_.data() + searched, '\n', end_ - searched)
                            : nullptr;
        const std::size_t length =
            found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - start)
                             : end_ - begin_;
        if (length > max_line_bytes_) {
            ++number_;
            in_long_line_ = true;
            return complain("the line is longer than the limit of " + shown_size(max_line_bytes_));
        }
        if (found != nullptr || (at_end_ && length > 0)) {
            ++number_;
            begin_ += length + (found != nullptr ? 1 : 0);
            return std::string_view(start, length);
        }
        if (at_end_) return std::nullopt;
        const std::size_t unread = end_ - begin_;
        BRAID_TRY(const bool more, fill());
        at_end_ = !more;
        searched = begin_ + unread;
    }
}

Result<bool> LineReader::fill() {
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    // raw_line() gives up beyond max_line_bytes_, so one more block always leaves room.
    if (end_ == buffer_.size()) {
        buffer_.resize(std::min(buffer_.size() * 2, max_line_bytes_ + kBlockBytes));
    }
    BRAID_TRY(
        const std::size_t count,
        bytes_.read(std::span(buffer_).subspan(end_, std::min(kBlockBytes, buffer_.size() - end_)),
                    stop_));
    end_ += count;
    text_bytes_read_ += count;
    return count > 0;
}

Result<std::uint64_t> count_lines(const std::string& path) {
    BRAID_TRY(FileHandle opened, FileHandle::open(path));
    TextBytes file(std::move(opened));
    std::vector<char> block(kBlockBytes);
    std::uint64_t lines = 0;
    bool blank = true;
    bool at_start = true;
    while (true) {
        BRAID_TRY(const std::size_t count, file.read(block));
        if (count == 0) return lines + (blank ? 0 : 1);
        std::string_view rest(block.data(), count);
        if (at_start && rest.starts_with(kByteOrderMark)) rest.remove_prefix(3);
        at_start = false;
        while (!rest.empty()) {
            const std::size_t line_break = rest.find('\n');
            const std::string_view line = rest.substr(0, line_break);
            blank = blank && core::is_blank(line);
            if (line_break == std::string_view::npos) break;
            lines += blank ? 0 : 1;
            blank = true;
            rest.remove_prefix(line_break + 1);
        }
    }
}

}  // namespace braid::ingest
