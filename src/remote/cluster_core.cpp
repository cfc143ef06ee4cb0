#include "braid/remote/cluster_core.hpp"

#include <algorithm>
#include <utility>

#include "braid/core/clock.hpp"
#include "braid/core/limits.hpp"
#include "braid/core/unknown_collection.hpp"
#include "braid/json/json.hpp"
#include "braid/rank/model_json.hpp"
#include "braid/remote/kept.hpp"

namespace braid::remote {
namespace {

constexpr auto kFresh = std::chrono::seconds(1);
constexpr auto kForgetEvery = std::chrono::hours(1);
constexpr std::size_t kIdsPerRead = 500;

void append_item(std::string& lines, const SearchItem& item) {
    Object head;
    // A point in time brings its own index and copies, and decides whether answers may be
    // incomplete.
    if (item.pit.empty()) {
        head.set("index", item.index);
        head.set("allow_partial_search_results", false);
        if (!item.preference.empty()) head.set("preference", item.preference);
    }
    if (item.same_statistics) head.set("search_type", "dfs_query_then_fetch");
    json::print_to(lines, head);
    lines += '\n';
    Object body = item.body;
    if (!item.pit.empty()) {
        body.set("pit", Object{{"id", Value(item.pit)}, {"keep_alive", "5m"}});
    }
    json::print_to(lines, body);
    lines += '\n';
}

std::int64_t integer_in(const Value* object, std::string_view name) {
    const Value* const found = object != nullptr ? object->find(name) : nullptr;
    return found != nullptr && found->is_int() ? found->as_int() : 0;
}

/// The answer to one search: the whole of it or an error.
Result<Value> require_whole(Value answer, const std::string& doing) {
    const auto status = static_cast<int>(integer_in(&answer, "status"));
    if (const Value* const error = answer.find("error"); error != nullptr) {
        return tl::unexpected<Error>(error_of(status, *error, doing));
    }
    const Value* const shards = answer.find("_shards");
    const std::int64_t failed = integer_in(shards, "failed");
    const Value* const late = answer.find("timed_out");
    if (shards == nullptr || failed > 0 ||
        (late != nullptr && late->is_bool() && late->as_bool())) {
        return fail(ErrorCode::Unavailable, doing + ": " + std::to_string(failed) + " of " +
                                                std::to_string(integer_in(shards, "total")) +
                                                " shards did not answer");
    }
    return answer;
}

bool passes(const Error& error) {
    return error.code == ErrorCode::Unavailable;
}

}  // namespace

const Array& hits_of(const Value& answer) {
    static const Array kNone;
    const Value* const outer = answer.find("hits");
    const Value* const hits = outer != nullptr ? outer->find("hits") : nullptr;
    return hits != nullptr && hits->is_array() ? hits->as_array() : kNone;
}

ClusterCore::~ClusterCore() {
    CallLimits limits;
    limits.deadline = Clock::now() + std::chrono::seconds(10);
    limits.interactive = true;
    for (const auto& [name, written] : written_) {
        if (written.refreshed == written.writes) continue;
        (void)client_->send("POST", written.path + "/_refresh", "", limits);
    }
}

Result<RemoteCollectionPtr> ClusterCore::make(IndexMeta meta) const {
    BRAID_TRY(text::Analyzer analyzer,
              text::Analyzer::create({.name = meta.schema.analyzer,
                                      .language = meta.schema.language,
                                      .stop_words = meta.schema.stop_words}));
    std::string index = index_name(options_.prefix, meta.collection);
    std::string path = "/" + index_path(options_.prefix, meta.collection);
    std::string write_path = "/" + own_name(options_.prefix, meta);
    WholeWeights weights = whole_weights(meta.schema);
    return std::make_shared<const RemoteCollection>(
        RemoteCollection{std::move(meta), std::move(index), std::move(path), std::move(write_path),
                         std::move(analyzer), std::move(weights)});
}

Result<> ClusterCore::meet(const CallLimits& limits) {
    if (met_.load(std::memory_order_relaxed)) return {};
    BRAID_TRY(const ClusterAnswer answer, client_->send("GET", "/", "", limits));
    if (answer.status == 401 || answer.status == 429 || answer.status >= 500) {
        return tl::unexpected<Error>(error_of(answer.status, answer.body, "asking the cluster"));
    }
    // A user who may not ask who he is may still be allowed the rest.
    if (answer.status != 403) BRAID_CHECK(check_server(answer.body));
    met_.store(true, std::memory_order_relaxed);
    return {};
}

Result<RemoteCollectionPtr> ClusterCore::find(const std::string& name, const CallLimits& limits) {
    {
        const std::scoped_lock lock(mutex_);
        const auto known = known_.find(name);
        if (known != known_.end() && Clock::now() - known->second.at < kFresh) {
            return known->second.collection;
        }
    }
    return find_now(name, limits);
}

Result<RemoteCollectionPtr> ClusterCore::find_now(const std::string& name,
                                                  const CallLimits& limits) {
    if (!validate_collection_name(name)) return core::no_collection(name);
    BRAID_CHECK(meet(limits));
    // Without a cluster manager the cluster would wait for one, by default for half a minute.
    const std::string path =
        "/" + index_path(options_.prefix, name) + "/_mapping?cluster_manager_timeout=5s";
    auto answer = client_->ask("GET", path, "", limits);
    if (!answer) {
        if (answer.error().code == ErrorCode::NotFound) {
            dropped(name);
            return core::no_collection(name);
        }
        return tl::unexpected<Error>(std::move(answer).error());
    }
    const Value* const index = answer->find(index_name(options_.prefix, name));
    const Value* const mappings = index != nullptr ? index->find("mappings") : nullptr;
    if (mappings == nullptr) return core::no_collection(name);
    auto meta = read_mapping(*mappings);
    if (!meta) {
        return fail("index \"" + index_name(options_.prefix, name) + "\"", std::move(meta).error());
    }
    BRAID_TRY(RemoteCollectionPtr collection, make(*std::move(meta)));
    return remember(std::move(collection));
}

RemoteCollectionPtr ClusterCore::remember(RemoteCollectionPtr collection) {
    const std::scoped_lock lock(mutex_);
    Known& known = known_[collection->meta.collection];
    const IndexMeta& now = collection->meta;
    const IndexMeta* const before = known.collection != nullptr ? &known.collection->meta : nullptr;
    const bool knew_more =
        before != nullptr && before->made == now.made &&
        ((before->dimension != 0 && now.dimension == 0) || (before->expires && !now.expires));
    if (!knew_more) known.collection = std::move(collection);
    known.at = Clock::now();
    return known.collection;
}

void ClusterCore::forget(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    known_.erase(name);
}

void ClusterCore::dropped(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    known_.erase(name);
    written_.erase(name);
}

void ClusterCore::wrote(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    Written& written = written_[name];
    written.path = "/" + index_path(options_.prefix, name);
    ++written.writes;
}

Result<> ClusterCore::refresh(const RemoteCollection& collection, const CallLimits& limits) const {
    const std::string named = "collection \"" + collection.meta.collection + "\"";
    for (std::size_t attempt = 1;; ++attempt) {
        BRAID_TRY(const Value answer,
                  client_->ask("POST", collection.path + "/_refresh", "", limits));
        const Value* const shards = answer.find("_shards");
        // A shard without any copy is no failure here: the search will report it. A copy that
        // failed may still be searched until the cluster notices that its node is gone.
        if (integer_in(shards, "successful") > 0 && integer_in(shards, "failed") == 0) return {};
        const std::size_t most = limits.interactive ? 3 : client_->retries().max_attempts;
        if (attempt >= most || !net::pause(client_->retries(), attempt, limits)) {
            return fail(ErrorCode::Unavailable,
                        named + ": not every replica can be searched for what was written");
        }
    }
}

std::uint64_t ClusterCore::writes(const std::string& name) const {
    const std::scoped_lock lock(mutex_);
    const auto entry = written_.find(name);
    return entry != written_.end() ? entry->second.writes : 0;
}

Result<> ClusterCore::refresh_written(const RemoteCollection& collection, const CallLimits& limits,
                                      std::uint64_t writes) {
    const std::string& name = collection.meta.collection;
    std::unique_lock lock(mutex_);
    const auto entry = written_.find(name);
    if (entry == written_.end()) return {};
    const std::uint64_t wanted = std::min(writes, entry->second.writes);
    // Looked up again each time: the collection may have been dropped meanwhile.
    const auto open = [&]() -> Written* {
        const auto found = written_.find(name);
        return found != written_.end() && found->second.refreshed < wanted ? &found->second
                                                                           : nullptr;
    };
    for (Written* written = open(); written != nullptr; written = open()) {
        if (written->refreshing) {
            const auto end = limits.deadline.value_or(Clock::time_point::max());
            const auto changed = [&] {
                const Written* const now = open();
                return now == nullptr || !now->refreshing;
            };
            if (limits.deadline) {
                refreshed_.wait_until(lock, limits.stop, end, changed);
            } else {
                refreshed_.wait(lock, limits.stop, changed);
            }
            BRAID_CHECK(core::check_limits(limits));
            continue;
        }
        written->refreshing = true;
        const std::uint64_t covers = written->writes;
        lock.unlock();
        auto done = refresh(collection, limits);
        lock.lock();
        if (const auto found = written_.find(name); found != written_.end()) {
            found->second.refreshing = false;
            if (done) found->second.refreshed = std::max(found->second.refreshed, covers);
        }
        refreshed_.notify_all();
        if (!done) return done;
    }
    return {};
}

Timestamp ClusterCore::now() const noexcept {
    const std::int64_t clock = core::system_now().micros;
    std::int64_t last = last_now_;
    while (last < clock && !last_now_.compare_exchange_weak(last, clock)) {
    }
    return {std::max(last, clock)};
}

bool ClusterCore::may_forget(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    const auto now = Clock::now();
    const auto [last, first_time] = past_forgotten_.emplace(name, now);
    if (!first_time && now - last->second < kForgetEvery) return false;
    last->second = now;
    return true;
}

Result<std::shared_ptr<const rank::Model>> ClusterCore::ranker(const RemoteCollection& collection,
                                                               const CallLimits& limits) {
    BRAID_TRY(const Kept now, read_kept(*this, collection, kRankerName, false, limits));
    {
        const std::scoped_lock lock(mutex_);
        const auto known = rankers_.find(collection.meta.made);
        if (known != rankers_.end() && known->second.read_as == now.dependency) {
            return known->second.model;
        }
    }
    KnownRanker read{now.dependency, nullptr};
    if (!now.dependency.absent) {
        BRAID_TRY(const Kept kept, read_kept(*this, collection, kRankerName, true, limits));
        read.read_as = kept.dependency;
        if (!kept.text.empty()) {
            BRAID_TRY(rank::Model model, rank::read_model(kept.text));
            read.model = std::make_shared<const rank::Model>(std::move(model));
        }
    }
    const std::scoped_lock lock(mutex_);
    return (rankers_[collection.meta.made] = std::move(read)).model;
}

std::vector<Result<Value>> ClusterCore::search(std::vector<SearchItem> items,
                                               const CallLimits& limits) const {
    std::vector<Result<Value>> results(items.size(), Value());
    std::vector<std::size_t> open(items.size());
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
    const std::string doing = "search of the cluster";
    for (std::size_t attempt = 1; !open.empty(); ++attempt) {
        const auto fail_all = [&](const Error& error) {
            for (const std::size_t i : open) results[i] = tl::unexpected<Error>(error);
            return results;
        };
        if (auto checked = core::check_limits(limits); !checked) return fail_all(checked.error());
        std::string lines;
        for (const std::size_t i : open) append_item(lines, items[i]);
        auto answer = client_->send_lines("/_msearch", std::move(lines), limits);
        if (!answer) return fail_all(answer.error());
        if (answer->status >= 300) return fail_all(error_of(answer->status, answer->body, doing));
        Value* const responses =
            answer->body.is_object() ? answer->body.as_object().find("responses") : nullptr;
        if (responses == nullptr || !responses->is_array() ||
            responses->as_array().size() != open.size()) {
            return fail_all(
                {ErrorCode::Unavailable, doing + ": it did not answer each search once"});
        }
        std::vector<std::size_t> again;
        for (std::size_t n = 0; n < open.size(); ++n) {
            results[open[n]] = require_whole(std::move(responses->as_array()[n]), doing);
            const auto& result = results[open[n]];
            if (!result && passes(result.error())) again.push_back(open[n]);
        }
        open = std::move(again);
        const std::size_t most = limits.interactive ? 2 : client_->retries().max_attempts;
        if (open.empty() || attempt >= most) break;
        // With little time left, the reason for the failure says more than that time ran out.
        if (!net::pause(client_->retries(), attempt, limits)) break;
    }
    return results;
}

Result<Value> ClusterCore::search_one(SearchItem item, const CallLimits& limits) const {
    std::vector<SearchItem> items;
    items.push_back(std::move(item));
    return std::move(search(std::move(items), limits).front());
}

Result<std::vector<StoredChunk>> ClusterCore::read(const RemoteCollection& collection,
                                                   const std::string& namespace_,
                                                   std::span<const std::string> ids,
                                                   bool with_vectors, Timestamp now,
                                                   const CallLimits& limits) const {
    std::vector<StoredChunk> found(ids.size());
    for (std::size_t first = 0; first < ids.size(); first += kIdsPerRead) {
        const auto part = ids.subspan(first, std::min(kIdsPerRead, ids.size() - first));
        Array keys;
        for (const std::string& id : part) keys.emplace_back(document_key(namespace_, id));
        std::string body = json::print(Object{{"ids", std::move(keys)}});
        const std::string path =
            collection.path + "/_mget" + (with_vectors ? "" : "?_source_excludes=floats");
        auto answer = client_->ask("POST", path, std::move(body), limits);
        if (!answer) {
            if (answer.error().code == ErrorCode::NotFound) {
                return core::no_collection(collection.meta.collection);
            }
            return tl::unexpected<Error>(std::move(answer).error());
        }
        const Value* const docs = answer->find("docs");
        if (docs == nullptr || !docs->is_array() || docs->as_array().size() != part.size()) {
            return fail(ErrorCode::Unavailable, "the cluster did not answer for every chunk");
        }
        for (std::size_t i = 0; i < part.size(); ++i) {
            const Value& doc = docs->as_array()[i];
            if (const Value* const error = doc.find("error"); error != nullptr) {
                const Error why = error_of(503, *error, "reading a chunk");
                if (why.message.find("index_not_found") != std::string::npos) {
                    return core::no_collection(collection.meta.collection);
                }
                return tl::unexpected<Error>(why);
            }
            BRAID_TRY(found[first + i], read_stored(doc, now));
        }
    }
    return found;
}

}  // namespace braid::remote
