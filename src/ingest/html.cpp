#include "braid/ingest/html.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "braid/ingest/markup.hpp"

namespace braid::ingest {
namespace {

constexpr auto kLeftOutElements = std::to_array<std::string_view>(
    {"script", "style", "noscript", "template", "nav", "footer", "aside", "svg", "button", "select",
     "iframe", "object", "canvas", "dialog"});
constexpr auto kBlockElements = std::to_array<std::string_view>(
    {"p",    "div",  "section", "article",    "header",  "main",       "ul",
     "ol",   "li",   "table",   "thead",      "tbody",   "tr",         "dl",
     "dt",   "dd",   "pre",     "blockquote", "hr",      "h1",         "h2",
     "h3",   "h4",   "h5",      "h6",         "figure",  "figcaption", "form",
     "body", "html", "address", "details",    "summary", "caption",    "fieldset"});
/// Texts of the self-links that documentation generators put into headings.
constexpr auto kAnchorMarks =
    std::to_array<std::string_view>({"#", "¶", "§", "🔗", "\xEF\x83\x81", "link", "permalink"});
template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

std::size_t heading_level(std::string_view name) {
    if (name.size() != 2 || name[0] != 'h' || name[1] < '1' || name[1] > '6') return 0;
    return static_cast<std::size_t>(name[1] - '0');
}

bool has_main(std::string_view text) {
    const std::string lower = lower_ascii(text);
    for (std::size_t at = lower.find("<main"); at != std::string::npos;
         at = lower.find("<main", at + 5)) {
        if (at + 5 < lower.size() && (lower[at + 5] == '>' || lower[at + 5] == ' ')) return true;
    }
    return false;
}

/// Turns one page into a document.
class HtmlPage {
public:
    HtmlPage(DocumentBuilder& builder, std::string_view text)
        : builder_(builder), text_(text), main_only_(has_main(text)) {}

    void read() {
        each_token(
            MarkupReader(text_, MarkupReader::Dialect::Html),
            [this](const MarkupToken& token) { add_text(token); },
            [this](const MarkupToken& token) { open(token); },
            [this](const std::string& name) { close(name); });
        flush();
    }

private:
    bool taken() const {
        return left_out_.empty() && (!main_only_ || main_depth_ > 0) && !in_title_;
    }

    void open(const MarkupToken& token) {
        const std::string& name = token.name;
        if (!left_out_.empty()) {
            if (name == left_out_ && !token.empty) ++left_out_depth_;
            return;
        }
        if (name == "meta" || name == "link" || name == "html") return note(token);
        if (is_one_of(kLeftOutElements, name)) {
            flush();
            if (!token.empty) {
                left_out_ = name;
                left_out_depth_ = 1;
            }
            return;
        }
        if (name == "title") {
            in_title_ = true;
            title_.clear();
            return;
        }
        if (name == "main" && !token.empty) ++main_depth_;
        if (name == "br") {
            block_ += '\n';
        } else if (name == "td" || name == "th") {
            if (!trimmed(block_).empty() && block_.back() != '\n') block_ += " | ";
        } else if (is_one_of(kBlockElements, name)) {
            begin_block(name, token.at);
        } else if (name == "a" && heading_ > 0) {
            link_at_ = block_.size();
        } else if (name == "img") {
            if (const auto alt = attribute_of(token, "alt"); alt && taken()) block_ += *alt;
        }
    }

    void begin_block(const std::string& name, std::size_t at) {
        // Rows and items of one table or list stay together.
        const bool joins = name == "li" || name == "tr" || name == "dt" || name == "dd";
        if (joins && !trimmed(block_).empty() && in_group_) {
            block_ += '\n';
        } else {
            flush();
        }
        if (name == "ul" || name == "ol" || name == "table" || name == "dl") in_group_ = true;
        if (name == "li") block_ += "- ";
        if (name == "dd") block_ += "  ";
        if (name == "pre") pre_ = true;
        if (heading_level(name) > 0) heading_ = heading_level(name);
        if (trimmed(block_).empty() || block_ == "- ") line_at_ = at;
    }

    void close(const std::string& name) {
        if (!left_out_.empty()) {
            if (name == left_out_ && --left_out_depth_ == 0) left_out_.clear();
            return;
        }
        if (name == "title") {
            in_title_ = false;
            builder_.set_title(title_);
            return;
        }
        if (name == "a" && heading_ > 0 && link_at_ <= block_.size()) {
            const std::string shown = lower_ascii(trimmed(block_.substr(link_at_)));
            if (is_one_of(kAnchorMarks, shown)) block_.resize(link_at_);
            return;
        }
        if (heading_level(name) > 0 && heading_ > 0) {
            if (taken()) builder_.heading(heading_, block_);
            block_.clear();
            heading_ = 0;
            return;
        }
        if (name == "main") {
            flush();
            if (main_depth_ > 0) --main_depth_;
            return;
        }
        if (name == "ul" || name == "ol" || name == "table" || name == "dl") {
            flush();
            in_group_ = false;
        } else if (name == "pre") {
            flush();
            pre_ = false;
        } else if (is_one_of(kBlockElements, name) && !in_group_) {
            flush();
        }
    }

    void add_text(const MarkupToken& token) {
        if (in_title_) {
            title_ += without_entities(token.text);
            return;
        }
        if (!taken() || token.raw) return;
        const std::string text = without_entities(token.text);
        if (trimmed(block_).empty() && !trimmed(text).empty()) line_at_ = token.at;
        if (pre_) {
            block_ += text;
            return;
        }
        for (const char c : text) {
            const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
            if (!blank) {
                block_ += c;
            } else if (!block_.empty() && block_.back() != ' ' && block_.back() != '\n') {
                block_ += ' ';
            }
        }
    }

    void flush() {
        if (taken() && !block_.empty()) builder_.block(block_, line_of(line_at_));
        block_.clear();
    }

    std::uint64_t line_of(std::size_t at) {
        if (at < counted_) return line_;
        line_ += static_cast<std::uint64_t>(
            std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                       text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
        counted_ = at;
        return line_;
    }

    void note(const MarkupToken& token) {
        if (token.name == "html") {
            builder_.note("language", attribute_of(token, "lang").value_or(""));
            return;
        }
        if (token.name == "link") {
            if (attribute_of(token, "rel") == "canonical") {
                builder_.note("url", attribute_of(token, "href").value_or(""));
            }
            return;
        }
        const std::string key = lower_ascii(
            attribute_of(token, "name").value_or(attribute_of(token, "property").value_or("")));
        const std::string value = attribute_of(token, "content").value_or("");
        if (key == "author" || key == "description" || key == "keywords") {
            builder_.note(key, value);
        } else if (key == "date" || key == "article:published_time" || key == "dcterms.date") {
            builder_.date(value);
        } else if (key == "og:url") {
            builder_.note("url", value);
        }
    }

    DocumentBuilder& builder_;
    std::string_view text_;
    bool main_only_;
    std::string left_out_;  // the element being skipped; empty: none
    std::size_t left_out_depth_ = 0;
    std::size_t main_depth_ = 0;
    bool in_title_ = false;
    std::string title_;
    bool in_group_ = false;  // a list or a table
    bool pre_ = false;
    std::size_t heading_ = 0;
    std::size_t link_at_ = 0;  // where in block_ the heading's last link begins
    std::string block_;
    std::size_t line_at_ = 0;
    std::size_t counted_ = 0;  // bytes whose lines are counted in line_
    std::uint64_t line_ = 1;
};

}  // namespace

void add_html(DocumentBuilder& builder, std::string_view text) {
    HtmlPage(builder, text).read();
}

SourceDocument parse_html(std::string_view text) {
    DocumentBuilder builder;
    add_html(builder, text);
    return builder.take();
}

SourceDocument parse_xml(std::string_view text) {
    DocumentBuilder builder;
    MarkupReader reader(text, MarkupReader::Dialect::Xml);
    std::uint64_t line = 1;
    std::size_t counted = 0;
    bool in_title = false;
    while (const auto token = reader.next()) {
        line += static_cast<std::uint64_t>(
            std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                       text.begin() + static_cast<std::ptrdiff_t>(token->at), '\n'));
        counted = token->at;
        if (token->kind == MarkupToken::Kind::Open) in_title = token->name == "title";
        if (token->kind != MarkupToken::Kind::Text) continue;
        const std::string words =
            token->raw ? std::string(token->text) : without_entities(token->text);
        if (in_title) builder.set_title(words);
        builder.block(words, line);
    }
    return builder.take();
}

std::string declared_encoding(std::string_view bytes) {
    const std::string head = lower_ascii(bytes.substr(0, 2048));
    for (const std::string_view key : {"charset=", "encoding="}) {
        std::size_t at = head.find(key);
        if (at == std::string::npos) continue;
        at += key.size();
        while (at < head.size() && (head[at] == '"' || head[at] == '\'')) ++at;
        const std::size_t end = std::min(head.find_first_of("\"' />;?\n", at), head.size());
        if (end > at && end - at < 32) return head.substr(at, end - at);
    }
    return {};
}

}  // namespace braid::ingest
