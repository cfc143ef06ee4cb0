#include "braid/remote/bulk.hpp"

#include <algorithm>
#include <utility>

#include "braid/json/json.hpp"

namespace braid::remote {
namespace {

constexpr std::size_t kRequestBytes = std::size_t{5} << 20U;
constexpr std::size_t kRequestOperations = 1'000;

BulkOutcome failed(Error error) {
    return {BulkOutcome::Kind::Failed, std::move(error)};
}

/// One request. Leaves in `open` the operations that should be tried again.
void run_request(const ClusterCore& core, const RemoteCollection& collection,
                 std::span<const BulkOperation> operations, std::vector<std::size_t>& open,
                 std::vector<BulkOutcome>& outcomes, bool last, const CallLimits& limits) {
    std::string lines;
    for (const std::size_t i : open) lines += operations[i].lines;
    const auto fail_all = [&](const Error& error) {
        for (const std::size_t i : open) outcomes[i] = failed(error);
        open.clear();
    };
    auto answer = core.client().send_lines(
        collection.write_path + "/_bulk?timeout=5s&require_alias=true", std::move(lines), limits);
    if (!answer) return fail_all(answer.error());
    if (answer->status >= 300) {
        return fail_all(error_of(answer->status, answer->body, "writing to the cluster"));
    }
    const Value* const items = answer->body.find("items");
    if (items == nullptr || !items->is_array() || items->as_array().size() != open.size()) {
        return fail_all({ErrorCode::Unavailable,
                         "the cluster did not say what became of each chunk of a batch"});
    }
    std::vector<std::size_t> again;
    for (std::size_t n = 0; n < open.size(); ++n) {
        auto outcome = outcome_of(items->as_array()[n], last);
        if (outcome) {
            outcomes[open[n]] = *std::move(outcome);
        } else {
            again.push_back(open[n]);
        }
    }
    open = std::move(again);
}

/// The conflict may be with this same operation, sent earlier by a request whose answer was lost.
void recognise_own(ClusterCore& core, const RemoteCollection& collection,
                   const std::string& namespace_, std::span<const BulkOperation> operations,
                   std::vector<BulkOutcome>& outcomes, const CallLimits& limits) {
    std::vector<std::size_t> places;
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].kind != BulkOutcome::Kind::Conflict) continue;
        places.push_back(i);
        ids.push_back(operations[i].chunk_id);
    }
    if (ids.empty()) return;
    const auto stored = core.read(collection, namespace_, ids, false, core.now(), limits);
    if (!stored) return;
    for (std::size_t n = 0; n < places.size(); ++n) {
        const BulkOperation& operation = operations[places[n]];
        const StoredChunk& found = (*stored)[n];
        const bool removes = operation.kind == BulkOperation::Kind::Remove;
        // Whoever removed it, it is gone.
        if (removes ? !found.chunk : found.version == operation.version) {
            outcomes[places[n]] = {BulkOutcome::Kind::Done};
        }
    }
}

}  // namespace

std::string bulk_action(const std::string& key, const Dependency& depends) {
    Object target{{"_id", Value(key)}};
    if (!depends.absent) {
        target.set("if_seq_no", depends.sequence);
        target.set("if_primary_term", depends.term);
    }
    return json::print(Object{{depends.absent ? "create" : "index", std::move(target)}}) + "\n";
}

BulkOperation index_operation(const std::string& namespace_, const Chunk& chunk,
                              const DocumentForm& form, const StoredChunk& over) {
    BulkOperation operation{chunk.chunk_id, chunk.version,
                            over.chunk ? BulkOperation::Kind::Replace : BulkOperation::Kind::Create,
                            bulk_action(document_key(namespace_, chunk.chunk_id), over.dependency)};
    append_document(operation.lines, namespace_, chunk, form);
    return operation;
}

BulkOperation remove_operation(const std::string& namespace_, const std::string& chunk_id,
                               Version version, const Dependency& depends) {
    BulkOperation operation{chunk_id, version, BulkOperation::Kind::Remove,
                            bulk_action(document_key(namespace_, chunk_id), depends)};
    append_removal(operation.lines, version);
    return operation;
}

std::optional<BulkOutcome> outcome_of(const Value& item, bool last) {
    if (!item.is_object() || item.as_object().size() != 1) {
        return failed({ErrorCode::Unavailable, "the cluster's answer to a write cannot be read"});
    }
    const Value& what = item.as_object().begin()->second;
    const Value* const status = what.find("status");
    const int code = status != nullptr && status->is_int() ? static_cast<int>(status->as_int()) : 0;
    const Value* const result = what.find("result");
    const std::string word = result != nullptr && result->is_string() ? result->as_string() : "";
    if (word == "created" || word == "updated" || word == "noop") {
        return BulkOutcome{BulkOutcome::Kind::Done};
    }
    if (code == 409) return BulkOutcome{BulkOutcome::Kind::Conflict};
    if (code == 404) {
        return failed({ErrorCode::NotFound, "the collection was dropped meanwhile"});
    }
    if (net::may_pass(code) && !last) return std::nullopt;
    const Value* const error = what.find("error");
    return failed(error_of(code, error != nullptr ? *error : what, "writing to the cluster"));
}

std::vector<BulkOutcome> run_bulk(ClusterCore& core, const RemoteCollection& collection,
                                  const std::string& namespace_,
                                  std::span<const BulkOperation> operations,
                                  const CallLimits& limits) {
    std::vector<BulkOutcome> outcomes(operations.size());
    if (operations.empty()) return outcomes;
    const auto& policy = core.client().retries();
    for (std::size_t first = 0; first < operations.size();) {
        std::vector<std::size_t> open;
        std::size_t bytes = 0;
        while (first < operations.size() && open.size() < kRequestOperations &&
               (open.empty() || bytes + operations[first].lines.size() <= kRequestBytes)) {
            bytes += operations[first].lines.size();
            open.push_back(first++);
        }
        for (std::size_t attempt = 1; !open.empty(); ++attempt) {
            const bool last = attempt >= policy.max_attempts;
            run_request(core, collection, operations, open, outcomes, last, limits);
            if (open.empty()) break;
            if (auto paused = net::pause(policy, attempt, limits); !paused) {
                for (const std::size_t i : open) outcomes[i] = failed(paused.error());
                break;
            }
        }
    }
    core.wrote(collection.meta.collection);
    recognise_own(core, collection, namespace_, operations, outcomes, limits);
    return outcomes;
}

}  // namespace braid::remote
