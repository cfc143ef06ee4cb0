#include <map>
#include <string>
#include <string_view>

#include "braid/ingest/markup.hpp"
#include "braid/ingest/office.hpp"
#include "braid/ingest/office_parts.hpp"
#include "braid/ingest/zip_archive.hpp"

namespace braid::ingest {
namespace {

/// Heading levels by the ids of Word's styles. Ids are named in the user's language; the style's
/// own name, "heading 2", is what counts.
std::map<std::string, std::size_t> heading_styles(std::string_view styles) {
    std::map<std::string, std::size_t> levels;
    MarkupReader reader(styles, MarkupReader::Dialect::Xml);
    std::string id;
    while (const auto token = reader.next()) {
        if (token->kind != MarkupToken::Kind::Open) continue;
        if (token->name == "w:style") id = attribute_of(*token, "w:styleId").value_or("");
        if (token->name != "w:name") continue;
        const std::string name = lower_ascii(attribute_of(*token, "w:val").value_or(""));
        if (name == "title") levels[id] = 1;
        if (name.size() == 9 && name.starts_with("heading ") && name[8] >= '1' && name[8] <= '6') {
            levels[id] = static_cast<std::size_t>(name[8] - '0');
        }
    }
    return levels;
}

/// The level by a style's id alone, if the document does not describe the style: "Heading2".
std::size_t heading_by_id(const std::string& id) {
    const std::string name = lower_ascii(id);
    if (name == "title") return 1;
    const bool heading = name.size() == 8 && name.starts_with("heading");
    return heading && name[7] >= '1' && name[7] <= '6' ? static_cast<std::size_t>(name[7] - '0')
                                                       : 0;
}

/// Word's paragraphs, tables row by row.
void add_word_text(DocumentBuilder& builder, std::string_view xml,
                   const std::map<std::string, std::size_t>& styles) {
    MarkupReader reader(xml, MarkupReader::Dialect::Xml);
    std::string paragraph;
    std::string table;
    std::size_t level = 0;
    std::size_t tables = 0;
    bool item = false;
    bool in_text = false;
    while (const auto token = reader.next()) {
        const std::string& name = token->name;
        if (token->kind == MarkupToken::Kind::Text) {
            if (in_text) paragraph += without_entities(token->text);
        } else if (token->kind == MarkupToken::Kind::Open) {
            if (name == "w:t") in_text = !token->empty;
            if (name == "w:tab") paragraph += '\t';
            if (name == "w:br" || name == "w:cr") paragraph += '\n';
            if (name == "w:numPr") item = true;
            if (name == "w:tbl") ++tables;
            if (name == "w:pStyle") {
                const std::string id = attribute_of(*token, "w:val").value_or("");
                const auto style = styles.find(id);
                level = style != styles.end() ? style->second : heading_by_id(id);
            }
        } else {
            if (name == "w:t") in_text = false;
            if (name == "w:p" && tables > 0) {
                table += squeezed(paragraph) + " ";
                paragraph.clear();
            } else if (name == "w:p") {
                if (level > 0) {
                    builder.heading(level, paragraph);
                } else {
                    builder.block((item ? "- " : "") + std::string(trimmed(paragraph)));
                }
                paragraph.clear();
                level = 0;
                item = false;
            }
            if (name == "w:tc") table += "| ";
            if (name == "w:tr") table += '\n';
            if (name == "w:tbl" && tables > 0 && --tables == 0) {
                builder.block(table);
                table.clear();
                level = 0;
                item = false;
            }
        }
    }
    builder.block(paragraph);
}

void add_open_document_text(DocumentBuilder& builder, std::string_view xml) {
    MarkupReader reader(xml, MarkupReader::Dialect::Xml);
    std::string paragraph;
    std::string table;
    std::size_t level = 0;
    std::size_t items = 0;
    std::size_t tables = 0;
    std::size_t depth = 0;  // of paragraphs and headings
    while (const auto token = reader.next()) {
        const std::string& name = token->name;
        const bool opens = token->kind == MarkupToken::Kind::Open;
        const bool block = name == "text:p" || name == "text:h";
        if (token->kind == MarkupToken::Kind::Text) {
            if (depth > 0) paragraph += without_entities(token->text);
        } else if (opens && block && !token->empty) {
            ++depth;
            level = 0;
            if (name == "text:h") {
                const std::string number = attribute_of(*token, "text:outline-level").value_or("1");
                level = number.size() == 1 && number[0] >= '1' && number[0] <= '6'
                            ? static_cast<std::size_t>(number[0] - '0')
                            : 1;
            }
        } else if (opens) {
            if (name == "text:tab" || name == "text:s") paragraph += ' ';
            if (name == "text:line-break") paragraph += '\n';
            if (name == "text:list-item") ++items;
            if (name == "table:table") ++tables;
        } else {
            if (block && depth > 0 && --depth == 0) {
                if (tables > 0) {
                    table += squeezed(paragraph) + " ";
                } else if (level > 0) {
                    builder.heading(level, paragraph);
                } else {
                    builder.block((items > 0 ? "- " : "") + std::string(trimmed(paragraph)));
                }
                paragraph.clear();
            }
            if (name == "text:list-item" && items > 0) --items;
            if (name == "table:table-cell") table += "| ";
            if (name == "table:table-row") table += '\n';
            if (name == "table:table" && tables > 0 && --tables == 0) {
                builder.block(table);
                table.clear();
            }
        }
    }
}

}  // namespace

Result<SourceDocument> parse_docx(std::string_view bytes, std::size_t max_bytes) {
    BRAID_TRY(ZipArchive archive, ZipArchive::open(bytes, max_bytes));
    BRAID_TRY(const std::string body, archive.read("word/document.xml"));
    DocumentBuilder builder;
    BRAID_CHECK(read_properties(builder, archive, "docProps/core.xml"));
    std::map<std::string, std::size_t> styles;
    if (archive.has("word/styles.xml")) {
        BRAID_TRY(const std::string text, archive.read("word/styles.xml"));
        styles = heading_styles(text);
    }
    add_word_text(builder, body, styles);
    for (const char* const notes : {"word/footnotes.xml", "word/endnotes.xml"}) {
        if (!archive.has(notes)) continue;
        BRAID_TRY(const std::string text, archive.read(notes));
        add_word_text(builder, text, {});
    }
    return builder.take();
}

Result<SourceDocument> parse_odt(std::string_view bytes, std::size_t max_bytes) {
    BRAID_TRY(ZipArchive archive, ZipArchive::open(bytes, max_bytes));
    BRAID_TRY(const std::string body, archive.read("content.xml"));
    DocumentBuilder builder;
    BRAID_CHECK(read_properties(builder, archive, "meta.xml"));
    add_open_document_text(builder, body);
    return builder.take();
}

}  // namespace braid::ingest
