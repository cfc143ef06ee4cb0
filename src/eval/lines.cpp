#include "braid/eval/lines.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "braid/core/utf8.hpp"

namespace braid::eval {
namespace {

constexpr std::string_view kBlanks = " \t\v\f\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kShownBytes = 60;

}  // namespace

Result<std::string> read_file(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) {
        return fail(ErrorCode::NotFound, "there is no file " + shown(path));
    }
    if (std::filesystem::is_directory(status)) {
        return invalid_argument(shown(path) + " is a directory, not a file");
    }
    std::ifstream file(path, std::ios::binary);
    std::string text;
    std::string block(std::size_t{1} << 16, '\0');
    while (file) {
        file.read(block.data(), static_cast<std::streamsize>(block.size()));
        text.append(block, 0, static_cast<std::size_t>(file.gcount()));
    }
    if (!file.eof()) return fail(ErrorCode::IoError, "cannot read " + shown(path));
    return text;
}

Lines::Lines(std::string_view text, std::string_view source) : rest_(text), source_(source) {
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

Result<std::optional<std::string_view>> Lines::next() {
    while (!rest_.empty()) {
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        ++number_;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.find_first_not_of(kBlanks) == std::string_view::npos) continue;
        if (line.find('\0') != std::string_view::npos) return complain("the line holds a NUL byte");
        if (!core::is_valid_utf8(line)) return complain("the line is not UTF-8");
        return std::optional(line);
    }
    return std::optional<std::string_view>();
}

tl::unexpected<Error> Lines::complain(std::string_view what) const {
    return complain_at(number_, what);
}

tl::unexpected<Error> Lines::complain_at(std::size_t line, std::string_view what) const {
    return invalid_argument(std::string(source_) + ":" + std::to_string(line) + ": " +
                            std::string(what));
}

std::vector<std::string_view> split_fields(std::string_view line) {
    std::vector<std::string_view> fields;
    while (true) {
        const std::size_t start = line.find_first_not_of(kBlanks);
        if (start == std::string_view::npos) return fields;
        line.remove_prefix(start);
        const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
        fields.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

std::vector<std::string_view> split_at(std::string_view line, char separator) {
    std::vector<std::string_view> pieces;
    for (std::size_t end = line.find(separator); end != std::string_view::npos;
         end = line.find(separator)) {
        pieces.push_back(line.substr(0, end));
        line.remove_prefix(end + 1);
    }
    pieces.push_back(line);
    return pieces;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t start = text.find_first_not_of(kBlanks);
    if (start == std::string_view::npos) return {};
    return text.substr(start, text.find_last_not_of(kBlanks) - start + 1);
}

bool is_word(std::string_view text) {
    constexpr std::string_view forbidden(" \t\v\f\r\n\0", 7);
    return !text.empty() && text.find_first_of(forbidden) == std::string_view::npos;
}

std::string shown(std::string_view text) {
    std::string_view head = text.substr(0, kShownBytes);
    // Never end inside a UTF-8 sequence.
    if (head.size() < text.size()) {
        while (!head.empty() && !core::is_valid_utf8(head)) head.remove_suffix(1);
    }
    return "\"" + std::string(head) + (head.size() < text.size() ? "…\"" : "\"");
}

}  // namespace braid::eval
