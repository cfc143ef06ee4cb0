#include "braid/ingest/document_ids.hpp"

#include <algorithm>
#include <span>

#include "braid/core/sha256.hpp"
#include "braid/core/utf8.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kMaxDocumentId = 500;  // an id has 512 bytes, with "#123" for a chunk
constexpr std::size_t kKeyDigits = 32;

/// Whether the chunk was cut from the file with this key.
bool is_from(const Chunk& chunk, const std::string& key) {
    const Value* const stored = chunk.metadata.find(kSourceKey);
    return stored != nullptr && *stored == Value(key);
}

/// Cut from a file by a version that did not record which.
bool is_unmarked(const Chunk& chunk) {
    return chunk.metadata.find(kFingerprintKey) != nullptr &&
           chunk.metadata.find(kSourceKey) == nullptr;
}

}  // namespace

FileIds file_ids(const std::filesystem::path& place, std::string_view below) {
    const std::string whole = place.generic_string();
    FileIds out;
    out.key = core::sha256_hex(whole).substr(0, kKeyDigits);
    bool has_below = false;
    for (std::size_t at = whole.size(); at > 0;) {
        const std::size_t slash = whole.rfind('/', at - 1);
        const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
        std::string id = whole.substr(begin);
        at = slash == std::string::npos ? 0 : slash;
        if (id == below) {
            out.preferred = out.ids.size();
            has_below = true;
        } else if (id.empty() || id.size() > kMaxDocumentId || !core::is_valid_utf8(id)) {
            continue;
        }
        out.ids.push_back(std::move(id));
    }
    // A link to a file has its own name.
    if (!has_below) out.ids.insert(out.ids.begin(), std::string(below));
    return out;
}

std::optional<DocumentId> choose_document_id(
    const FileIds& file, const std::vector<std::optional<Chunk>>& present, bool replace,
    const std::function<bool(const std::string&)>& claimed) {
    const auto at = [&](std::size_t i) -> const std::optional<Chunk>& {
        static const std::optional<Chunk> kNone;
        return i < present.size() ? present[i] : kNone;
    };
    for (std::size_t i = 0; i < file.ids.size(); ++i) {
        if (at(i) && is_from(*at(i), file.key)) return DocumentId{.id = file.ids[i]};
    }
    for (std::size_t i = file.preferred; i < file.ids.size(); ++i) {
        const std::string& id = file.ids[i];
        const bool longer = i > file.preferred;
        if (!at(i)) return DocumentId{.id = id, .longer = longer};
        if (longer) continue;
        if (is_unmarked(*at(i))) return DocumentId{.id = id, .unmarked = true};
        const bool from_file = at(i)->metadata.find(kFingerprintKey) != nullptr;
        if (replace && from_file && !claimed(id)) return DocumentId{.id = id};
    }
    return std::nullopt;
}

}  // namespace braid::ingest
