#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "braid/database.hpp"
#include "braid/ingest/directory.hpp"

namespace braid::ingest {

/// A collection of a database in this process; the database must outlive it.
class DatabaseTarget final : public DirectoryTarget {
public:
    DatabaseTarget(Database& database, const DirectoryOptions& options)
        : database_(database),
          scope_{options.collection, options.namespace_, {}, {}},
          documents_(options.documents),
          stop_(options.stop) {}

    Result<std::string> embedder() override {
        BRAID_TRY(CollectionInfo info, database_.describe(scope_.collection));
        return std::move(info.schema.vectors.embedder);
    }
    Result<std::optional<TokenCounter>> token_counter() override {
        return database_.token_counter(scope_.collection);
    }
    Result<std::vector<std::optional<Chunk>>> get(
        const std::vector<std::string>& chunk_ids) override {
        return database_.get(scope_, chunk_ids);
    }
    Result<std::uint64_t> count(const Value& filter) override {
        ReadScope scope = scope_;
        BRAID_TRY(scope.filter, parse_filter(filter));
        return database_.count(scope);
    }
    Result<std::vector<Chunk>> scan(const Value& filter, const std::string& after,
                                    std::size_t limit) override {
        ReadScope scope = scope_;
        BRAID_TRY(scope.filter, parse_filter(filter));
        return database_.scan(scope, after, limit);
    }
    Result<WriteReport> replace(std::vector<Chunk> chunks) override {
        return replace_in(scope_.collection, std::move(chunks));
    }
    Result<WriteReport> replace_whole(std::vector<Chunk> documents) override {
        return replace_in(documents_, std::move(documents));
    }
    Result<> update(std::vector<MetadataUpdate> updates) override {
        BRAID_CHECK(database_.update(scope_.collection, std::move(updates), scope_.namespace_));
        return {};
    }
    Result<std::uint64_t> remove(const std::vector<std::string>& document_ids) override {
        const DeleteSelector selector{.chunk_ids = {}, .document_ids = document_ids};
        if (!documents_.empty()) {
            ReadScope whole = scope_;
            whole.collection = documents_;
            BRAID_CHECK(database_.remove(whole, selector));
        }
        BRAID_TRY(const WriteReport removed, database_.remove(scope_, selector));
        return removed.written;
    }
    bool is_concurrent() const override { return true; }

private:
    Result<WriteReport> replace_in(const std::string& collection, std::vector<Chunk> chunks) {
        WriteOptions whole;
        whole.replace_documents = true;
        whole.limits.stop = stop_;
        return database_.add(collection, std::move(chunks), scope_.namespace_, whole);
    }

    Database& database_;
    ReadScope scope_;
    std::string documents_;
    std::stop_token stop_;
};

}  // namespace braid::ingest
