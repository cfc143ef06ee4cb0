#include "braid/ingest/office_parts.hpp"

#include <string>

#include "braid/ingest/markup.hpp"

namespace braid::ingest {

void note_properties(DocumentBuilder& builder, std::string_view xml) {
    MarkupReader reader(xml, MarkupReader::Dialect::Xml);
    std::string name;
    while (const auto token = reader.next()) {
        if (token->kind != MarkupToken::Kind::Text) {
            name = token->kind == MarkupToken::Kind::Open ? token->name : std::string();
            continue;
        }
        const std::string value = without_entities(token->text);
        if (trimmed(value).empty()) continue;
        if (name == "dc:title") builder.set_title(value);
        if (name == "dc:creator" || name == "meta:initial-creator") builder.note("author", value);
        if (name == "dc:language") builder.note("language", value);
        if (name == "dc:subject") builder.note("subject", value);
        if (name == "dcterms:created" || name == "meta:creation-date" || name == "dc:date") {
            builder.date(value);
        }
    }
}

Result<> read_properties(DocumentBuilder& builder, ZipArchive& archive, std::string_view part) {
    if (!archive.has(part)) return {};
    BRAID_TRY(const std::string xml, archive.read(part));
    note_properties(builder, xml);
    return {};
}

}  // namespace braid::ingest
