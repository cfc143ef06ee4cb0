#include "braid/service/directory_target.hpp"

#include <utility>

namespace braid::service {

Result<std::string> ServiceTarget::embedder() {
    BRAID_TRY(Schema schema, service_.schema(at_.collection));
    return std::move(schema.vectors.embedder);
}

Result<std::optional<TokenCounter>> ServiceTarget::token_counter() {
    return service_.token_counter(at_.collection);
}

Result<std::vector<std::optional<Chunk>>> ServiceTarget::get(
    const std::vector<std::string>& chunk_ids) {
    return service_.run(GetRequest{.at = at_, .chunk_ids = chunk_ids});
}

Result<std::uint64_t> ServiceTarget::count(const Value& filter) {
    BRAID_TRY(Filter parsed, parse_filter(filter));
    BRAID_TRY(const ChunkCount counted,
              service_.run(CountRequest{.at = at_, .filter = std::move(parsed)}));
    return counted.count;
}

Result<std::vector<Chunk>> ServiceTarget::scan(const Value& filter, const std::string& after,
                                               std::size_t limit) {
    BRAID_TRY(Filter parsed, parse_filter(filter));
    BRAID_TRY(ScanPage page,
              service_.run(ScanRequest{
                  .at = at_, .filter = std::move(parsed), .after = after, .limit = limit}));
    return std::move(page.chunks);
}

Result<WriteReport> ServiceTarget::replace_in(const std::string& collection,
                                              std::vector<Chunk> chunks) const {
    WriteOptions whole;
    whole.replace_documents = true;
    whole.limits.stop = stop_;
    return service_.add(collection, std::move(chunks), *at_.namespace_, whole);
}

Result<WriteReport> ServiceTarget::replace(std::vector<Chunk> chunks) {
    return replace_in(at_.collection, std::move(chunks));
}

Result<WriteReport> ServiceTarget::replace_whole(std::vector<Chunk> documents) {
    return replace_in(documents_, std::move(documents));
}

Result<> ServiceTarget::update(std::vector<MetadataUpdate> updates) {
    BRAID_CHECK(service_.run(UpdateRequest{.at = at_, .updates = std::move(updates)}));
    return {};
}

Result<std::uint64_t> ServiceTarget::remove(const std::vector<std::string>& document_ids) {
    RemoveRequest wanted{.at = at_};
    wanted.which.document_ids = document_ids;
    if (!documents_.empty()) {
        RemoveRequest whole = wanted;
        whole.at.collection = documents_;
        BRAID_CHECK(service_.run(std::move(whole)));
    }
    BRAID_TRY(const RemoveReport report, service_.run(std::move(wanted)));
    return report.write.written;
}

}  // namespace braid::service
