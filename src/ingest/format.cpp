#include "braid/ingest/format.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "braid/ingest/source_document.hpp"
#include "braid/text/utf8.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kHead = 8192;

struct NamedFormat {
    std::string_view extension;
    Format format;
};

constexpr auto kFormats = std::to_array<NamedFormat>({
    {".md", Format::Markdown},
    {".markdown", Format::Markdown},
    {".mdx", Format::Markdown},
    {".txt", Format::Plain},
    {".text", Format::Plain},
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

/// First bytes of what may pass for text otherwise.
constexpr auto kBinaryStarts = std::to_array<std::string_view>(
    {"\x89PNG", "GIF8", "\xFF\xD8\xFF", "RIFF", "OggS", "ID3",
     "\x7F"
     "ELF",
     "fLaC", "wOFF", "wOF2", "\xCA\xFE\xBA\xBE", "Rar!", "7z\xBC\xAF", "BZh",
     "\xFD"
     "7zXZ",
     "SQLite format 3"});

std::string_view file_name(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// By the first line of a script: "#!/usr/bin/env python3".
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

}  // namespace

std::string_view format_name(Format format) {
    switch (format) {
        case Format::Markdown:
            return "markdown";
        case Format::Plain:
            return "text";
        case Format::Code:
            return "code";
    }
    return "text";
}

std::string extension_of(std::string_view name) {
    name = file_name(name);
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return {};
    return lower_ascii(name.substr(dot));
}

bool looks_like_text(std::string_view head) {
    head = head.substr(0, kHead);
    if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) return true;
    std::size_t zeros = 0;
    std::size_t controls = 0;
    for (const char c : head) {
        const auto byte = static_cast<unsigned char>(c);
        zeros += byte == 0;
        controls += byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f' &&
                    byte != 0x1B && byte != 0;
    }
    if (controls > head.size() / 200) return false;
    // UTF-16 without a mark: every other byte of Western text is zero.
    return zeros == 0 ||
           (zeros * 5 > head.size() * 2 && zeros * 5 < head.size() * 3 && head.size() >= 16);
}

std::optional<DetectedFormat> detect_format(std::string_view name, std::string_view head) {
    if (!looks_like_text(head) || std::ranges::any_of(kBinaryStarts, [&](std::string_view start) {
            return head.starts_with(start);
        })) {
        return std::nullopt;
    }
    const std::string extension = extension_of(name);
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
    return DetectedFormat{};
}

std::string_view supported_formats() {
    return "Markdown, plain text in any encoding and source code";
}

}  // namespace braid::ingest
