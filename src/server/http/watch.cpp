#include "braid/server/http/watch.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "braid/core/clock.hpp"
#include "braid/core/timings.hpp"
#include "braid/service/parameters.hpp"

namespace braid::server {
namespace {

/// Three decimals are enough for a log.
double rounded(double ms) {
    return static_cast<double>(static_cast<std::int64_t>(ms * 1000)) / 1000;
}

double ms_of(std::chrono::nanoseconds took) {
    return rounded(std::chrono::duration<double, std::milli>(took).count());
}

void put(Object& facts, std::string_view name, std::string_view value) {
    if (!value.empty()) facts.set(name, value);
}

}  // namespace

void Watch::add(const Timings& timings) {
    ++searches_;
    core::add(timings_, timings);
}

void Watch::answered(const Answer& answer) {
    metrics_.answered(answer);
    if (!options_.log && !options_.audit) return;
    add(answer.timings);
    dense_ += answer.dense_candidates;
    sparse_ += answer.sparse_candidates;
    before_ += answer.total_candidates;
    returned_ += answer.hits.size();
    complete_ = complete_ && answer.complete;
    if (options_.texts) queries_.push_back(answer.query);
    for (const SourceReport& source : answer.sources) {
        if (std::ranges::find(collections_, source.collection) == collections_.end()) {
            collections_.push_back(source.collection);
        }
    }
    if (!options_.audit) return;
    for (const Hit& hit : answer.hits) shown_[hit.collection].push_back(hit.chunk.chunk_id);
}

void Watch::packed(const Context& context) {
    metrics_.packed(context);
    if (!options_.log && !options_.audit) return;
    add(context.timings);
    complete_ = complete_ && context.complete;
    if (options_.texts) queries_.push_back(context.query);
    for (const ContextPassage& passage : context.passages) {
        returned_ += passage.chunk_ids.size();
        showed(passage.collection, passage.chunk_ids);
    }
}

void Watch::showed(std::string_view collection, std::span<const std::string> chunk_ids) {
    if (!options_.audit || chunk_ids.empty()) return;
    auto& ids = shown_[std::string(collection)];
    ids.insert(ids.end(), chunk_ids.begin(), chunk_ids.end());
}

void Watch::changed(std::string_view collection, std::uint64_t chunks) {
    if (options_.audit) changed_[std::string(collection)] += chunks;
}

void Watch::failed(const Error& error) {
    if (error_.empty() && error_facts(error.code).http_status >= 500) error_ = error.message;
}

void Watch::finish(const Served& served) const {
    metrics_.request(served.route, served.status, served.took);
    if (options_.log) write_log(served);
    if (options_.audit) write_audit(served);
}

void Watch::write_log(const Served& served) const {
    Object facts;
    facts.reserve(28);
    put(facts, "request_id", served.request_id);
    put(facts, "trace_id", served.trace_id);
    put(facts, "peer", served.peer);
    put(facts, "key", served.key);
    put(facts, "method", served.method);
    put(facts, "route", served.route);
    if (options_.texts) put(facts, "target", served.target);
    facts.set("status", served.status);
    facts.set("duration_ms", ms_of(served.took));
    facts.set("request_bytes", served.request_bytes);
    facts.set("response_bytes", served.response_bytes);
    put(facts, "error", error_);
    if (searches_ > 0) {
        facts.set("searches", searches_);
        facts.set("collections_searched", service::strings_to_array(collections_));
        facts.set("dense_candidates", dense_);
        facts.set("sparse_candidates", sparse_);
        facts.set("results_before_merge", before_);
        facts.set("results_returned", returned_);
        facts.set("complete", complete_);
        for (const auto& [name, part] :
             {std::pair("preprocess_ms", &Timings::preprocess_ms),
              std::pair("load_ms", &Timings::load_ms), std::pair("embed_ms", &Timings::embed_ms),
              std::pair("dense_ms", &Timings::dense_ms),
              std::pair("sparse_ms", &Timings::sparse_ms),
              std::pair("fusion_ms", &Timings::fusion_ms),
              std::pair("hydrate_ms", &Timings::hydrate_ms),
              std::pair("total_ms", &Timings::total_ms)}) {
            facts.set(name, rounded(timings_.*part));
        }
        if (options_.texts) facts.set("queries", service::strings_to_array(queries_));
    }
    const auto level = served.status >= 500 ? LogEvent::Level::Error : LogEvent::Level::Info;
    const bool slow = options_.slow_query.count() > 0 && served.took > options_.slow_query;
    options_.log(service::log_line(options_.format, {level, "request", facts}, core::system_now()));
    if (!slow || searches_ == 0) return;
    options_.log(service::log_line(options_.format,
                                   {LogEvent::Level::Warning, "slow_query", std::move(facts)},
                                   core::system_now()));
}

void Watch::write_audit(const Served& served) const {
    if (shown_.empty() && changed_.empty()) return;
    Object facts;
    put(facts, "request_id", served.request_id);
    put(facts, "trace_id", served.trace_id);
    put(facts, "peer", served.peer);
    put(facts, "key", served.key);
    put(facts, "route", served.route);
    facts.set("status", served.status);
    Object shown;
    for (const auto& [collection, ids] : shown_)
        shown.set(collection, service::strings_to_array(ids));
    if (!shown_.empty()) facts.set("chunks", std::move(shown));
    Object changed;
    for (const auto& [collection, chunks] : changed_) changed.set(collection, chunks);
    if (!changed_.empty()) facts.set("changed", std::move(changed));
    options_.audit(service::log_line(service::LogFormat::Json,
                                     {LogEvent::Level::Info, "audit", std::move(facts)},
                                     core::system_now()));
}

}  // namespace braid::server
