#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/remote/cluster_client.hpp"
#include "braid/remote/document.hpp"
#include "braid/remote/index_layout.hpp"
#include "braid/result.hpp"
#include "braid/text/analyzer.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::rank {
class Model;
}

namespace braid::remote {

/// A collection as the cluster described it a moment ago. Immutable.
struct RemoteCollection {
    IndexMeta meta;
    std::string index;       // its name
    std::string path;        // the same in a URL, with a slash before it
    std::string write_path;  // by this creation's own alias: never a later namesake's
    text::Analyzer analyzer;
    WholeWeights weights;

    /// With the dimension that its vectors have by now.
    Schema schema() const {
        Schema schema = meta.schema;
        if (schema.vectors.has_vectors()) schema.vectors.dimension = meta.dimension;
        return schema;
    }
    /// The time for use in clauses: given only if some chunk may have expired by then.
    std::optional<Timestamp> expiry_at(Timestamp now) const {
        return meta.expires ? std::optional(now) : std::nullopt;
    }
    DocumentForm form() const { return {meta.schema, analyzer, weights}; }
    /// What to divide the cluster's BM25 score by: it keeps a factor that ours leaves out.
    double score_factor() const { return meta.schema.bm25.k1 * weights.scale + 1; }
};
using RemoteCollectionPtr = std::shared_ptr<const RemoteCollection>;

/// One search among many in a round trip.
struct SearchItem {
    std::string index;  // or
    std::string pit;    // a point in time, if not empty
    Object body;
    bool same_statistics = false;  // weigh words by all shards together, not by each one's own
    std::string preference;        // equal values go to the same copies
};

/// What a backend and its readers share: the connection to the cluster, what its collections are,
/// and which of them have writes that are not searchable yet. Safe for concurrent use.
class ClusterCore {
public:
    ClusterCore(RemoteOptions options, std::unique_ptr<ClusterClient> client)
        : options_(std::move(options)), client_(std::move(client)) {}
    /// Makes writes searchable for whoever comes next.
    ~ClusterCore();
    ClusterCore(const ClusterCore&) = delete;
    ClusterCore& operator=(const ClusterCore&) = delete;
    ClusterCore(ClusterCore&&) = delete;
    ClusterCore& operator=(ClusterCore&&) = delete;

    const RemoteOptions& options() const noexcept { return options_; }
    const ClusterClient& client() const noexcept { return *client_; }

    /// Called before the first request of this process: fails if the server is not an OpenSearch
    /// that this backend can work with.
    Result<> meet(const CallLimits& limits);

    /// As it was at most a second ago. NotFound.
    Result<RemoteCollectionPtr> find(const std::string& name, const CallLimits& limits);
    /// Asks the cluster.
    Result<RemoteCollectionPtr> find_now(const std::string& name, const CallLimits& limits);
    Result<RemoteCollectionPtr> make(IndexMeta meta) const;
    /// Publishes what was found out. A known dimension stays: the node that was asked may not have
    /// heard of it yet.
    RemoteCollectionPtr remember(RemoteCollectionPtr collection);
    /// Drops what is known about it: the next find() asks.
    void forget(const std::string& name);
    void dropped(const std::string& name);

    /// To be called after a write, whatever became of it.
    void wrote(const std::string& name);
    /// How many writes were made here.
    std::uint64_t writes(const std::string& name) const;
    /// Makes sure that the next search sees what was written here, on whichever copy it runs; with
    /// `writes`, the first so many of them. Of concurrent calls one asks the cluster, and the
    /// others wait for it.
    Result<> refresh_written(const RemoteCollection& collection, const CallLimits& limits,
                             std::uint64_t writes = std::numeric_limits<std::uint64_t>::max());

    /// Whether it is time to look for what is long past: once an hour.
    bool may_forget(const std::string& name);

    /// The collection's learned ranking, read again when it changes; null if it has none.
    Result<std::shared_ptr<const rank::Model>> ranker(const RemoteCollection& collection,
                                                      const CallLimits& limits);

    /// All searches in one round trip; those that failed temporarily are repeated. An answer covers
    /// all shards: a partial one would be wrong.
    std::vector<Result<Value>> search(std::vector<SearchItem> items,
                                      const CallLimits& limits) const;
    Result<Value> search_one(SearchItem item, const CallLimits& limits) const;

    /// One entry per id, in order. Chunks as they are now, even if no search sees them yet; those
    /// that have expired by `now` are gone.
    Result<std::vector<StoredChunk>> read(const RemoteCollection& collection,
                                          const std::string& namespace_,
                                          std::span<const std::string> ids, bool with_vectors,
                                          Timestamp now, const CallLimits& limits) const;

    /// The time by which chunks expire: the clock, but never earlier than a time returned before.
    Timestamp now() const noexcept;

private:
    using Clock = std::chrono::steady_clock;
    struct Known {
        RemoteCollectionPtr collection;
        Clock::time_point at;
    };
    /// Writes and refreshes of one collection, counted.
    struct Written {
        std::string path;
        std::uint64_t writes = 0;
        std::uint64_t refreshed = 0;  // this many of them can be searched
        bool refreshing = false;
    };

    struct KnownRanker {
        Dependency read_as;
        std::shared_ptr<const rank::Model> model;
    };

    Result<> refresh(const RemoteCollection& collection, const CallLimits& limits) const;

    const RemoteOptions options_;
    const std::unique_ptr<ClusterClient> client_;
    std::atomic<bool> met_{false};
    mutable std::atomic<std::int64_t> last_now_ = std::numeric_limits<std::int64_t>::min();
    mutable std::mutex mutex_;
    std::map<std::string, Known> known_;
    std::condition_variable_any refreshed_;
    std::map<std::string, Written> written_;
    std::map<std::string, Clock::time_point> past_forgotten_;
    std::map<Version, KnownRanker> rankers_;  // by the collection's creation
};

/// What stands at "hits.hits" of an answer; empty if there is nothing.
const Array& hits_of(const Value& answer);

}  // namespace braid::remote
