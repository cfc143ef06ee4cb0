#include "braid/text/chain.hpp"

#include <algorithm>

#include "braid/text/analyzer.hpp"

namespace braid::text {
namespace {

constexpr std::size_t kMaxUnderscores = 2;  // in a row: more of them are a drawn line

constexpr std::string_view kContractions[] = {"s", "t", "d", "m", "re", "ve", "ll"};

std::size_t suffix_size(std::string_view tail) noexcept {
    if (tail.starts_with("++")) return 2;
    return tail.starts_with('+') || tail.starts_with('#') ? 1 : 0;
}

bool all_underscores(std::string_view tail) noexcept {
    return tail.find_first_not_of('_') == std::string_view::npos;
}

}  // namespace

bool Chain::read(UnitReader& reader, bool may_start_with_dot) {
    text_.clear();
    links_.clear();
    words_end_ = 0;
    word_start_ = 0;
    bool before_word = false;
    for (; !reader.at_end(); reader.advance()) {
        const Unit& unit = reader.unit();
        if (unit.is_word()) {
            before_word = !may_push_word(unit);
            if (before_word) break;
        } else if (unit.kind != CharKind::Joiner) {
            break;
        } else if (!may_push_joiner(unit.ascii(), may_start_with_dot)) {
            if (links_.empty()) reader.advance();
            break;
        }
        push(unit);
    }
    if (words_end_ == 0) return false;
    drop_tail(before_word);

    parts_.clear();
    whole_ = {};
    find_atoms();
    if (is_initials()) {
        collapse_initials();
        return true;
    }
    for (const Atom& atom : atoms_) split(atom);
    find_whole();
    return true;
}

std::string_view Chain::tail() const noexcept {
    // Every joiner is one byte.
    return std::string_view(text_).substr(text_.size() - (links_.size() - words_end_));
}

bool Chain::may_push_joiner(char joiner, bool may_start_with_dot) const noexcept {
    const std::string_view before = tail();
    if (text_.size() > kMaxTermBytes) return false;
    if (joiner == '_') return all_underscores(before);
    if (words_end_ == 0) return joiner == '.' && before.empty() && may_start_with_dot;

    const CharKind last = links_[words_end_ - 1].kind;
    const bool after_word = before.size() == suffix_size(before);
    switch (joiner) {
        case '+':
            return before == "+" || (before.empty() && last == CharKind::Letter);
        case '#':
            return before.empty() && last == CharKind::Letter;
        case ':':
            return after_word || (before.ends_with(':') && !before.ends_with("::"));
        case ',':
            return after_word && last == CharKind::Digit;
        default:
            return after_word;
    }
}

bool Chain::may_push_word(const Unit& unit) const noexcept {
    const std::string_view before = tail();
    if (before.empty()) return true;
    const bool letter = unit.kind == CharKind::Letter;
    if (words_end_ == 0) return before.front() != '.' || letter;
    switch (before.back()) {
        case '&':
        case '\'':
            return letter && links_[words_end_ - 1].kind == CharKind::Letter;
        case ',':
            return !letter;
        case ':':
            return before.ends_with("::");
        case '+':  // C++17
            return before == "++" && !letter;
        case '#':
            return false;
        default:
            return true;
    }
}

void Chain::push(const Unit& unit) {
    const std::size_t tail_size = links_.size() - words_end_;
    if (unit.is_word()) {
        if (words_end_ == 0 || tail_size > 0) word_start_ = text_.size();
        if (text_.size() - word_start_ + unit.text.size() > kMaxTermBytes) {
            links_.back().end = unit.end;  // the word is cut, but still ends where it ends
            return;
        }
    } else if (unit.ascii() == '_' && tail_size > kMaxUnderscores) {
        return;
    }
    links_.push_back({unit.begin, unit.end, static_cast<std::uint32_t>(text_.size()), unit.kind,
                      unit.letter_case, unit.ascii()});
    text_ += unit.text;
    if (unit.is_word()) words_end_ = links_.size();
}

void Chain::drop_tail(bool before_word) {
    const std::string_view after = tail();
    if (all_underscores(after)) return;
    std::size_t kept = suffix_size(after);
    if (before_word && kept == after.size()) kept = 0;  // a+b
    text_.resize(text_.size() - after.size() + kept);
    links_.resize(words_end_ + kept);
}

bool Chain::is_number_point(std::size_t link) const noexcept {
    return (links_[link].ascii == '.' || links_[link].ascii == ',') && link > 0 &&
           link + 1 < links_.size() && links_[link - 1].kind == CharKind::Digit &&
           links_[link + 1].kind == CharKind::Digit;
}

/// Where the contraction after this apostrophe ends; 0 if none stands there.
std::size_t Chain::contraction_end(std::size_t apostrophe) const noexcept {
    std::size_t end = apostrophe + 1;
    while (end < links_.size() && links_[end].is_word()) ++end;
    if (end == apostrophe + 1) return 0;
    const std::string_view text = piece(apostrophe + 1, end).text;
    return std::ranges::find(kContractions, text) != std::end(kContractions) ? end : 0;
}

void Chain::find_atoms() {
    atoms_.clear();
    std::size_t at = 0;
    while (at < words_end_) {
        if (!links_[at].is_word()) {
            ++at;
            continue;
        }
        std::size_t last = at;
        while (last < words_end_) {
            if (links_[last].is_word() || is_number_point(last)) {
                ++last;
            } else if (links_[last].ascii == '\'' && contraction_end(last) != 0) {
                last = contraction_end(last);
            } else {
                break;
            }
        }
        std::size_t suffix_last = last;
        while (suffix_last < links_.size() &&
               (links_[suffix_last].ascii == '+' || links_[suffix_last].ascii == '#')) {
            ++suffix_last;
        }
        atoms_.push_back({at, last, suffix_last});
        at = suffix_last;
    }
}

/// Single letters with a dot between each two: `U.S.A`, `e.g`.
bool Chain::is_initials() const noexcept {
    if (atoms_.size() < 2 || links_.size() != 2 * atoms_.size() - 1) return false;
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const bool fits = i % 2 == 0 ? links_[i].kind == CharKind::Letter : links_[i].ascii == '.';
        if (!fits) return false;
    }
    return true;
}

void Chain::collapse_initials() {
    initials_.clear();
    for (std::size_t i = 0; i < links_.size(); i += 2) initials_ += piece(i, i + 1).text;
    Part part;
    part.text = initials_;
    part.begin = links_.front().begin;
    part.end = links_.back().end;
    parts_.push_back(part);
}

Piece Chain::piece(std::size_t first, std::size_t last) const noexcept {
    const std::size_t start = links_[first].text;
    const std::size_t end = last < links_.size() ? links_[last].text : text_.size();
    return {std::string_view(text_).substr(start, end - start), links_[first].begin,
            links_[last - 1].end};
}

void Chain::split(const Atom& atom) {
    std::size_t first = atom.first;
    for (std::size_t i = atom.first + 1; i < atom.last; ++i) {
        if (!case_turns(i, atom)) continue;
        split_digits(first, i);
        first = i;
    }
    split_digits(first, atom.last);
    if (atom.suffix_last > atom.last) {
        parts_.back().with_suffix = piece(first, atom.suffix_last);
    }
}

/// Whether a new word starts here: `get|User`, `HTTP|Server`, `HTML5|Parser`, but `URLs`.
bool Chain::case_turns(std::size_t link, const Atom& atom) const noexcept {
    if (links_[link].letter_case != LetterCase::Upper) return false;
    const Link& before = links_[link - 1];
    if (before.letter_case == LetterCase::Lower) return true;
    if (before.letter_case == LetterCase::None && before.kind != CharKind::Digit) return false;
    const std::size_t after = link + 1;
    if (after >= atom.last || links_[after].letter_case != LetterCase::Lower) return false;
    const bool plural = links_[after].ascii == 's' && after + 1 == atom.last;
    return before.kind == CharKind::Digit || !plural;
}

/// `utf8` has two parts, but a code such as `k8s` or `a3f9c2` is left whole.
void Chain::split_digits(std::size_t first, std::size_t last) {
    const auto numeric = [this](std::size_t link) {
        const char c = links_[link].ascii;
        return links_[link].kind == CharKind::Digit || c == '.' || c == ',';
    };
    std::size_t borders = 0;
    std::size_t border = 0;
    for (std::size_t i = first + 1; i < last; ++i) {
        if (numeric(i) == numeric(i - 1)) continue;
        ++borders;
        border = i;
    }
    if (borders == 1) {
        parts_.push_back({piece(first, border)});
        first = border;
    }
    parts_.push_back({piece(first, last)});
}

void Chain::find_whole() {
    const Atom& front = atoms_.front();
    const Atom& back = atoms_.back();
    const std::size_t first = front.first > kMaxUnderscores ? front.first : 0;
    std::size_t last =
        links_.size() - back.suffix_last > kMaxUnderscores ? back.suffix_last : links_.size();
    if (parts_.size() == 1 && first == front.first && last == back.last) return;
    one_word_ = atoms_.size() == 1 && first == front.first && last == back.last;
    if (last == back.last && piece(back.first, back.last).text.ends_with("'s")) last -= 2;
    whole_ = piece(first, last);
    if (whole_.text.size() > kMaxTermBytes) whole_ = {};
}

}  // namespace braid::text
