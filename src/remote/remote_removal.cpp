#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "braid/index/write_rules.hpp"
#include "braid/json/json.hpp"
#include "braid/remote/bulk.hpp"
#include "braid/remote/filter_query.hpp"
#include "braid/remote/remote_backend.hpp"
#include "braid/remote/remote_reader.hpp"
#include "braid/remote/write_summary.hpp"

// Removing chunks, by id or by search.
namespace braid::remote {
namespace {

constexpr int kRemovalRounds = 5;  // of searching and removing again after somebody else's changes
constexpr std::size_t kSelectPage = 2'000;
constexpr auto kPastKept = std::chrono::hours(24);  // what was removed or has expired

}  // namespace

Result<std::vector<RemoteBackend::Named>> RemoteBackend::select(const RemoteCollection& collection,
                                                                const ReadScope& scope,
                                                                Array clauses,
                                                                const CallLimits& limits) const {
    BRAID_TRY(Array all,
              scope_clauses(scope, collection.meta.schema, collection.expiry_at(core_->now())));
    all.insert(all.end(), std::make_move_iterator(clauses.begin()),
               std::make_move_iterator(clauses.end()));
    std::vector<Named> found;
    for (std::string last;;) {
        SearchItem item;
        item.index = collection.index;
        item.body = {{"size", Value(kSelectPage)},  {"_source", Array{"id", "version"}},
                     {"seq_no_primary_term", true}, {"track_total_hits", false},
                     {"query", all_of(all)},        {"sort", Array{Object{{"id", "asc"}}}}};
        if (!last.empty()) item.body.set("search_after", Array{Value(last)});
        BRAID_TRY(const Value answer, core_->search_one(std::move(item), limits));
        for (const Value& hit : hits_of(answer)) {
            const Value* const source = hit.find("_source");
            const Value* const id = source != nullptr ? source->find("id") : nullptr;
            const Value* const version = source != nullptr ? source->find("version") : nullptr;
            const Value* const sequence = hit.find("_seq_no");
            const Value* const term = hit.find("_primary_term");
            if (id == nullptr || !id->is_string() || version == nullptr || !version->is_int() ||
                sequence == nullptr || !sequence->is_int() || term == nullptr || !term->is_int()) {
                return fail(ErrorCode::Unavailable,
                            "a hit of the cluster does not say its version");
            }
            found.push_back(
                {id->as_string(),
                 static_cast<Version>(version->as_int()),
                 {.absent = false, .sequence = sequence->as_int(), .term = term->as_int()}});
        }
        if (hits_of(answer).size() < kSelectPage) return found;
        last = found.back().id;
    }
}

Result<std::vector<RemoteBackend::Named>> RemoteBackend::left_out(
    const RemoteCollection& collection, const std::string& namespace_,
    const std::vector<Chunk>& batch, const Principal& principal, const CallLimits& limits) const {
    std::set<std::string> documents;
    std::unordered_set<std::string_view> kept;
    for (const Chunk& chunk : batch) {
        documents.insert(chunk.document_id);
        kept.insert(chunk.chunk_id);
    }
    BRAID_CHECK(core_->refresh_written(collection, limits));
    ReadScope scope{
        .collection = collection.meta.collection, .namespace_ = namespace_, .principal = principal};
    Array names;
    for (const std::string& document : documents) names.emplace_back(document);
    BRAID_TRY(auto found,
              select(collection, scope, {terms_clause("doc", std::move(names))}, limits));
    std::erase_if(found, [&](const Named& one) { return kept.contains(one.id); });
    return found;
}

Result<WriteReport> RemoteBackend::remove_ids(const RemoteCollection& collection,
                                              const ReadScope& scope,
                                              const std::vector<std::string>& ids,
                                              const WriteOptions& options) {
    const Version version = new_version();
    const std::set<std::string> distinct(ids.begin(), ids.end());
    const std::vector<std::string> each(distinct.begin(), distinct.end());
    BRAID_TRY(Stored stored,
              core_->read(collection, scope.namespace_, each, false, core_->now(), options.limits));
    for (StoredChunk& one : stored) {
        if (!one.chunk) continue;
        BRAID_TRY(const bool visible,
                  is_visible(*one.chunk, scope.principal, collection.meta.schema));
        if (!visible) one.chunk.reset();
    }
    std::vector<BulkOperation> operations;
    for (std::size_t i = 0; i < each.size(); ++i) {
        const Version there = stored[i].chunk_version();
        if (options.if_version && there != *options.if_version) {
            return index::wrong_version(each[i], there, *options.if_version);
        }
        if (!stored[i].chunk) continue;
        operations.push_back(
            remove_operation(scope.namespace_, each[i], version, stored[i].dependency));
    }
    if (operations.empty()) return WriteReport{};
    const auto outcomes = run_bulk(*core_, collection, scope.namespace_, operations, {});
    BRAID_TRY(WriteReport report, sum_up(operations, outcomes, version));
    report.written = std::exchange(report.removed, 0);
    return report;
}

Result<WriteReport> RemoteBackend::remove_selected(const RemoteCollection& collection,
                                                   const ReadScope& scope,
                                                   const DeleteSelector& selector,
                                                   const WriteOptions& options) {
    ReadScope within = scope;
    within.filter = selector.filter;
    Array clauses;
    if (!selector.document_ids.empty()) {
        Array names;
        for (const std::string& id : selector.document_ids) names.emplace_back(id);
        clauses.push_back(terms_clause("doc", std::move(names)));
    }
    WriteReport report;
    for (int round = 1;; ++round) {
        BRAID_CHECK(core_->refresh_written(collection, options.limits));
        BRAID_TRY(const auto chosen, select(collection, within, clauses, options.limits));
        if (chosen.empty()) return report;
        if (report.version == 0) report.version = new_version();
        std::vector<BulkOperation> operations;
        for (const Named& one : chosen) {
            if (options.if_version && one.version != *options.if_version) {
                return index::wrong_version(one.id, one.version, *options.if_version);
            }
            operations.push_back(
                remove_operation(scope.namespace_, one.id, report.version, one.dependency));
        }
        const auto outcomes = run_bulk(*core_, collection, scope.namespace_, operations, {});
        const bool raced = std::ranges::any_of(outcomes, [](const BulkOutcome& outcome) {
            return outcome.kind == BulkOutcome::Kind::Conflict;
        });
        if (raced && !options.if_version && round < kRemovalRounds) {
            // What was changed meanwhile is looked at again: it may no longer match.
            report.written += static_cast<std::uint64_t>(
                std::ranges::count(outcomes, BulkOutcome::Kind::Done, &BulkOutcome::kind));
            continue;
        }
        BRAID_TRY(const WriteReport last, sum_up(operations, outcomes, report.version));
        report.written += last.removed;
        return report;
    }
}

Result<WriteReport> RemoteBackend::remove(const ReadScope& scope, const DeleteSelector& selector,
                                          const WriteOptions& options) {
    BRAID_TRY(const RemoteCollectionPtr from, core_->find_now(scope.collection, options.limits));
    BRAID_CHECK(index::check_selector(selector));
    BRAID_CHECK(principal_clauses(scope.principal, from->meta.schema, {}));
    auto report = selector.chunk_ids.empty()
                      ? remove_selected(*from, scope, selector, options)
                      : remove_ids(*from, scope, selector.chunk_ids, options);
    if (report && report->written > 0) forget_past(*from);
    return report;
}

void RemoteBackend::forget_past(const RemoteCollection& collection) {
    if (!core_->may_forget(collection.meta.collection)) return;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto removed_before =
        std::chrono::duration_cast<std::chrono::milliseconds>(now - kPastKept).count();
    const auto expired_before =
        std::chrono::duration_cast<std::chrono::microseconds>(now - kPastKept).count();
    const auto earlier = [](const char* field, std::int64_t time) {
        return Value(Object{{"range", Object{{field, Object{{"lt", time}}}}}});
    };
    CallLimits limits;
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    SearchItem item;
    item.index = collection.index;
    item.body = {{"size", Value(kSelectPage)},
                 {"_source", false},
                 {"seq_no_primary_term", true},
                 {"track_total_hits", false},
                 {"query", any_of({earlier("removed", removed_before),
                                   earlier("expires", expired_before)})}};
    // What is not forgotten now is forgotten later.
    const auto answer = core_->search_one(std::move(item), limits);
    if (!answer) return;
    std::string lines;
    for (const Value& hit : hits_of(*answer)) {
        Object target;
        for (const auto& [from, to] : {std::pair("_id", "_id"), std::pair("_seq_no", "if_seq_no"),
                                       std::pair("_primary_term", "if_primary_term")}) {
            const Value* const value = hit.find(from);
            if (value != nullptr) target.set(to, *value);
        }
        if (target.size() != 3) return;
        lines += json::print(Object{{"delete", std::move(target)}}) + "\n";
    }
    if (lines.empty()) return;
    (void)core_->client().send_lines(collection.write_path + "/_bulk?require_alias=true",
                                     std::move(lines), limits);
}

}  // namespace braid::remote
