#include "braid/text/standard.hpp"

#include <algorithm>
#include <array>

#include "braid/text/accents.hpp"

namespace braid::text {
namespace {

enum class Ascii : std::uint8_t {
    Separator,
    Letter,
    Complex,  // needs the full rules: digits, underscores, what is not ASCII
    Joiner,   // ends a word unless another follows
};

constexpr std::array<Ascii, 256> kAscii = [] {
    std::array<Ascii, 256> classes{};
    for (std::size_t c = 0; c < classes.size(); ++c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool complex = (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
        classes[c] = letter ? Ascii::Letter : complex ? Ascii::Complex : Ascii::Separator;
    }
    for (const char c : {'.', '-', '@', '&', '\'', ':', '+', '#'}) {
        classes[static_cast<unsigned char>(c)] = Ascii::Joiner;
    }
    return classes;
}();

Ascii ascii_class(std::string_view text, std::size_t at) noexcept {
    return at < text.size() ? kAscii[static_cast<unsigned char>(text[at])] : Ascii::Separator;
}

/// `.NET` is a word after a space, `.bar` is none in `foo().bar()`.
bool may_start_word(std::string_view text, std::size_t dot) noexcept {
    return dot == 0 ||
           std::string_view(" \t\r\n([{\"'`").find(text[dot - 1]) != std::string_view::npos;
}

bool has_digit(std::string_view word) noexcept {
    return word.find_first_of("0123456789") != std::string_view::npos;
}

/// `1,000` and `12,345.6`: commas between groups of three digits.
bool is_grouped_number(std::string_view text) noexcept {
    std::size_t comma = text.find(',');
    if (comma == 0 || comma == std::string_view::npos || comma > 3) return false;
    const std::size_t digits_end = std::min(text.find('.'), text.size());
    for (; comma < digits_end; comma += 4) {
        const std::string_view group = text.substr(comma, 4);
        if (group.size() < 4 || group.rfind(',') != 0) return false;
    }
    return comma == digits_end && text.find(',', digits_end) == std::string_view::npos;
}

/// Whether the word that ends before `end` is surely no part of a compound.
bool ends_plain_word(std::string_view text, std::size_t end) noexcept {
    switch (ascii_class(text, end)) {
        case Ascii::Separator:
            return true;
        case Ascii::Joiner:
            break;
        default:
            return false;
    }
    if (text[end] == '+' || text[end] == '#') return false;
    const Ascii after = ascii_class(text, end + 1);
    if (text[end] == ':')
        return after != Ascii::Complex && (end + 1 >= text.size() || text[end + 1] != ':');
    return after == Ascii::Separator || after == Ascii::Joiner;
}

}  // namespace

StandardTokenizer::StandardTokenizer(const Options& options)
    : stemmer_(options.language),
      function_words_(StopWords::of(options.language)),
      turkish_(options.language == "turkish"),
      fast_ascii_(options.fast_ascii),
      native_letters_(native_letters(options.language)) {}

void StandardTokenizer::run(std::string_view text, TokenWriter& writer, bool stop_words) {
    writer_ = &writer;
    stop_words_ = stop_words;
    position_ = 0;
    const bool fast = fast_ascii_ && !turkish_;
    UnitReader reader(text, turkish_);
    std::size_t at = fast ? plain_words(text, 0) : 0;
    reader.seek(at);
    while (!reader.at_end()) {
        const Unit& unit = reader.unit();
        if (fast && reader.at_boundary() &&
            kAscii[static_cast<unsigned char>(text[unit.begin])] != Ascii::Complex) {
            at = plain_words(text, unit.begin);
            if (at != unit.begin) {
                reader.seek(at);
                continue;
            }
        }
        switch (unit.kind) {
            case CharKind::Letter:
            case CharKind::Digit:
            case CharKind::Joiner:
                chain(reader, text);
                break;
            case CharKind::Pair:
                pairs(reader);
                break;
            case CharKind::Symbol:
                writer_->write(unit.text, position_++, unit.begin, unit.end);
                reader.advance();
                break;
            default:
                reader.advance();
        }
    }
}

/// Writes plain ASCII words from `at` on; returns where something else starts.
std::size_t StandardTokenizer::plain_words(std::string_view text, std::size_t at) {
    while (at < text.size()) {
        const Ascii first = ascii_class(text, at);
        if (first == Ascii::Complex) return at;
        if (first != Ascii::Letter) {
            if (text[at] == '.' && ascii_class(text, at + 1) != Ascii::Separator &&
                may_start_word(text, at)) {
                return at;
            }
            ++at;
            continue;
        }
        std::size_t end = at;
        std::size_t upper = 0;
        while (ascii_class(text, end) == Ascii::Letter) {
            upper += text[end] < 'a' ? 1 : 0;
            ++end;
        }
        const std::size_t size = end - at;
        const bool one_case = upper == 0 || upper == size || (upper == 1 && text[at] < 'a');
        if (!one_case || size > kMaxTermBytes || !ends_plain_word(text, end)) return at;
        word_.assign(text, at, size);
        if (upper != 0) {
            for (char& c : word_) c = static_cast<char>(c | 0x20);
        }
        if (!stop_words_ || !function_words_.has(word_)) {
            write_stem(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end));
        }
        ++position_;
        at = end;
    }
    return at;
}

void StandardTokenizer::write_word(const Piece& piece) {
    word_ = piece.text;
    if (stop_words_ && function_words_.has(word_)) return;
    fold_accents(word_, buffer_, native_letters_);
    if (has_digit(word_)) {
        // The stem of a code (`deadbeef42`) would only be a shorter code.
        fold_accents(word_, buffer_);
        writer_->write(word_, position_, piece.begin, piece.end);
    } else {
        write_stem(piece.begin, piece.end);
    }
}

/// Writes the stem of word_.
void StandardTokenizer::write_stem(std::uint32_t begin, std::uint32_t end) {
    stemmer_.stem(word_);
    if (!native_letters_.empty()) fold_accents(word_, buffer_);
    writer_->write(word_, position_, begin, end);
}

void StandardTokenizer::write_unstemmed(const Piece& piece) {
    word_ = piece.text;
    fold_accents(word_, buffer_);
    writer_->write(word_, position_, piece.begin, piece.end);
}

void StandardTokenizer::chain(UnitReader& reader, std::string_view text) {
    if (!chain_.read(reader, may_start_word(text, reader.unit().begin))) return;
    const Piece& whole = chain_.whole();
    if (!whole.text.empty()) {
        // A query may be written without capitals, and then it is a plain word, and stemmed.
        if (chain_.is_one_word()) {
            write_word(whole);
        } else {
            write_unstemmed(whole);
        }
    }
    for (const Chain::Part& part : chain_.parts()) {
        const Piece& suffixed = part.with_suffix;
        if (!suffixed.text.empty() && suffixed.text != whole.text) write_unstemmed(suffixed);
        write_word(part);
        if (is_grouped_number(part.text)) {
            std::erase(word_, ',');
            writer_->write(word_, position_, part.begin, part.end);
        }
        ++position_;
    }
}

void StandardTokenizer::pairs(UnitReader& reader) {
    const PairScript script = reader.unit().script;
    std::size_t count = 0;
    Piece last;  // its text is in word_
    for (;
         !reader.at_end() && reader.unit().kind == CharKind::Pair && reader.unit().script == script;
         reader.advance()) {
        const Unit& unit = reader.unit();
        if (count > 0) {
            word_ += unit.text;
            writer_->write(word_, position_++, last.begin, unit.end);
        }
        word_ = unit.text;
        last.begin = unit.begin;
        last.end = unit.end;
        ++count;
    }
    if (count == 1) writer_->write(word_, position_++, last.begin, last.end);
}

}  // namespace braid::text
