#include <cstdint>
#include <cstring>
#include <optional>

#include "braid/core/utf8.hpp"
#include "braid/json/json.hpp"
#include "braid/json/number.hpp"
#include "braid/json/quote.hpp"

namespace braid::json {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Bytes that a string holds as they are, whatever stands around them.
constexpr bool is_plain(unsigned char c) noexcept {
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/// How many bytes at the beginning of `text` are plain. Looks at eight at a time: in each byte of
/// the words below, the highest bit says whether the byte is not plain.
std::size_t plain_length(std::string_view text) noexcept {
    constexpr std::uint64_t ones = 0x0101010101010101;
    constexpr std::uint64_t highs = 0x8080808080808080;
    // Exact where no byte has its highest bit set; those that have are not plain anyway.
    const auto is_zero = [](std::uint64_t word) { return (word - ones) & ~word; };
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= text.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, sizeof word);
        const std::uint64_t below_space = (word - ones * 0x20) & ~word;
        const std::uint64_t quote = is_zero(word ^ (ones * '"'));
        const std::uint64_t backslash = is_zero(word ^ (ones * '\\'));
        if (((word | below_space | quote | backslash) & highs) != 0) break;
    }
    while (at < text.size() && is_plain(static_cast<unsigned char>(text[at]))) ++at;
    return at;
}

void append_escaped(std::string& out, char c) {
    constexpr std::string_view hex = "0123456789abcdef";
    switch (c) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\b':
            out += "\\b";
            return;
        case '\f':
            out += "\\f";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\t':
            out += "\\t";
            return;
        default:
            break;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += "\\u00";
    out += hex[byte >> 4U];
    out += hex[byte & 0xFU];
}

class Printer {
public:
    Printer(std::string& out, std::optional<std::size_t> indent) : out_(out), indent_(indent) {}

    void value(const Value& value, std::size_t depth) {
        if (value.is_null()) {
            out_ += "null";
        } else if (value.is_bool()) {
            out_ += value.as_bool() ? "true" : "false";
        } else if (value.is_int()) {
            append_number(out_, value.as_int());
        } else if (value.is_double()) {
            append_number(out_, value.as_double());
        } else if (value.is_string()) {
            append_quoted(out_, value.as_string());
        } else if (value.is_array()) {
            array(value.as_array(), depth + 1);
        } else {
            object(value.as_object(), depth + 1);
        }
    }

    void object(const Object& object, std::size_t depth) {
        out_ += '{';
        bool first = true;
        for (const auto& [key, member] : object) {
            separate(first, depth);
            append_quoted(out_, key);
            out_ += indent_ ? ": " : ":";
            value(member, depth);
        }
        close(object.empty(), depth, '}');
    }

private:
    void array(const Array& array, std::size_t depth) {
        out_ += '[';
        bool first = true;
        for (const Value& element : array) {
            separate(first, depth);
            value(element, depth);
        }
        close(array.empty(), depth, ']');
    }

    void separate(bool& first, std::size_t depth) {
        if (!first) out_ += ',';
        first = false;
        new_line(depth);
    }

    void close(bool empty, std::size_t depth, char bracket) {
        if (!empty) new_line(depth - 1);
        out_ += bracket;
    }

    void new_line(std::size_t depth) {
        if (!indent_) return;
        out_ += '\n';
        out_.append(*indent_ * depth, ' ');
    }

    std::string& out_;
    std::optional<std::size_t> indent_;
};

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const std::size_t plain = plain_length(text);
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        const core::Decoded first = core::decode_at(text, 0);
        if (!first.valid()) {
            out += kReplacement;
        } else if (first.length == 1) {
            append_escaped(out, text[0]);
        } else {
            out += text.substr(0, first.length);
        }
        text.remove_prefix(first.length);
    }
    out += '"';
}

std::string quoted(std::string_view text, std::size_t max_code_points) {
    const std::string_view shown = core::first_code_points(text, max_code_points);
    std::string out;
    append_quoted(out, shown);
    if (shown.size() < text.size()) out.insert(out.size() - 1, "…");
    return out;
}

void print_to(std::string& out, const Value& value) {
    Printer(out, std::nullopt).value(value, 0);
}

void print_to(std::string& out, const Object& object) {
    Printer(out, std::nullopt).object(object, 1);
}

std::string print(const Value& value) {
    std::string out;
    print_to(out, value);
    return out;
}

std::string print_pretty(const Value& value, std::size_t indent) {
    std::string out;
    Printer(out, indent).value(value, 0);
    return out;
}

}  // namespace braid::json
