#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/backend.hpp"
#include "braid/reader.hpp"

namespace braid {

/// Forwards every read to another reader. To wrap one, derive from this class, override what should
/// differ, and have `wrap` put the same wrapper around another reader. `score_found` alone is not
/// forwarded: it asks this reader's `score`, which may have been overridden.
class ForwardingReader : public Reader {
public:
    explicit ForwardingReader(ReaderPtr inner) : inner_(std::move(inner)) {}

    ReaderPtr with(const CallLimits& limits) const override { return wrap(inner_->with(limits)); }
    ReaderPtr lapsing() const override { return wrap(inner_->lapsing()); }
    Result<ReaderPtr> resume(const CallLimits& limits) const override {
        BRAID_TRY(ReaderPtr inner, inner_->resume(limits));
        return wrap(std::move(inner));
    }
    Result<Schema> schema(const std::string& collection) const override {
        return inner_->schema(collection);
    }
    Result<std::shared_ptr<const rank::Model>> ranker(
        const std::string& collection) const override {
        return inner_->ranker(collection);
    }
    Result<std::vector<std::string>> analyze(const std::string& collection,
                                             std::string_view text) const override {
        return inner_->analyze(collection, text);
    }
    std::vector<Result<LegResult>> search(std::span<const Leg> legs) const override {
        return inner_->search(legs);
    }
    Result<TextStatistics> text_statistics(const Leg& leg) const override {
        return inner_->text_statistics(leg);
    }
    Result<std::vector<std::optional<double>>> score(
        const Leg& leg, std::span<const std::string> chunk_ids) const override {
        return inner_->score(leg, chunk_ids);
    }
    Result<std::vector<std::optional<std::uint64_t>>> rank_of(
        const Leg& leg, std::span<const std::string> chunk_ids) const override {
        return inner_->rank_of(leg, chunk_ids);
    }
    Result<std::vector<std::optional<Chunk>>> fetch(const ReadScope& scope,
                                                    std::span<const std::string> chunk_ids,
                                                    bool with_vectors) const override {
        return inner_->fetch(scope, chunk_ids, with_vectors);
    }
    Result<std::vector<std::vector<Chunk>>> neighbors(
        const ReadScope& scope, std::span<const NeighborRange> ranges) const override {
        return inner_->neighbors(scope, ranges);
    }
    Result<std::uint64_t> count(const ReadScope& scope) const override {
        return inner_->count(scope);
    }
    Result<std::vector<FacetCount>> facets(const ReadScope& scope, const std::string& field,
                                           std::size_t limit) const override {
        return inner_->facets(scope, field, limit);
    }
    Result<CollectionStats> stats(const ReadScope& scope) const override {
        return inner_->stats(scope);
    }
    Result<std::vector<Suggestion>> suggest(const ReadScope& scope, std::string_view text,
                                            std::size_t limit) const override {
        return inner_->suggest(scope, text, limit);
    }
    Result<std::vector<Chunk>> scan(const ReadScope& scope, const std::string& after,
                                    std::size_t limit, bool with_vectors) const override {
        return inner_->scan(scope, after, limit, with_vectors);
    }

protected:
    virtual ReaderPtr wrap(ReaderPtr inner) const = 0;
    const Reader& inner() const { return *inner_; }

private:
    ReaderPtr inner_;
};

/// Forwards every call to another backend, which it owns. To change reads, override `snapshot` and
/// wrap the reader that the other returns.
class ForwardingBackend : public Backend {
public:
    explicit ForwardingBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

    Capabilities capabilities() const override { return inner_->capabilities(); }

    Result<> create_collection(const std::string& name, const Schema& schema) override {
        return inner_->create_collection(name, schema);
    }
    Result<> drop_collection(const std::string& name) override {
        return inner_->drop_collection(name);
    }
    Result<> begin_collection(const std::string& name, const Schema& schema) override {
        return inner_->begin_collection(name, schema);
    }
    Result<> finish_collection(const std::string& name) override {
        return inner_->finish_collection(name);
    }
    Result<std::vector<CollectionInfo>> collections(const Principal& principal) const override {
        return inner_->collections(principal);
    }
    Result<CollectionInfo> describe(const std::string& name,
                                    const Principal& principal) const override {
        return inner_->describe(name, principal);
    }
    Result<ReaderPtr> snapshot(std::span<const std::string> collections,
                               const CallLimits& limits) const override {
        return inner_->snapshot(collections, limits);
    }
    std::optional<std::string> rewriting(const std::string& collection,
                                         const Principal& principal) const override {
        return inner_->rewriting(collection, principal);
    }

    Result<WriteReport> upsert(const std::string& collection, const std::string& namespace_,
                               std::vector<Chunk> chunks, const WriteOptions& options) override {
        return inner_->upsert(collection, namespace_, std::move(chunks), options);
    }
    Result<WriteReport> update(const std::string& collection, const std::string& namespace_,
                               std::vector<MetadataUpdate> updates,
                               const WriteOptions& options) override {
        return inner_->update(collection, namespace_, std::move(updates), options);
    }
    Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                               const WriteOptions& options) override {
        return inner_->remove(scope, selector, options);
    }

    BackendHealth health() const override { return inner_->health(); }
    Result<CheckReport> check(const CallLimits& limits) const override {
        return inner_->check(limits);
    }
    Result<CheckReport> backup(const std::filesystem::path& path,
                               const CallLimits& limits) const override {
        return inner_->backup(path, limits);
    }
    Result<std::unique_ptr<Rewrite>> rewrite(const std::string& collection,
                                             const Schema& schema) override {
        return inner_->rewrite(collection, schema);
    }
    Result<std::unique_ptr<Rewrite>> compaction(const std::string& collection) override {
        return inner_->compaction(collection);
    }
    Result<> set_ranker(const std::string& collection, const std::string& model) override {
        return inner_->set_ranker(collection, model);
    }
    Result<> set_probes(const std::string& collection, const std::string& namespace_,
                        const LegProbes& probes) override {
        return inner_->set_probes(collection, namespace_, probes);
    }

protected:
    Backend& inner() const { return *inner_; }

private:
    std::unique_ptr<Backend> inner_;
};

}  // namespace braid
