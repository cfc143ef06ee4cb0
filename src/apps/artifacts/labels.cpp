#include "braid/apps/artifacts/labels.hpp"

#include <array>

#include "braid/core/utf8.hpp"
#include "braid/json/json.hpp"

namespace braid::apps {

std::string metadata_text(const Chunk& chunk, std::string_view key) {
    const Value* const value = chunk.metadata.find(key);
    if (value == nullptr || value->is_null()) return {};
    return value->is_string() ? value->as_string() : json::print(*value);
}

std::string source_of(const Chunk& chunk) {
    for (const std::string_view key : {"source", "url"}) {
        if (std::string text = metadata_text(chunk, key); !text.empty()) return text;
    }
    return chunk.document_id.empty() ? chunk.chunk_id : chunk.document_id;
}

std::string trust_of(const Chunk& chunk) {
    std::string text = metadata_text(chunk, "trust");
    if (text.empty()) text = "untrusted";
    return text;
}

std::string title_of(const Chunk& chunk) {
    return chunk.title ? *chunk.title : metadata_text(chunk, "title");
}

std::string sensitivity_of(const Chunk& chunk) {
    if (chunk.sensitivity) return *chunk.sensitivity;
    std::string text = metadata_text(chunk, "sensitivity");
    if (text.empty()) text = "normal";
    return text;
}

std::string on_one_line(std::string_view text) {
    // Longest first: "\r\n" is one line break. The last three are U+0085, U+2028 and U+2029.
    static constexpr std::array<std::string_view, 8> kBreaks{
        "\r\n", "\n", "\r", "\v", "\f", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};
    std::string line;
    line.reserve(text.size());
    while (!text.empty()) {
        std::size_t length = 0;
        for (const std::string_view mark : kBreaks) {
            if (text.starts_with(mark)) {
                length = mark.size();
                break;
            }
        }
        line += length > 0 ? ' ' : text.front();
        text.remove_prefix(length > 0 ? length : 1);
    }
    return line;
}

std::string beginning(std::string_view text, std::size_t count) {
    std::string cut(core::first_code_points(text, count));
    if (cut.size() < text.size()) cut += "...";
    return cut;
}

}  // namespace braid::apps
