#include "braid/json/strict_parse.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "braid/core/hex.hpp"
#include "braid/core/utf8.hpp"
#include "braid/json/number.hpp"
#include "braid/json/quote.hpp"

namespace braid::json {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

bool is_word(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string hex_byte(char c) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    return {'0', 'x', digits[byte >> 4U], digits[byte & 0xFU]};
}

/// What fail() returns, which any Result can be made from.
using Failure = decltype(invalid_argument(std::string()));

class StrictParser {
public:
    StrictParser(std::string_view text, const ParseLimits& limits)
        : text_(text), limits_(limits), max_depth_(std::min(limits.max_depth, kMaxDepth)) {}

    Result<Value> document() {
        BRAID_TRY(Value root, value(0));
        skip_space();
        if (!at_end()) return expected("the end of the text");
        return root;
    }

private:
    Failure wrong(const std::string& message, std::size_t at) const {
        const std::string_view before = text_.substr(0, at);
        const auto line = std::count(before.begin(), before.end(), '\n') + 1;
        std::string_view in_line = before.substr(before.rfind('\n') + 1);
        std::size_t column = 1;
        while (!in_line.empty()) {
            in_line.remove_prefix(core::decode_at(in_line, 0).length);
            ++column;
        }
        std::ostringstream out;
        out << "line " << line << ", column " << column << ": " << message;
        return invalid_argument(out.str());
    }

    Failure wrong(const std::string& message) const { return wrong(message, at_); }

    Failure expected(std::string_view what) const {
        return wrong("expected " + std::string(what) + ", found " + found());
    }

    /// What stands at the current position: a whole word, or one character.
    std::string found() const {
        const std::string_view rest = text_.substr(at_);
        if (rest.empty()) return "the end of the text";
        if (rest.starts_with(kByteOrderMark)) return "a byte order mark";
        const char c = rest[0];
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            return "control character " + hex_byte(c);
        }
        const core::Decoded first = core::decode_at(rest, 0);
        if (!first.valid()) return "invalid UTF-8: byte " + hex_byte(c);
        std::size_t length = first.length;
        if (is_word(c)) {
            while (length < std::min<std::size_t>(rest.size(), 20) && is_word(rest[length]))
                ++length;
        }
        return "'" + std::string(rest.substr(0, length)) + "'";
    }

    bool at_end() const noexcept { return at_ == text_.size(); }
    bool next_is(char c) const noexcept { return !at_end() && text_[at_] == c; }
    bool next_is_digit() const noexcept { return !at_end() && is_digit(text_[at_]); }

    bool take(char c) noexcept {
        if (!next_is(c)) return false;
        ++at_;
        return true;
    }

    void skip_space() noexcept {
        at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size());
    }

    Result<Value> value(std::size_t depth) {
        skip_space();
        if (at_end()) return expected("a value");
        const char c = text_[at_];
        if (c == '{' || c == '[') {
            if (depth == max_depth_) {
                return wrong("nested deeper than " + std::to_string(max_depth_));
            }
            return c == '{' ? object(depth + 1) : array(depth + 1);
        }
        if (c == '"') return string().map([](std::string s) { return Value(std::move(s)); });
        if (c == '-' || is_digit(c)) return number();
        return word();
    }

    Result<Value> object(std::size_t depth) {
        ++at_;
        Object members;
        skip_space();
        if (take('}')) return members;
        std::string_view what = "a key or '}'";
        for (;;) {
            skip_space();
            if (!next_is('"')) return expected(what);
            const std::size_t key_at = at_;
            BRAID_TRY(const std::string key, string());
            skip_space();
            if (!take(':')) return expected("':' after a key");
            BRAID_TRY(Value member, value(depth));
            const std::size_t before = members.size();
            members.set(key, std::move(member));
            if (members.size() == before)
                return wrong("duplicate key " + json::quoted(key), key_at);
            if (members.size() > limits_.max_members) {
                return wrong(
                    "an object has more than " + std::to_string(limits_.max_members) + " members",
                    key_at);
            }
            skip_space();
            if (take('}')) return members;
            if (!take(',')) return expected("',' or '}' after a member");
            what = "a key after ','";
        }
    }

    Result<Value> array(std::size_t depth) {
        ++at_;
        Array elements;
        skip_space();
        if (take(']')) return elements;
        for (;;) {
            BRAID_TRY(Value element, value(depth));
            elements.push_back(std::move(element));
            skip_space();
            if (take(']')) return elements;
            if (!take(',')) return expected("',' or ']' after an element");
        }
    }

    /// true, false or null.
    Result<Value> word() {
        std::size_t length = 0;
        while (at_ + length < text_.size() && is_word(text_[at_ + length])) ++length;
        const std::string_view word = text_.substr(at_, length);
        if (word != "true" && word != "false" && word != "null") return expected("a value");
        at_ += length;
        if (word == "null") return Value();
        return Value(word == "true");
    }

    Result<Value> number() {
        const std::size_t begin = at_;
        take('-');
        if (!next_is_digit()) return expected("a digit after '-'");
        if (take('0')) {
            if (next_is_digit()) return expected("'.', 'e' or no more after a leading 0");
        } else {
            skip_digits();
        }
        if (take('.')) {
            if (!next_is_digit()) return expected("a digit after '.'");
            skip_digits();
        }
        if (take('e') || take('E')) {
            if (!take('+')) take('-');
            if (!next_is_digit()) return expected("a digit in an exponent");
            skip_digits();
        }
        const std::string_view token = text_.substr(begin, at_ - begin);
        std::optional<Value> value = number_value(token);
        if (!value) return wrong("number too large for a double: " + shortened(token), begin);
        return *std::move(value);
    }

    void skip_digits() noexcept {
        while (next_is_digit()) ++at_;
    }

    static std::string shortened(std::string_view token) {
        if (token.size() <= 40) return std::string(token);
        return std::string(token.substr(0, 40)) + "…";
    }

    Result<std::string> string() {
        ++at_;
        std::string out;
        for (;;) {
            const std::size_t begin = at_;
            BRAID_CHECK(skip_plain());
            out += text_.substr(begin, at_ - begin);
            if (at_end()) return expected("'\"' at the end of a string");
            if (take('"')) return out;
            BRAID_CHECK(escape(out));
        }
    }

    /// Up to the next quote or backslash, or the end.
    Result<> skip_plain() {
        while (!at_end() && text_[at_] != '"' && text_[at_] != '\\') {
            if (static_cast<unsigned char>(text_[at_]) < 0x20) {
                return wrong("control character " + hex_byte(text_[at_]) +
                             " in a string must be escaped");
            }
            const core::Decoded step = core::decode_at(text_, at_);
            if (!step.valid()) return wrong("invalid UTF-8: byte " + hex_byte(text_[at_]));
            at_ += step.length;
        }
        return {};
    }

    Result<> escape(std::string& out) {
        constexpr std::string_view letters = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        const std::size_t begin = at_;
        ++at_;
        if (take('u')) return unicode_escape(out, begin);
        const std::size_t which = at_end() ? std::string_view::npos : letters.find(text_[at_]);
        if (which == std::string_view::npos) return expected("one of \"\\/bfnrtu after '\\'");
        out += meanings[which];
        ++at_;
        return {};
    }

    Result<> unicode_escape(std::string& out, std::size_t begin) {
        BRAID_TRY(char32_t code_point, four_hex_digits());
        if (code_point >= 0xDC00 && code_point <= 0xDFFF) {
            return wrong("\\u escape of the second half of a surrogate pair without the first",
                         begin);
        }
        if (code_point >= 0xD800 && code_point <= 0xDBFF) {
            const std::string_view lone = "\\u escape of half a surrogate pair";
            if (!text_.substr(at_).starts_with("\\u")) return wrong(std::string(lone), begin);
            at_ += 2;
            BRAID_TRY(const char32_t second, four_hex_digits());
            if (second < 0xDC00 || second > 0xDFFF) return wrong(std::string(lone), begin);
            code_point = 0x10000 + ((code_point - 0xD800) << 10U) + (second - 0xDC00);
        }
        core::append_utf8(out, code_point);
        return {};
    }

    Result<char32_t> four_hex_digits() {
        char32_t code_point = 0;
        for (int i = 0; i < 4; ++i) {
            const int digit = at_end() ? -1 : core::hex_digit(text_[at_]);
            if (digit < 0) return expected("four hexadecimal digits after \\u");
            code_point = code_point * 16 + static_cast<char32_t>(digit);
            ++at_;
        }
        return code_point;
    }

    std::string_view text_;
    const ParseLimits& limits_;
    std::size_t max_depth_;
    std::size_t at_ = 0;
};

}  // namespace

Result<Value> parse_strictly(std::string_view text, const ParseLimits& limits) {
    return StrictParser(text, limits).document();
}

}  // namespace braid::json
