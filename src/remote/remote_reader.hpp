#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/reader.hpp"
#include "braid/remote/cluster_core.hpp"
#include "braid/remote/leg_query.hpp"
#include "braid/remote/remote_words.hpp"
#include "braid/result.hpp"

namespace braid::remote {

/// Some collections of a cluster, as they are at each read. A point in time is opened only when a
/// list is continued; it is kept for the list's later pages and closed with the last reader of the
/// snapshot.
class RemoteReader final : public Reader {
public:
    /// What the readers of one snapshot share.
    class Snapshot {
    public:
        Snapshot(std::shared_ptr<ClusterCore> core,
                 std::map<std::string, RemoteCollectionPtr> collections)
            : core_(std::move(core)), collections_(std::move(collections)), now_(core_->now()) {
            for (const auto& [name, collection] : collections_) writes_[name] = core_->writes(name);
        }
        ~Snapshot();
        Snapshot(const Snapshot&) = delete;
        Snapshot& operator=(const Snapshot&) = delete;
        Snapshot(Snapshot&&) = delete;
        Snapshot& operator=(Snapshot&&) = delete;

        ClusterCore& core() const noexcept { return *core_; }
        Timestamp now() const noexcept { return now_; }
        Result<RemoteCollectionPtr> find(const std::string& name) const;
        /// Makes searchable what was written here before the snapshot was taken.
        Result<> refresh(const RemoteCollection& collection, const CallLimits& limits) const {
            return core_->refresh_written(collection, limits,
                                          writes_.at(collection.meta.collection));
        }
        /// The collection's point in time, opened now if there is none. `expired`: one that the
        /// cluster has forgotten, to be replaced.
        Result<std::string> point_in_time(const RemoteCollection& collection,
                                          const std::string& expired, const CallLimits& limits);
        /// The one that is open, or none.
        std::string open_point(const RemoteCollection& collection) const;

    private:
        const std::shared_ptr<ClusterCore> core_;
        const std::map<std::string, RemoteCollectionPtr> collections_;
        const Timestamp now_;                          // the time by which chunks have expired
        std::map<std::string, std::uint64_t> writes_;  // by this process, when it was taken
        mutable std::mutex mutex_;
        std::map<std::string, std::string> points_;
    };

    RemoteReader(std::shared_ptr<Snapshot> snapshot, CallLimits limits)
        : snapshot_(std::move(snapshot)), limits_(std::move(limits)) {}

    ReaderPtr with(const CallLimits& limits) const override {
        return std::make_shared<RemoteReader>(snapshot_, limits);
    }
    Result<Schema> schema(const std::string& collection) const override;
    Result<std::shared_ptr<const rank::Model>> ranker(const std::string& collection) const override;
    Result<std::vector<std::string>> analyze(const std::string& collection,
                                             std::string_view text) const override;
    std::vector<Result<LegResult>> search(std::span<const Leg> legs) const override;
    Result<std::vector<std::optional<double>>> score(
        const Leg& leg, std::span<const std::string> chunk_ids) const override;
    Result<std::vector<std::optional<Chunk>>> fetch(const ReadScope& scope,
                                                    std::span<const std::string> chunk_ids,
                                                    bool with_vectors) const override;
    Result<std::vector<std::vector<Chunk>>> neighbors(
        const ReadScope& scope, std::span<const NeighborRange> ranges) const override;
    Result<std::uint64_t> count(const ReadScope& scope) const override;
    /// Of fields, at most the 1,000 most frequent.
    Result<std::vector<FacetCount>> facets(const ReadScope& scope, const std::string& field,
                                           std::size_t limit) const override;
    Result<CollectionStats> stats(const ReadScope& scope) const override;
    Result<std::vector<Suggestion>> suggest(const ReadScope& scope, std::string_view text,
                                            std::size_t limit) const override;
    Result<std::vector<Chunk>> scan(const ReadScope& scope, const std::string& after,
                                    std::size_t limit, bool with_vectors) const override;

private:
    /// A leg in progress: the cluster was asked, or it is answered without asking.
    struct Pending {
        const Leg* leg = nullptr;
        RemoteCollectionPtr collection;
        Array scope;
        SearchedWords words;   // Sparse
        std::size_t size = 0;  // asked for
        bool exact = true;
        std::optional<Result<LegResult>> result;
        /// Sparse, of its phrasings: terms that no hit has.
        std::vector<std::string> unmatched;
    };

    /// Fails for unknown collections, those being filled, and limits that have been exceeded.
    Result<RemoteCollectionPtr> readable(const std::string& collection) const;
    /// The same, and searches see what was written here before the snapshot was taken. Reads by id
    /// see it anyway.
    Result<RemoteCollectionPtr> searchable(const std::string& collection) const;
    Result<Value> ask(const RemoteCollection& collection, Object body) const;
    Result<Array> clauses_of(const ReadScope& scope, const RemoteCollection& collection) const;
    Result<std::vector<FacetCount>> fields(const RemoteCollection& collection, const Array& clauses,
                                           std::size_t limit) const;
    Result<Chunk> chunk_of(const Value& hit, bool with_vectors) const;
    Result<bool> sees_vectors(const RemoteCollection& collection, const ReadScope& scope) const;
    Result<> check_vector(const Leg& leg, const RemoteCollection& collection, bool& none) const;

    /// What the scope's principal sees of the namespace, whatever the filter.
    Result<RemoteWords> words_in(const ReadScope& scope, const RemoteCollectionPtr& of) const;
    Result<SearchedWords> searched_words(const Leg& leg, const RemoteCollectionPtr& of) const;
    /// Finds out which of the terms that no hit has no visible chunk has either.
    void find_absent(std::vector<Pending>& all) const;

    Result<> prepare(Pending& pending) const;
    SearchItem item_of(const Pending& pending) const;
    /// True if the answer settles the leg; false if it must be asked again with a larger size.
    Result<bool> take(Pending& pending, const Value& answer) const;
    void round(std::vector<Pending*>& open) const;
    Result<std::vector<std::optional<double>>> score_words(
        const Leg& leg, const RemoteCollectionPtr& collection,
        std::span<const std::string> chunk_ids) const;
    Result<std::vector<std::optional<double>>> score_vectors(
        const Leg& leg, const RemoteCollection& collection,
        std::span<const std::string> chunk_ids) const;

    std::shared_ptr<Snapshot> snapshot_;
    CallLimits limits_;
};

/// Whether a principal may see a chunk. InvalidArgument if its clearance is not a level.
Result<bool> is_visible(const Chunk& chunk, const Principal& principal, const Schema& schema);

}  // namespace braid::remote
