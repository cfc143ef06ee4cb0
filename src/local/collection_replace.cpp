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
    const Present now = present(namespace_);
    BRAID_TRY(const View view, View::create(*now.partition, manifest_.schema, principal, now.at));
    std::vector<std::string> ids;
    for (const std::string_view document : documents) {
        for (const Row row : now.partition->rows_of_document(std::string(document))) {
            const std::string& id = now.partition->chunk(row).chunk_id;
            if (view.shows(row) && !kept.contains(id)) ids.push_back(id);
        }
    }
    std::ranges::sort(ids);
    return ids;
}

Result<> Collection::raise_format() {
    if (format_ >= kManifestFormat) return {};
    Manifest manifest = manifest_;
    manifest.format = kManifestFormat;
    {
        const std::shared_lock lock(state_mutex_);
        manifest.version_base = versions_.base();
    }
    BRAID_CHECK(directory_->replace(manifest_name_, write_manifest(manifest)));
    format_ = kManifestFormat;
    return {};
}

}  // namespace braid::local
