#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_set>

#include "braid/index/write_rules.hpp"
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
        return index::owned_elsewhere(ids[i], there[i]->document_id, batch[i].document_id);
    }
    return {};
}

Result<std::uint64_t> Collection::drop_unchanged(const std::string& namespace_,
                                                 std::vector<Chunk>& batch) const {
    BRAID_TRY(const ViewPtr view, present(namespace_, {}));
    std::vector<Chunk> changed;
    const std::size_t all = batch.size();
    for (Chunk& chunk : batch) {
        BRAID_TRY(auto there, view->fetch(std::span(&chunk.chunk_id, 1), true));
        if (there.front()) there.front()->version = chunk.version;
        if (there.front() != chunk) changed.push_back(std::move(chunk));
    }
    batch = std::move(changed);
    return all - batch.size();
}

Result<> Collection::raise_format(std::uint32_t format) {
    if (format_ >= format) return {};
    const std::scoped_lock lock(files_mutex_);
    if (format_ >= format) return {};
    Manifest manifest = present_manifest_locked();
    manifest.format = format;
    BRAID_CHECK(replace_manifest(manifest));
    format_ = format;
    return {};
}

}  // namespace braid::local
