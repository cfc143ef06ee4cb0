#include "braid/index/ids.hpp"

#include <algorithm>

#include "braid/core/utf8.hpp"

namespace braid::index {
namespace {

constexpr std::size_t kMaxIdBytes = 512;

bool is_control(char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

}  // namespace

Result<> check_id(std::string_view id, std::string_view what) {
    if (id.empty()) return invalid_argument(std::string(what) + " is empty");
    if (id.size() > kMaxIdBytes) {
        return invalid_argument(std::string(what) + " \"" + std::string(core::cut_at_most(id, 40)) +
                                "...\" is longer than 512 bytes");
    }
    return core::require_utf8(id, what);
}

Result<> check_characters(std::string_view id, std::string_view what) {
    const auto found = std::ranges::find_if(id, is_control);
    if (found == id.end()) return {};
    const auto code = static_cast<unsigned>(static_cast<unsigned char>(*found));
    constexpr std::string_view digits = "0123456789ABCDEF";
    return invalid_argument(std::string(what) + " holds the control character U+00" +
                            digits[code >> 4U] + digits[code & 15U] + " at byte " +
                            std::to_string(found - id.begin()) +
                            "; ids may hold any other characters");
}

Result<> check_characters(const Chunk& chunk) {
    BRAID_CHECK(check_characters(chunk.chunk_id, "chunk_id"));
    BRAID_CHECK(check_characters(chunk.document_id, "document_id"));
    for (const std::string& scope : chunk.visibility_scope) {
        BRAID_CHECK(check_characters(scope, "visibility_scope"));
    }
    return {};
}

std::string shown(std::string_view id) {
    std::string text(core::cut_at_most(id, 80));
    std::ranges::replace_if(text, is_control, '?');
    return text;
}

}  // namespace braid::index
