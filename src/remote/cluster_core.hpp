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
    std::string write_path;  // by its own name: no other collection, should this one be dropped
    text::Analyzer analyzer;
    WholeWeights weights;

    /// With the dimension that the vectors have by now.
    Schema schema() const {
        Schema schema = meta.schema;
        if (schema.vectors.has_vectors()) schema.vectors.dimension = meta.dimension;
        return schema;
    }
    /// For clauses: a time where it matters, because some chunk may have expired by then.
    std::optional<Timestamp> expiry_at(Timestamp now) const {
        return meta.expires ? std::optional(now) : std::nullopt;
    }
    DocumentForm form() const { return {meta.schema, analyzer, weights}; }
    /// What the cluster's BM25 score is to be divided by: it keeps a factor that ours leaves out.
    double score_factor() const { return meta.schema.bm25.k1 * weights.scale + 1; }
};
using RemoteCollectionPtr = std::shared_ptr<const RemoteCollection>;

/// One search of many in a round trip.
struct SearchItem {
    std::string index;  // or
    std::string pit;    // a point in time, if not empty
    Object body;
    bool same_statistics = false;  // weigh words by all shards, not by each one's own
    std::string preference;        // equal ones go to the same copies
};

/// What a backend and its readers share: the way to the cluster, what its collections are, and
/// which of them were written to and not yet made searchable. Safe for concurrent use.
class ClusterCore {
public:
    ClusterCore(RemoteOptions options, std::unique_ptr<ClusterClient> client)
        : options_(std::move(options)), client_(std::move(client)) {}
    /// Makes searchable what was written, for whoever comes next.
    ~ClusterCore();
    ClusterCore(const ClusterCore&) = delete;
    ClusterCore& operator=(const ClusterCore&) = delete;
    ClusterCore(ClusterCore&&) = delete;
    ClusterCore& operator=(ClusterCore&&) = delete;

    const RemoteOptions& options() const noexcept { return options_; }
    const ClusterClient& client() const noexcept { return *client_; }

    /// Before the first request of this process: fails if what answers is not an OpenSearch that
    /// this backend can work with.
    Result<> meet(const CallLimits& limits);

    /// As it was a second ago at most. NotFound.
    Result<RemoteCollectionPtr> find(const std::string& name, const CallLimits& limits);
    /// Asks the cluster.
    Result<RemoteCollectionPtr> find_now(const std::string& name, const CallLimits& limits);
    Result<RemoteCollectionPtr> make(IndexMeta meta) const;
    /// Makes known what was found out. A dimension that is known stays so: the node that was asked
    /// may not have heard of it yet.
    RemoteCollectionPtr remember(RemoteCollectionPtr collection);
    /// What is known of it: the next find() asks.
    void forget(const std::string& name);
    void dropped(const std::string& name);

    /// After a write, whatever became of it.
    void wrote(const std::string& name);
    /// How many writes there were here.
    std::uint64_t writes(const std::string& name) const;
    /// So that the next search sees what was written here, on whichever copy it is made; with
    /// `writes`, so many of them. Of calls at the same time one asks the cluster, and the others
    /// wait for it.
    Result<> refresh_written(const RemoteCollection& collection, const CallLimits& limits,
                             std::uint64_t writes = std::numeric_limits<std::uint64_t>::max());

    /// Whether it is time to look for what is long past: once an hour.
    bool may_forget(const std::string& name);

    /// The collection's learned ranking, read again once it has changed; null if it has none.
    Result<std::shared_ptr<const rank::Model>> ranker(const RemoteCollection& collection,
                                                      const CallLimits& limits);

    /// All searches in one round trip, those that failed for the moment again. An answer is one of
    /// all shards: a part would be a wrong one.
    std::vector<Result<Value>> search(std::vector<SearchItem> items,
                                      const CallLimits& limits) const;
    Result<Value> search_one(SearchItem item, const CallLimits& limits) const;

    /// One entry per id, in order. As they are now, even if no search sees them yet; what has
    /// expired by `now` is gone.
    Result<std::vector<StoredChunk>> read(const RemoteCollection& collection,
                                          const std::string& namespace_,
                                          std::span<const std::string> ids, bool with_vectors,
                                          Timestamp now, const CallLimits& limits) const;

    /// By which chunks expire: the clock, but never earlier than a time it gave before.
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
        std::uint64_t refreshed = 0;  // so many of them can be searched
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

/// NotFound, in the words that all doors know.
tl::unexpected<Error> no_such_collection(const std::string& name);

/// What stands at "hits.hits" of a search; empty if there is nothing.
const Array& hits_of(const Value& answer);

}  // namespace braid::remote
