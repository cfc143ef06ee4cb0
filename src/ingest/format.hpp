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

/// Whether its bytes are text in some encoding; other formats are read as bytes.
bool is_text_format(Format format);

/// "markdown", as used in metadata and reports.
std::string_view format_name(Format format);

/// What a file holds: judged by its first bytes if they tell (a few thousand are enough), otherwise
/// by its name. A file with an unknown name, or none, is plain text if its bytes are text. None for
/// what cannot be read. A file packed by gzip or zstd is whatever it unpacks to.
std::optional<DetectedFormat> detect_format(std::string_view name, std::string_view head);

/// Whether bytes look like text in some encoding rather than like a picture or a program.
bool looks_like_text(std::string_view head);

/// "Markdown, plain text, …", for messages.
std::string_view supported_formats();

/// The name of the unpacked file: "a.md" for "a.md.gz".
std::string_view unpacked_name(std::string_view name);

/// ".png", in lower case; empty if the name has none.
std::string extension_of(std::string_view name);

}  // namespace braid::ingest
