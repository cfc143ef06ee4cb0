#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace braid::ingest {

/// A tag, or the text between two tags.
struct MarkupToken {
    enum class Kind { Text, Open, Close };

    Kind kind = Kind::Text;
    std::string name;             // of a tag; HTML's in lower case
    std::string_view attributes;  // of an opening tag, unprocessed
    bool empty = false;           // "<br/>": no closing tag follows
    std::string_view text;        // unprocessed, including entities
    bool raw = false;             // CDATA, or the content of <script>: contains no entities
    std::size_t at = 0;           // in the whole text
};

/// Reads HTML and XML tag by tag, in linear time and without memory of its own. Any text is valid:
/// whatever is not a tag is text. Comments, processing instructions and document types are skipped;
/// entities that a document defines itself are not expanded.
class MarkupReader {
public:
    enum class Dialect { Html, Xml };

    MarkupReader(std::string_view text, Dialect dialect) : text_(text), dialect_(dialect) {}

    /// None at the end.
    std::optional<MarkupToken> next();

private:
    std::optional<MarkupToken> tag();
    bool pass_over(std::string_view open, std::string_view close);
    /// "<!…>", including its part in brackets: entities that a document defines are not its text.
    bool pass_over_declaration();

    std::string_view text_;
    Dialect dialect_;
    std::size_t at_ = 0;
    std::string raw_until_;  // the element whose content is not markup
};

/// Reads to the end of the text and passes each token on by its kind: `text(token)`, `open(token)`
/// or `close(name)`.
template <class Text, class Open, class Close>
void each_token(MarkupReader reader, const Text& text, const Open& open, const Close& close) {
    while (const auto token = reader.next()) {
        switch (token->kind) {
            case MarkupToken::Kind::Text:
                text(*token);
                break;
            case MarkupToken::Kind::Open:
                open(*token);
                break;
            case MarkupToken::Kind::Close:
                close(token->name);
                break;
        }
    }
}

/// With entities replaced: "&amp;", "&#8212;", and HTML's common names.
std::string without_entities(std::string_view text);

/// The value of an attribute; none if it is missing. Case does not matter for HTML's names.
std::optional<std::string> attribute_of(const MarkupToken& token, std::string_view name);

}  // namespace braid::ingest
