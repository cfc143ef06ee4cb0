#include "braid/retrieval/query_language.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "braid/core/utf8.hpp"

namespace braid::retrieval {
namespace {

using Kind = QueryClause::Kind;
using Occur = QueryClause::Occur;

constexpr std::uint32_t kMostWrongLetters = 2;
constexpr std::uint32_t kMostWordsBetween = 1000;
constexpr double kLeastBoost = 0.001;
constexpr double kMostBoost = 1000;
constexpr std::string_view kWordEnds = "\"()^";

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

bool is_field_letter(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

/// Bytes of the white space that a text begins with: ASCII's, the no-break and the wide one.
std::size_t space_bytes(std::string_view text) noexcept {
    if (text.empty()) return 0;
    if (std::string_view(" \t\n\r\f\v").find(text.front()) != std::string_view::npos) return 1;
    if (text.starts_with("\u00A0")) return 2;
    return text.starts_with("\u3000") ? 3 : 0;
}

class Parser {
public:
    Parser(std::string_view text, std::span<const TextField> fields)
        : text_(text), fields_(fields) {}

    ParsedQuery parse() {
        ParsedQuery parsed;
        QueryClause root;
        root.kind = Kind::Group;
        if (read_group(root, "", 0)) {
            parsed.clause = std::move(root);
        } else {
            parsed.problem = std::move(problem_);
        }
        parsed.notes = std::move(notes_);
        return parsed;
    }

private:
    // Each returns false if there is a problem.

    bool read_group(QueryClause& group, const std::string& field, std::size_t depth) {
        const std::size_t start = at_;
        while (true) {
            skip_spaces();
            if (at_end()) {
                return depth == 0 || problem("the parenthesis", start - 1, "is never closed");
            }
            if (next() == ')') {
                if (depth == 0) return problem("the parenthesis", at_, "was never opened");
                if (group.clauses.empty()) return problem("the parenthesis", at_, "is empty");
                ++at_;
                return true;
            }
            if (++clauses_ > kMostClauses) {
                problem_ = "it has more than " + std::to_string(kMostClauses) + " clauses";
                return false;
            }
            QueryClause& clause = group.clauses.emplace_back();
            if (!read_clause(clause, field, depth)) return false;
            if (clause.kind != Kind::Prefix && clause.kind != Kind::Fuzzy) continue;
            if (++patterns_ > kMostPatterns) {
                problem_ = "it has more than " + std::to_string(kMostPatterns) + " patterns";
                return false;
            }
        }
    }

    bool read_clause(QueryClause& clause, const std::string& field, std::size_t depth) {
        if (next() == '+' || next() == '-') {
            clause.occur = next() == '+' ? Occur::Must : Occur::Not;
            const std::size_t sign = at_++;
            if (at_end() || space_bytes(rest()) > 0 || next() == ')') {
                return problem("the sign", sign, "has nothing after it");
            }
        }
        clause.field = field;
        read_field(clause.field);
        if (at_end()) return problem("the field", at_, "has nothing after it");
        if (next() == '"') {
            if (!read_phrase(clause)) return false;
        } else if (next() == '(') {
            return read_nested(clause, std::exchange(clause.field, ""), depth);
        } else if (!read_word(clause)) {
            return false;
        }
        return read_boost(clause.boost);
    }

    bool read_nested(QueryClause& clause, const std::string& field, std::size_t depth) {
        if (depth == kMostNested) return problem("the parenthesis", at_, "is nested too deeply");
        ++at_;
        clause.kind = Kind::Group;
        if (!read_group(clause, field, depth + 1)) return false;
        double boost = 1;
        if (!read_boost(boost)) return false;
        if (boost != 1) raise(clause, boost);
        return true;
    }

    static void raise(QueryClause& clause, double boost) {
        if (clause.kind != Kind::Group) {
            clause.boost = std::clamp(clause.boost * boost, kLeastBoost, kMostBoost);
        }
        for (QueryClause& inner : clause.clauses) raise(inner, boost);
    }

    /// A field's name and a colon, if that is what follows.
    void read_field(std::string& field) {
        std::size_t end = at_;
        while (end < text_.size() && is_field_letter(text_[end])) ++end;
        if (end == at_ || end >= text_.size() || text_[end] != ':') return;
        const std::string_view after = text_.substr(end + 1);
        if (after.empty() || after.front() == ':' || after.front() == '/') return;
        if (space_bytes(after) > 0) return;
        const std::string_view name = text_.substr(at_, end - at_);
        if (std::ranges::find(fields_, name, &TextField::name) != fields_.end()) {
            field = name;
            at_ = end + 1;
        } else if (!std::ranges::all_of(name, is_digit)) {
            notes_.push_back("there is no text field \"" + std::string(name) +
                             "\": it was searched as a word");
        }
    }

    bool read_phrase(QueryClause& clause) {
        const std::size_t start = at_++;
        clause.kind = Kind::Phrase;
        while (!at_end() && next() != '"') clause.text += take_plain();
        if (at_end()) return problem("the quotation mark", start, "is never closed");
        ++at_;
        if (at_end() || next() != '~') return true;
        const std::size_t tilde = at_++;
        const auto words = read_number();
        if (words && *words <= kMostWordsBetween) {
            clause.distance = *words;
            return true;
        }
        return problem("the tilde", tilde,
                       "needs a number up to " + std::to_string(kMostWordsBetween) +
                           " after it: how many other words may come between those of the phrase");
    }

    bool read_word(QueryClause& clause) {
        const std::size_t start = at_;
        std::string& word = clause.text;
        while (!at_end() && space_bytes(rest()) == 0 &&
               kWordEnds.find(next()) == std::string_view::npos) {
            if (next() == '*' && ends_word(at_ + 1)) {
                ++at_;
                clause.kind = Kind::Prefix;
                break;
            }
            if (next() == '~' && !word.empty() && ends_word(digits_end(at_ + 1))) {
                return read_wrong_letters(clause);
            }
            word += take_plain();
        }
        if (!word.empty()) return true;
        return problem(at_ > start ? "the star" : "the sign", start, "stands alone");
    }

    bool read_wrong_letters(QueryClause& clause) {
        const std::size_t tilde = at_++;
        const bool given = !at_end() && is_digit(next());
        const auto letters = given ? read_number() : std::optional<std::uint32_t>(1);
        if (!letters || *letters == 0 || *letters > kMostWrongLetters) {
            return problem("the tilde", tilde, "takes 1 or 2 after a word: how many wrong letters");
        }
        clause.kind = Kind::Fuzzy;
        clause.distance = *letters;
        return true;
    }

    /// What stands behind a ^, if one follows.
    bool read_boost(double& boost) {
        if (at_end() || next() != '^') return true;
        const std::size_t mark = at_++;
        std::size_t end = digits_end(at_);
        if (end < text_.size() && text_[end] == '.') end = digits_end(end + 1);
        double factor = 0;
        const std::string_view number = text_.substr(at_, end - at_);
        const auto [stop, error] =
            std::from_chars(number.data(), number.data() + number.size(), factor);
        if (error != std::errc() || stop != number.data() + number.size() ||
            !(factor >= kLeastBoost) || factor > kMostBoost) {
            return problem("the ^", mark, "needs a number from 0.001 to 1000 after it");
        }
        at_ = end;
        boost = factor;
        return true;
    }

    std::optional<std::uint32_t> read_number() {
        const std::size_t end = digits_end(at_);
        std::uint32_t number = 0;
        const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + end, number);
        if (error != std::errc() || at_ == end) return std::nullopt;
        at_ = end;
        return number;
    }

    /// One byte, or the one that a backslash protects.
    char take_plain() {
        if (next() == '\\' && at_ + 1 < text_.size()) ++at_;
        return text_[at_++];
    }

    bool at_end() const noexcept { return at_ >= text_.size(); }
    char next() const noexcept { return text_[at_]; }
    std::string_view rest() const noexcept { return text_.substr(at_); }
    std::size_t digits_end(std::size_t at) const noexcept {
        while (at < text_.size() && is_digit(text_[at])) ++at;
        return at;
    }
    bool ends_word(std::size_t at) const noexcept {
        return at >= text_.size() || space_bytes(text_.substr(at)) > 0 ||
               kWordEnds.find(text_[at]) != std::string_view::npos;
    }
    void skip_spaces() noexcept {
        while (const std::size_t bytes = space_bytes(rest())) at_ += bytes;
    }
    bool problem(std::string_view what, std::size_t at, const std::string& wrong) {
        problem_ = std::string(what) + " at character " +
                   std::to_string(core::count_code_points(text_.substr(0, at)) + 1) + " " + wrong;
        return false;
    }

    std::string_view text_;
    std::span<const TextField> fields_;
    std::size_t at_ = 0;
    std::size_t clauses_ = 0;
    std::size_t patterns_ = 0;
    std::string problem_;
    std::vector<std::string> notes_;
};

std::string number_text(double number) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                   std::chars_format::fixed);
    if (end.ec != std::errc()) return "1";
    return {digits.data(), end.ptr};
}

/// A word with a backslash before what would be an operator, here or behind a field.
std::string plain_word(std::string_view word) {
    std::string out;
    std::size_t name = 0;
    while (name < word.size() && is_field_letter(word[name])) ++name;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const char c = word[i];
        const char after = i + 1 < word.size() ? word[i + 1] : ' ';
        const bool first = i == 0 && std::string_view("+-:/").find(c) != std::string_view::npos;
        const bool mark = std::string_view("\\\"()^*~").find(c) != std::string_view::npos;
        const bool field = c == ':' && i == name && after != ':' && after != '/';
        if (first || mark || field || space_bytes(word.substr(i)) > 0) out += '\\';
        out += c;
    }
    return out;
}

std::string plain_phrase(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '"') out += '\\';
        out += c;
    }
    return out;
}

void write(const QueryClause& clause, std::string& out) {
    if (clause.occur == Occur::Must) out += '+';
    if (clause.occur == Occur::Not) out += '-';
    if (clause.kind == Kind::Group) {
        out += '(' + written(clause) + ')';
        return;
    }
    if (!clause.field.empty()) out += clause.field + ':';
    if (clause.kind == Kind::Phrase) {
        out += '"' + plain_phrase(clause.text) + '"';
    } else {
        out += plain_word(clause.text);
    }
    if (clause.kind == Kind::Prefix) out += '*';
    if (clause.distance > 0) out += '~' + std::to_string(clause.distance);
    if (clause.boost != 1) out += '^' + number_text(clause.boost);
}

}  // namespace

ParsedQuery parse_query(std::string_view text, std::span<const TextField> fields) {
    return Parser(text, fields).parse();
}

std::string written(const QueryClause& clause) {
    std::string out;
    if (clause.kind != Kind::Group) {
        write(clause, out);
        return out;
    }
    for (const QueryClause& inner : clause.clauses) {
        if (!out.empty()) out += ' ';
        write(inner, out);
    }
    return out;
}

std::string plain_text(const QueryClause& clause) {
    std::string text = clause.text;
    for (const QueryClause& inner : clause.clauses) {
        if (inner.occur == Occur::Not) continue;
        std::string words = plain_text(inner);
        if (!text.empty() && !words.empty()) text += ' ';
        text += words;
    }
    return text;
}

bool is_strict(const QueryClause& clause) {
    return std::ranges::any_of(clause.clauses, [](const QueryClause& inner) {
        return inner.occur != Occur::Optional || inner.kind == Kind::Phrase ||
               !inner.field.empty() || is_strict(inner);
    });
}

}  // namespace braid::retrieval
