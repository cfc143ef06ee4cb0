#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_set>

#include "braid/local/collection.hpp"

namespace braid::local {

Result<std::vector<std::string>> Collection::left_out(const std::string& namespace_,
                                                      const std::vector<Chunk>& batch,
                                                      const Principal& principal) const {
    std::unordered_set<std::string_view> kept;
    std::set<std::string_view> documents;
    for (const Chunk& chunk : batch) {
        kept.insert(chunk.chunk_id);
        documents.insert(chunk.document_id);
    }
    BRAID_TRY(const ViewPtr view, present(namespace_, principal));
    std::vector<std::string> ids;
    for (const std::string_view document : documents) {
        BRAID_TRY(const auto chunks, view->ids_of_document(std::string(document)));
        std::ranges::copy_if(chunks, std::back_inserter(ids),
                             [&](const std::string& id) { return !kept.contains(id); });
    }
    std::ranges::sort(ids);
    return ids;
}

Result<> Collection::check_owners(const std::string& namespace_,
                                  const std::vector<Chunk>& batch) const {
    std::unordered_set<std::string_view> documents;
    std::vector<std::string> ids;
    for (const Chunk& chunk : batch) {
        documents.insert(chunk.document_id);
        ids.push_back(chunk.chunk_id);
    }
    BRAID_TRY(const ViewPtr view, present(namespace_, {}));
    BRAID_TRY(const auto there, view->fetch(ids, false));
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (!there[i] || documents.contains(there[i]->document_id)) continue;
        return fail(ErrorCode::Conflict, "the chunk id \"" + ids[i] + "\" belongs to document \"" +
                                             there[i]->document_id + "\"; replacing \"" +
                                             batch[i].document_id + "\" would take it away");
    }
    return {};
}

Result<> Collection::raise_format() {
    if (format_ >= kReplacingFormat) return {};
    const std::scoped_lock lock(files_mutex_);
    Manifest manifest = present_manifest_locked();
    manifest.format = kReplacingFormat;
    BRAID_CHECK(replace_manifest(manifest));
    format_ = kReplacingFormat;
    return {};
}

}  // namespace braid::local
