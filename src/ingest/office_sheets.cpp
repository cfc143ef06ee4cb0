#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/ingest/html.hpp"
#include "braid/ingest/markup.hpp"
#include "braid/ingest/office.hpp"
#include "braid/ingest/office_parts.hpp"
#include "braid/ingest/records.hpp"
#include "braid/ingest/zip_archive.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kMostColumns = 1000;

/// Slides: paragraphs; the one in the title's place heads the slide.
void add_slide(DocumentBuilder& builder, std::string_view xml) {
    MarkupReader reader(xml, MarkupReader::Dialect::Xml);
    std::string shape;
    std::string paragraph;
    bool title = false;
    bool in_text = false;
    while (const auto token = reader.next()) {
        const std::string& name = token->name;
        if (token->kind == MarkupToken::Kind::Text) {
            if (in_text) paragraph += without_entities(token->text);
        } else if (token->kind == MarkupToken::Kind::Open) {
            if (name == "a:t") in_text = !token->empty;
            if (name == "a:br") paragraph += '\n';
            if (name == "p:ph") {
                const std::string type = attribute_of(*token, "type").value_or("");
                title = type == "title" || type == "ctrTitle";
            }
        } else {
            if (name == "a:t") in_text = false;
            if (name == "a:p") {
                if (!trimmed(paragraph).empty()) shape += std::string(trimmed(paragraph)) + "\n";
                paragraph.clear();
            }
            if (name == "p:sp" || name == "p:graphicFrame") {
                if (title) {
                    builder.heading(2, shape);
                } else {
                    builder.block(shape);
                }
                shape.clear();
                title = false;
            }
        }
    }
    builder.block(shape);
}

/// Texts that cells refer to by number.
std::vector<std::string> shared_texts(std::string_view xml) {
    std::vector<std::string> texts;
    MarkupReader reader(xml, MarkupReader::Dialect::Xml);
    bool in_text = false;
    while (const auto token = reader.next()) {
        if (token->kind == MarkupToken::Kind::Open && token->name == "si") texts.emplace_back();
        if (token->kind == MarkupToken::Kind::Open && token->name == "t") in_text = !token->empty;
        if (token->kind == MarkupToken::Kind::Close && token->name == "t") in_text = false;
        if (token->kind == MarkupToken::Kind::Text && in_text && !texts.empty()) {
            texts.back() += without_entities(token->text);
        }
    }
    return texts;
}

/// "AB12": column 27.
std::size_t column_of(std::string_view reference) {
    std::size_t column = 0;
    for (const char c : reference) {
        if (c < 'A' || c > 'Z') break;
        column = column * 26 + static_cast<std::size_t>(c - 'A' + 1);
        if (column > kMostColumns) return kMostColumns;
    }
    return column == 0 ? 0 : column - 1;
}

void add_sheet(DocumentBuilder& builder, std::string_view xml,
               const std::vector<std::string>& texts) {
    MarkupReader reader(xml, MarkupReader::Dialect::Xml);
    std::vector<std::string> columns;
    std::vector<std::string> row;
    std::string type;
    std::size_t column = 0;
    bool in_value = false;
    bool has_rows = false;  // besides the first, which names the columns
    std::string value;
    while (const auto token = reader.next()) {
        const std::string& name = token->name;
        if (token->kind == MarkupToken::Kind::Text) {
            if (in_value) value += without_entities(token->text);
        } else if (token->kind == MarkupToken::Kind::Open) {
            if (name == "row") row.clear();
            if (name == "c") {
                type = attribute_of(*token, "t").value_or("");
                const auto reference = attribute_of(*token, "r");
                column = reference ? column_of(*reference) : row.size();
                value.clear();
            }
            if (name == "v" || name == "t") in_value = !token->empty;
        } else {
            if (name == "v" || name == "t") in_value = false;
            if (name == "c" && column < kMostColumns) {
                if (type == "s") {
                    std::size_t index = 0;
                    for (const char c : value.substr(0, 9)) {
                        if (c >= '0' && c <= '9')
                            index = index * 10 + static_cast<std::size_t>(c - '0');
                    }
                    value = index < texts.size() ? texts[index] : std::string();
                }
                if (row.size() <= column) row.resize(column + 1);
                row[column] = std::move(value);
                value.clear();
            }
            if (name != "row" || row.empty()) continue;
            if (columns.empty()) {
                columns = row;
                for (std::string& head : columns) head = squeezed(head);
            } else {
                add_row(builder, columns, row, 0);
                has_rows = true;
            }
        }
    }
    if (!has_rows) add_row(builder, {}, columns, 0);  // the only row
}

std::vector<std::string> sheet_names(std::string_view workbook) {
    std::vector<std::string> names;
    MarkupReader reader(workbook, MarkupReader::Dialect::Xml);
    while (const auto token = reader.next()) {
        if (token->kind == MarkupToken::Kind::Open && token->name == "sheet") {
            names.push_back(attribute_of(*token, "name").value_or(""));
        }
    }
    return names;
}

/// A path relative to the folder of another part, "%20" and "../" resolved.
std::string beside(std::string_view part, std::string_view reference) {
    std::string path(part.substr(0, part.rfind('/') + 1));
    reference = reference.substr(0, reference.find('#'));
    for (std::size_t i = 0; i < reference.size(); ++i) {
        if (reference.substr(i).starts_with("../")) {
            if (!path.empty()) path.pop_back();
            path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
            i += 2;
        } else if (reference.substr(i).starts_with("%20")) {
            path += ' ';
            i += 2;
        } else {
            path += reference[i];
        }
    }
    return path;
}

}  // namespace

Result<SourceDocument> parse_pptx(std::string_view bytes, std::size_t max_bytes) {
    BRAID_TRY(ZipArchive archive, ZipArchive::open(bytes, max_bytes));
    DocumentBuilder builder;
    BRAID_CHECK(read_properties(builder, archive, "docProps/core.xml"));
    std::uint64_t number = 0;
    for (const std::string& name : archive.names("ppt/slides/slide", ".xml")) {
        BRAID_TRY(const std::string slide, archive.read(name));
        builder.page(++number);
        builder.heading(2, "");
        add_slide(builder, slide);
        const std::string notes = "ppt/notesSlides/notesSlide" + std::to_string(number) + ".xml";
        if (!archive.has(notes)) continue;
        BRAID_TRY(const std::string text, archive.read(notes));
        add_slide(builder, text);
    }
    return builder.take();
}

Result<SourceDocument> parse_xlsx(std::string_view bytes, std::size_t max_bytes) {
    BRAID_TRY(ZipArchive archive, ZipArchive::open(bytes, max_bytes));
    BRAID_TRY(const std::string workbook, archive.read("xl/workbook.xml"));
    DocumentBuilder builder;
    BRAID_CHECK(read_properties(builder, archive, "docProps/core.xml"));
    std::vector<std::string> texts;
    if (archive.has("xl/sharedStrings.xml")) {
        BRAID_TRY(const std::string shared, archive.read("xl/sharedStrings.xml"));
        texts = shared_texts(shared);
    }
    const std::vector<std::string> names = sheet_names(workbook);
    std::size_t i = 0;
    for (const std::string& part : archive.names("xl/worksheets/sheet", ".xml")) {
        BRAID_TRY(const std::string sheet, archive.read(part));
        builder.heading(2, i < names.size() ? names[i] : "");
        ++i;
        add_sheet(builder, sheet, texts);
    }
    return builder.take();
}

Result<SourceDocument> parse_epub(std::string_view bytes, std::size_t max_bytes) {
    BRAID_TRY(ZipArchive archive, ZipArchive::open(bytes, max_bytes));
    BRAID_TRY(const std::string container, archive.read("META-INF/container.xml"));
    std::string package;
    MarkupReader roots(container, MarkupReader::Dialect::Xml);
    while (const auto token = roots.next()) {
        if (token->name == "rootfile" && package.empty()) {
            package = attribute_of(*token, "full-path").value_or("");
        }
    }
    BRAID_TRY(const std::string contents, archive.read(package));
    DocumentBuilder builder;
    note_properties(builder, contents);
    std::map<std::string, std::string> parts;  // by their ids
    std::vector<std::string> order;
    MarkupReader reader(contents, MarkupReader::Dialect::Xml);
    while (const auto token = reader.next()) {
        if (token->kind != MarkupToken::Kind::Open) continue;
        if (token->name == "item") {
            parts[attribute_of(*token, "id").value_or("")] =
                beside(package, attribute_of(*token, "href").value_or(""));
        }
        if (token->name == "itemref") order.push_back(attribute_of(*token, "idref").value_or(""));
    }
    for (const std::string& id : order) {
        const auto part = parts.find(id);
        if (part == parts.end() || !archive.has(part->second)) continue;
        BRAID_TRY(const std::string chapter, archive.read(part->second));
        add_html(builder, chapter);
    }
    return builder.take();
}

}  // namespace braid::ingest
