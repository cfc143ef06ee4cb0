#include "braid/text/unit_reader.hpp"

#include "braid/core/utf8.hpp"

namespace braid::text {

UnitReader::UnitReader(std::string_view text, bool turkish) noexcept
    : text_(text), turkish_(turkish) {}

void UnitReader::seek(std::size_t at) {
    next_ = at;
    at_end_ = false;
    expansion_.size = 0;
    expanded_ = 0;
    read_char();
    advance();
}

CharInfo UnitReader::folded(char32_t code_point) const noexcept {
    if (turkish_ && code_point == U'I') return {U'\u0131', CharKind::Letter, LetterCase::Upper};
    if (turkish_ && code_point == U'\u0130') return {U'i', CharKind::Letter, LetterCase::Upper};
    return char_info(code_point);
}

void UnitReader::read_char() {
    while (true) {
        if (expanded_ < expansion_.size) {
            ahead_.info = expansion_.chars[expanded_];
            ahead_.first = expanded_ == 0;
            ++expanded_;
            if (ahead_.info.kind == CharKind::Ignored) continue;
            return;
        }
        ahead_.present = next_ < text_.size();
        if (!ahead_.present) return;
        const auto [code_point, length] = core::decode_at(text_, next_);
        ahead_.begin = static_cast<std::uint32_t>(next_);
        next_ += length;
        ahead_.end = static_cast<std::uint32_t>(next_);
        ahead_.first = true;
        ahead_.info = code_point == core::kInvalidBytes ? CharInfo{} : folded(code_point);
        if (ahead_.info.expands) {
            expansion_ = expand(code_point);
            expanded_ = 0;
            continue;
        }
        if (ahead_.info.kind != CharKind::Ignored) return;
    }
}

void UnitReader::advance() {
    if (!ahead_.present) {
        at_end_ = true;
        return;
    }
    read_unit();
}

void UnitReader::read_unit() {
    // Unicode's stream-safe format allows as many; a text that piles up more means no word by it.
    static constexpr std::size_t kMaxMarks = 30;
    const CharInfo base = ahead_.info;
    unit_.kind = base.kind == CharKind::Mark ? CharKind::Separator : base.kind;
    unit_.letter_case = base.letter_case;
    unit_.script = base.script;
    unit_.begin = ahead_.begin;
    unit_.end = ahead_.end;
    unit_is_first_ = ahead_.first;
    unit_.text.clear();
    read_char();

    const bool carries_marks = unit_.is_word() || unit_.kind == CharKind::Pair;
    if (!carries_marks || !ahead_.present || ahead_.info.kind != CharKind::Mark) {
        core::append_utf8(unit_.text, base.folded);
        return;
    }
    std::array<char32_t, kMaxMarks + 1> cluster{base.folded};
    std::size_t size = 1;
    while (ahead_.present && ahead_.info.kind == CharKind::Mark) {
        if (size < cluster.size()) cluster[size++] = ahead_.info.folded;
        unit_.end = ahead_.end;
        read_char();
    }
    size = compose(cluster.data(), size);
    for (std::size_t i = 0; i < size; ++i) core::append_utf8(unit_.text, cluster[i]);
}

}  // namespace braid::text
