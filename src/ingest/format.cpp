#include "braid/ingest/format.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "braid/ingest/compression.hpp"
#include "braid/ingest/source_document.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kHead = 8192;

struct NamedFormat {
    std::string_view extension;  // or another marker
    Format format;
};

constexpr auto kFormats = std::to_array<NamedFormat>({
    {".md", Format::Markdown}, {".markdown", Format::Markdown}, {".mdx", Format::Markdown},
    {".txt", Format::Plain},   {".text", Format::Plain},        {".html", Format::Html},
    {".htm", Format::Html},    {".xhtml", Format::Html},        {".xml", Format::Xml},
    {".rss", Format::Xml},     {".atom", Format::Xml},          {".svg", Format::Xml},
    {".rst", Format::Rst},     {".org", Format::Org},           {".eml", Format::Mail},
    {".json", Format::Json},   {".jsonl", Format::JsonLines},   {".ndjson", Format::JsonLines},
    {".csv", Format::Csv},     {".tsv", Format::Tsv},           {".ipynb", Format::Notebook},
});

constexpr auto kArchives = std::to_array<NamedFormat>({
    {".docx", Format::Docx},
    {".pptx", Format::Pptx},
    {".xlsx", Format::Xlsx},
    {".odt", Format::Odt},
    {".epub", Format::Epub},
});

/// Identifies an archive by what stands near its start: the names of the first members.
constexpr auto kArchiveMarks = std::to_array<NamedFormat>({
    {"mimetypeapplication/epub+zip", Format::Epub},
    {"mimetypeapplication/vnd.oasis.opendocument.text", Format::Odt},
    {"word/", Format::Docx},
    {"ppt/", Format::Pptx},
    {"xl/", Format::Xlsx},
});

constexpr auto kLanguages = std::to_array<std::pair<std::string_view, std::string_view>>({
    {".py", "python"},
    {".pyi", "python"},
    {".js", "javascript"},
    {".mjs", "javascript"},
    {".cjs", "javascript"},
    {".jsx", "javascript"},
    {".ts", "typescript"},
    {".tsx", "typescript"},
    {".java", "java"},
    {".kt", "kotlin"},
    {".kts", "kotlin"},
    {".scala", "scala"},
    {".groovy", "groovy"},
    {".gradle", "groovy"},
    {".c", "c"},
    {".h", "c"},
    {".cc", "cpp"},
    {".cpp", "cpp"},
    {".cxx", "cpp"},
    {".hh", "cpp"},
    {".hpp", "cpp"},
    {".hxx", "cpp"},
    {".cs", "csharp"},
    {".go", "go"},
    {".rs", "rust"},
    {".rb", "ruby"},
    {".php", "php"},
    {".pl", "perl"},
    {".pm", "perl"},
    {".sh", "shell"},
    {".bash", "shell"},
    {".zsh", "shell"},
    {".fish", "shell"},
    {".ps1", "powershell"},
    {".bat", "batch"},
    {".lua", "lua"},
    {".swift", "swift"},
    {".m", "objective-c"},
    {".mm", "objective-c"},
    {".r", "r"},
    {".jl", "julia"},
    {".sql", "sql"},
    {".css", "css"},
    {".scss", "css"},
    {".less", "css"},
    {".hs", "haskell"},
    {".ml", "ocaml"},
    {".mli", "ocaml"},
    {".ex", "elixir"},
    {".exs", "elixir"},
    {".erl", "erlang"},
    {".clj", "clojure"},
    {".el", "lisp"},
    {".lisp", "lisp"},
    {".dart", "dart"},
    {".zig", "zig"},
    {".nim", "nim"},
    {".proto", "protobuf"},
    {".tf", "terraform"},
    {".cmake", "cmake"},
    {".vue", "vue"},
    {".svelte", "svelte"},
    {".f90", "fortran"},
});

constexpr auto kNamedLanguages = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"makefile", "make"},
    {"gnumakefile", "make"},
    {"dockerfile", "dockerfile"},
    {"cmakelists.txt", "cmake"},
    {"rakefile", "ruby"},
    {"gemfile", "ruby"},
});

/// First bytes of formats that might otherwise pass for text.
constexpr auto kBinaryStarts = std::to_array<std::string_view>(
    {"\x89PNG", "GIF8", "\xFF\xD8\xFF", "RIFF", "OggS", "ID3",
     "\x7F"
     "ELF",
     "fLaC", "wOFF", "wOF2", "\xCA\xFE\xBA\xBE", "Rar!", "7z\xBC\xAF", "BZh",
     "\xFD"
     "7zXZ",
     "SQLite format 3", "{\\rtf"});

std::string_view file_name(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// From the first line of a script: "#!/usr/bin/env python3".
std::string_view language_of_script(std::string_view head) {
    if (!head.starts_with("#!")) return {};
    const std::string_view line = head.substr(0, head.find('\n'));
    for (const auto& [word, language] :
         std::to_array<std::pair<std::string_view, std::string_view>>({{"python", "python"},
                                                                       {"node", "javascript"},
                                                                       {"ruby", "ruby"},
                                                                       {"perl", "perl"},
                                                                       {"sh", "shell"}})) {
        if (line.find(word) != std::string_view::npos) return language;
    }
    return {};
}

std::optional<DetectedFormat> archive_format(std::string_view extension, std::string_view head) {
    for (const NamedFormat& known : kArchives) {
        if (extension == known.extension) return DetectedFormat{known.format, {}};
    }
    for (const NamedFormat& mark : kArchiveMarks) {
        if (head.find(mark.extension) != std::string_view::npos) {
            return DetectedFormat{mark.format, {}};
        }
    }
    return std::nullopt;
}

}  // namespace

std::string_view format_name(Format format) {
    switch (format) {
        case Format::Markdown:
            return "markdown";
        case Format::Plain:
            return "text";
        case Format::Code:
            return "code";
        case Format::Html:
            return "html";
        case Format::Xml:
            return "xml";
        case Format::Rst:
            return "rst";
        case Format::Org:
            return "org";
        case Format::Mail:
            return "mail";
        case Format::Json:
            return "json";
        case Format::JsonLines:
            return "jsonl";
        case Format::Csv:
            return "csv";
        case Format::Tsv:
            return "tsv";
        case Format::Notebook:
            return "notebook";
        case Format::Pdf:
            return "pdf";
        case Format::Docx:
            return "docx";
        case Format::Pptx:
            return "pptx";
        case Format::Xlsx:
            return "xlsx";
        case Format::Odt:
            return "odt";
        case Format::Epub:
            return "epub";
    }
    return "text";
}

bool is_text_format(Format format) {
    return format < Format::Pdf && format != Format::Mail;
}

std::string_view unpacked_name(std::string_view name) {
    const std::string extension = extension_of(name);
    if (extension == ".gz" || extension == ".zst") name.remove_suffix(extension.size());
    return name;
}

std::string extension_of(std::string_view name) {
    name = file_name(name);
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return {};
    return lower_ascii(name.substr(dot));
}

bool looks_like_text(std::string_view head) {
    head = head.substr(0, kHead);
    if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF") ||
        head.starts_with(std::string_view("\0\0\xFE\xFF", 4))) {
        return true;
    }
    std::size_t zeros = 0;
    std::size_t controls = 0;
    for (const char c : head) {
        const auto byte = static_cast<unsigned char>(c);
        zeros += byte == 0;
        controls += byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f' &&
                    byte != 0x1B && byte != 0;
    }
    if (controls > 1 + head.size() / 200) return false;  // a stray one says nothing
    // UTF-16 without a mark: every other byte of Western text is zero.
    return zeros == 0 ||
           (zeros * 5 > head.size() * 2 && zeros * 5 < head.size() * 3 && head.size() >= 16);
}

std::optional<DetectedFormat> detect_format(std::string_view name, std::string_view head) {
    if (compression_of(head) != Compression::None) {
        const std::string inner = decompressed_head(head, kHead);
        if (compression_of(inner) != Compression::None) return std::nullopt;
        return detect_format(unpacked_name(name), inner);
    }
    const std::string extension = extension_of(name);
    if (head.substr(0, 1024).find("%PDF-") != std::string_view::npos && !head.starts_with("<")) {
        return DetectedFormat{Format::Pdf, {}};
    }
    if (head.starts_with("PK\x03\x04")) return archive_format(extension, head);
    if (!looks_like_text(head) || std::ranges::any_of(kBinaryStarts, [&](std::string_view start) {
            return head.starts_with(start);
        })) {
        return std::nullopt;
    }
    const std::string start = lower_ascii(trimmed(head.substr(0, 256)));
    if (start.starts_with("<!doctype html") || start.starts_with("<html")) {
        return DetectedFormat{Format::Html, {}};
    }
    const std::string bare = lower_ascii(file_name(name));
    for (const auto& [file, language] : kNamedLanguages) {
        if (bare == file) return DetectedFormat{Format::Code, std::string(language)};
    }
    for (const NamedFormat& known : kFormats) {
        if (extension == known.extension) return DetectedFormat{known.format, {}};
    }
    for (const auto& [ending, language] : kLanguages) {
        if (extension == ending) return DetectedFormat{Format::Code, std::string(language)};
    }
    const std::string_view script = language_of_script(head);
    if (!script.empty()) return DetectedFormat{Format::Code, std::string(script)};
    if (start.starts_with("<?xml")) return DetectedFormat{Format::Xml, {}};
    if (start.starts_with("return-path:") || start.starts_with("received:") ||
        start.starts_with("delivered-to:")) {
        return DetectedFormat{Format::Mail, {}};
    }
    return DetectedFormat{};
}

std::string_view supported_formats() {
    return "Markdown, plain text in any encoding, source code, HTML, PDF, DOCX, PPTX, XLSX, ODT, "
           "EPUB, "
           "notebooks, mail (.eml), reStructuredText, Org, JSON, JSON lines, CSV, TSV and XML, "
           "also "
           "packed by gzip or zstd";
}

}  // namespace braid::ingest
