#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace braid::ingest {

enum class Format : std::uint8_t {
    Markdown,
    Plain,
    Code,
    Html,
    Xml,
    Rst,
    Org,
    Mail,
    Json,
    JsonLines,
    Csv,
    Tsv,
    Notebook,
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    Odt,
    Epub,
};

struct DetectedFormat {
    Format format = Format::Plain;
    std::string language;  // of source code: "python"
};

/// Whether its bytes are text in some encoding; the others are read as they are.
bool is_text_format(Format format);

/// "markdown", as metadata and reports call it.
std::string_view format_name(Format format);

/// What a file holds: by its first bytes where they tell (some thousand are enough), else by its
/// name. A name that says nothing, or nothing known, is plain text if the bytes are text. None for
/// what cannot be read. Packed by gzip or zstd, it is what it unpacks to.
std::optional<DetectedFormat> detect_format(std::string_view name, std::string_view head);

/// Whether bytes look like text in some encoding rather than like a picture or a program.
bool looks_like_text(std::string_view head);

/// "Markdown, plain text, …", for messages.
std::string_view supported_formats();

/// The name of what a packed file holds: "a.md" for "a.md.gz".
std::string_view unpacked_name(std::string_view name);

/// ".png", in lower case; empty if the name has none.
std::string extension_of(std::string_view name);

}  // namespace braid::ingest
