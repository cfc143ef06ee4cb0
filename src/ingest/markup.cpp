#include "braid/ingest/markup.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "braid/core/utf8.hpp"
#include "braid/ingest/source_document.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kMostEntity = 32;  // bytes between "&" and ";"

constexpr auto kEntities = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"amp", "&"},
    {"lt", "<"},
    {"gt", ">"},
    {"quot", "\""},
    {"apos", "'"},
    {"nbsp", " "},
    {"copy", "©"},
    {"reg", "®"},
    {"trade", "™"},
    {"hellip", "…"},
    {"mdash", "—"},
    {"ndash", "–"},
    {"lsquo", "‘"},
    {"rsquo", "’"},
    {"sbquo", "‚"},
    {"ldquo", "“"},
    {"rdquo", "”"},
    {"bdquo", "„"},
    {"laquo", "«"},
    {"raquo", "»"},
    {"bull", "•"},
    {"middot", "·"},
    {"sect", "§"},
    {"para", "¶"},
    {"deg", "°"},
    {"plusmn", "±"},
    {"times", "×"},
    {"divide", "÷"},
    {"frac12", "½"},
    {"frac14", "¼"},
    {"frac34", "¾"},
    {"sup2", "²"},
    {"sup3", "³"},
    {"micro", "µ"},
    {"euro", "€"},
    {"pound", "£"},
    {"yen", "¥"},
    {"cent", "¢"},
    {"szlig", "ß"},
    {"auml", "ä"},
    {"ouml", "ö"},
    {"uuml", "ü"},
    {"Auml", "Ä"},
    {"Ouml", "Ö"},
    {"Uuml", "Ü"},
    {"eacute", "é"},
    {"egrave", "è"},
    {"ecirc", "ê"},
    {"euml", "ë"},
    {"agrave", "à"},
    {"aacute", "á"},
    {"acirc", "â"},
    {"atilde", "ã"},
    {"aring", "å"},
    {"aelig", "æ"},
    {"ccedil", "ç"},
    {"iacute", "í"},
    {"igrave", "ì"},
    {"icirc", "î"},
    {"iuml", "ï"},
    {"ntilde", "ñ"},
    {"oacute", "ó"},
    {"ograve", "ò"},
    {"ocirc", "ô"},
    {"otilde", "õ"},
    {"oslash", "ø"},
    {"uacute", "ú"},
    {"ugrave", "ù"},
    {"ucirc", "û"},
    {"yacute", "ý"},
    {"Eacute", "É"},
    {"Agrave", "À"},
    {"Aring", "Å"},
    {"AElig", "Æ"},
    {"Oslash", "Ø"},
    {"Ccedil", "Ç"},
    {"Ntilde", "Ñ"},
    {"iexcl", "¡"},
    {"iquest", "¿"},
    {"larr", "←"},
    {"rarr", "→"},
    {"uarr", "↑"},
    {"darr", "↓"},
    {"harr", "↔"},
    {"rArr", "⇒"},
    {"ne", "≠"},
    {"le", "≤"},
    {"ge", "≥"},
    {"infin", "∞"},
    {"minus", "−"},

    {"thinsp", " "},
    {"ensp", " "},
    {"emsp", " "},
    {"shy", ""},
    {"zwj", "\xE2\x80\x8D"},
    {"zwnj", "\xE2\x80\x8C"},
    {"check", "✓"},
    {"star", "☆"},
    {"dagger", "†"},
});

/// The Greek letters in the order of their code points, from U+03B1 on.
constexpr std::string_view kGreekNames =
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "sigmaf "
    "sigma tau upsilon phi chi psi omega";

std::optional<char32_t> greek_letter(std::string_view name) {
    char32_t code = 0x3B1;
    for (std::string_view rest = kGreekNames; !rest.empty(); ++code) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        if (rest.substr(0, end) == name) return code;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return std::nullopt;
}

bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_name(char c) {
    return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == ':' || c == '.';
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/// What "&name;" stands for; none if it is unknown.
std::optional<std::string> entity(std::string_view name) {
    if (name.starts_with('#')) {
        name.remove_prefix(1);
        const bool hex = name.starts_with('x') || name.starts_with('X');
        if (hex) name.remove_prefix(1);
        std::uint32_t code = 0;
        const char* const end = name.data() + name.size();
        const auto read = std::from_chars(name.data(), end, code, hex ? 16 : 10);
        const bool scalar = code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF);
        if (read.ec != std::errc() || read.ptr != end || !scalar || code == 0) return std::nullopt;
        std::string out;
        core::append_utf8(out, code);
        return out;
    }
    const auto known =
        std::ranges::find(kEntities, name, &std::pair<std::string_view, std::string_view>::first);
    if (known == kEntities.end()) {
        const auto letter = greek_letter(name);
        if (!letter) return std::nullopt;
        std::string out;
        core::append_utf8(out, *letter);
        return out;
    }
    return std::string(known->second);
}

}  // namespace

std::string without_entities(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t mark = std::min(text.find('&', at), text.size());
        out += text.substr(at, mark - at);
        at = mark;
        if (at == text.size()) break;
        const std::size_t end = text.substr(at, kMostEntity).find(';');
        auto value =
            end == std::string_view::npos ? std::nullopt : entity(text.substr(at + 1, end - 1));
        if (value) {
            out += *value;
            at += end + 1;
        } else {
            out += text[at++];
        }
    }
    return out;
}

std::optional<std::string> attribute_of(const MarkupToken& token, std::string_view name) {
    const std::string_view all = token.attributes;
    for (std::size_t at = 0; at < all.size();) {
        while (at < all.size() && !is_name(all[at])) ++at;
        const std::size_t begin = at;
        while (at < all.size() && is_name(all[at])) ++at;
        const std::string_view key = all.substr(begin, at - begin);
        while (at < all.size() && is_blank(all[at])) ++at;
        std::string_view value;
        if (at < all.size() && all[at] == '=') {
            ++at;
            while (at < all.size() && is_blank(all[at])) ++at;
            if (at < all.size() && (all[at] == '"' || all[at] == '\'')) {
                const std::size_t close = std::min(all.find(all[at], at + 1), all.size());
                value = all.substr(at + 1, close - at - 1);
                at = close + 1;
            } else {
                const std::size_t from = at;
                while (at < all.size() && !is_blank(all[at])) ++at;
                value = all.substr(from, at - from);
            }
        }
        if (key == name || lower_ascii(key) == name) return without_entities(value);
    }
    return std::nullopt;
}

bool MarkupReader::pass_over(std::string_view open, std::string_view close) {
    if (!text_.substr(at_).starts_with(open)) return false;
    const std::size_t end = text_.find(close, at_ + open.size());
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
    return true;
}

bool MarkupReader::pass_over_declaration() {
    const std::string_view rest = text_.substr(at_);
    const std::size_t bracket = rest.substr(0, rest.find('>')).find('[');
    const bool has_subset = bracket != std::string_view::npos &&
                            lower_ascii(rest.substr(0, 9)) == "<!doctype" &&
                            rest.find("]>", bracket) != std::string_view::npos;
    return has_subset ? pass_over("<!", "]>") : pass_over("<!", ">");
}

std::optional<MarkupToken> MarkupReader::tag() {
    const std::size_t start = at_;
    std::size_t at = at_ + 1;
    MarkupToken token;
    token.at = start;
    if (at < text_.size() && text_[at] == '/') {
        token.kind = MarkupToken::Kind::Close;
        ++at;
    } else {
        token.kind = MarkupToken::Kind::Open;
    }
    if (at >= text_.size() || !is_name_start(text_[at])) return std::nullopt;
    const std::size_t begin = at;
    while (at < text_.size() && is_name(text_[at])) ++at;
    token.name = text_.substr(begin, at - begin);
    if (dialect_ == Dialect::Html) token.name = lower_ascii(token.name);
    const std::size_t attributes = at;
    char quote = 0;
    while (at < text_.size() && (quote != 0 || text_[at] != '>')) {
        if (quote != 0) {
            if (text_[at] == quote) quote = 0;
        } else if ((text_[at] == '"' || text_[at] == '\'') && text_[at - 1] == '=') {
            quote = text_[at];
        }
        ++at;
    }
    if (at == text_.size() && quote != 0) {
        // A quote that is never closed: the tag ends at the next ">".
        at = std::min(text_.find('>', attributes), text_.size());
    }
    token.attributes = text_.substr(attributes, at - attributes);
    token.empty = token.attributes.ends_with('/');
    at_ = std::min(at + 1, text_.size());
    if (dialect_ == Dialect::Html && token.kind == MarkupToken::Kind::Open &&
        (token.name == "script" || token.name == "style")) {
        raw_until_ = token.name;
    }
    return token;
}

std::optional<MarkupToken> MarkupReader::next() {
    while (at_ < text_.size()) {
        if (!raw_until_.empty()) {
            MarkupToken token;
            token.raw = true;
            token.at = at_;
            std::size_t end = text_.find("</", at_);
            while (end != std::string_view::npos &&
                   lower_ascii(text_.substr(end + 2, raw_until_.size())) != raw_until_) {
                end = text_.find("</", end + 2);
            }
            end = std::min(end, text_.size());
            token.text = text_.substr(at_, end - at_);
            at_ = end;
            raw_until_.clear();
            return token;
        }
        if (text_[at_] == '<') {
            if (text_.substr(at_).starts_with("<![CDATA[")) {
                MarkupToken token;
                token.raw = true;
                token.at = at_;
                const std::size_t begin = at_ + 9;
                const std::size_t end = std::min(text_.find("]]>", begin), text_.size());
                token.text = text_.substr(begin, end - begin);
                at_ = std::min(end + 3, text_.size());
                return token;
            }
            if (pass_over("<!--", "-->") || pass_over("<?", ">") || pass_over_declaration())
                continue;
            if (auto token = tag()) return token;
        }
        MarkupToken token;
        token.at = at_;
        const std::size_t end = std::min(text_.find('<', at_ + 1), text_.size());
        token.text = text_.substr(at_, end - at_);
        at_ = end;
        return token;
    }
    return std::nullopt;
}

}  // namespace braid::ingest
