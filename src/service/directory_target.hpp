#pragma once

#include <string>
#include <vector>

#include "braid/ingest/directory.hpp"
#include "braid/service/service.hpp"

namespace braid::service {

/// Sends cut texts to wherever the database is.
class ServiceTarget final : public ingest::DirectoryTarget {
public:
    /// `service` outlives it.
    ServiceTarget(const Service& service, const ingest::DirectoryOptions& options)
        : service_(service),
          at_{options.collection, options.namespace_},
          documents_(options.documents),
          stop_(options.stop) {}

    Result<std::string> embedder() override;
    Result<std::optional<TokenCounter>> token_counter() override;
    Result<std::vector<std::optional<Chunk>>> get(
        const std::vector<std::string>& chunk_ids) override;
    Result<std::uint64_t> count(const Value& filter) override;
    Result<std::vector<Chunk>> scan(const Value& filter, const std::string& after,
                                    std::size_t limit) override;
    Result<WriteReport> replace(std::vector<Chunk> chunks) override;
    Result<WriteReport> replace_whole(std::vector<Chunk> documents) override;
    Result<> update(std::vector<MetadataUpdate> updates) override;
    Result<std::uint64_t> remove(const std::vector<std::string>& document_ids) override;

private:
    Result<WriteReport> replace_in(const std::string& collection, std::vector<Chunk> chunks) const;

    const Service& service_;
    Place at_;
    std::string documents_;
    std::stop_token stop_;
};

}  // namespace braid::service
