#include "braid/service/operation_json.hpp"

#include <algorithm>
#include <array>

#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"
#include "braid/service/bounds.hpp"
#include "braid/wire/answer_json.hpp"
#include "braid/wire/error_json.hpp"
#include "braid/wire/request_json.hpp"

namespace braid::service {
namespace {

Result<Value> retrieve(const Operations& operations, const Object& params, const Caller& caller) {
    BRAID_TRY(const Answer answer, retrieve_json(operations, params, caller));
    return wire::answer_to_value(answer, operations.database().vocabulary());
}

Result<Value> retrieve_batch(const Operations& operations, const Object& params,
                             const Caller& caller) {
    BRAID_TRY(const auto found, retrieve_batch_json(operations, params, caller));
    Array answers;
    answers.reserve(found.size());
    for (const Result<Answer>& answer : found) {
        answers.push_back(answer
                              ? wire::answer_to_value(*answer, operations.database().vocabulary())
                              : wire::error_to_value(caller.told(answer.error())));
    }
    return Value(Object{{"answers", std::move(answers)}});
}

template <class Operation>
constexpr NamedOperation named(bool writes = false) {
    return {Operation::kName, run_json<Operation>, writes};
}

constexpr auto kOperations = std::to_array<NamedOperation>({
    {"retrieve", retrieve, false, print_retrieve},
    {"retrieve_batch", retrieve_batch, false, print_retrieve_batch},
    named<ContextRequest>(),
    named<ExplainRequest>(),
    named<WhyNotRequest>(),
    named<EvaluateRequest>(),
    named<AddRequest>(true),
    named<UpdateRequest>(true),
    named<RemoveRequest>(true),
    named<GetRequest>(),
    named<ScanRequest>(),
    named<DocumentRequest>(),
    named<NeighborsRequest>(),
    named<FacetsRequest>(),
    named<CountRequest>(),
    named<HighlightRequest>(),
    named<WhoamiRequest>(),
    named<CollectionsRequest>(),
    named<DescribeRequest>(),
    named<CreateCollectionRequest>(true),
    named<FinishCollectionRequest>(true),
    named<DropCollectionRequest>(true),
    named<StatsRequest>(),
    named<CompactRequest>(true),
    named<ReembedRequest>(true),
    named<ClickRequest>(true),
    named<RankerRequest>(),
    named<SetRankerRequest>(true),
    named<CheckRequest>(),
});

}  // namespace

std::span<const NamedOperation> named_operations() noexcept {
    return kOperations;
}

Result<Value> run_named(const NamedOperation& named, const Operations& operations,
                        const Object& params, const Caller& caller) {
    auto result = named.run(operations, params, caller);
    if (!result) return tl::unexpected(operations.with_collections(result.error(), caller));
    return result;
}

Result<std::string> print_named(const NamedOperation& named, const Operations& operations,
                                const Object& params, const Caller& caller) {
    if (named.print == nullptr) {
        BRAID_TRY(const Value result, run_named(named, operations, params, caller));
        return json::print(result);
    }
    auto text = named.print(operations, params, caller);
    if (!text) return tl::unexpected(operations.with_collections(text.error(), caller));
    return text;
}

std::size_t requests_in(std::string_view operation, const Object& params) noexcept {
    const std::string_view key = operation == "retrieve_batch" ? "requests"
                                 : operation == "eval"         ? "queries"
                                                               : "";
    const Value* const list = key.empty() ? nullptr : params.find(key);
    return list != nullptr && list->is_array() ? std::max<std::size_t>(list->as_array().size(), 1)
                                               : 1;
}

Result<Answer> retrieve_json(const Operations& operations, const Object& params,
                             const Caller& caller) {
    BRAID_TRY(const Request request,
              wire::request_from_value(params, operations.database().vocabulary()));
    return operations.retrieve(request, caller);
}

Result<std::vector<Result<Answer>>> retrieve_batch_json(const Operations& operations,
                                                        const Object& params,
                                                        const Caller& caller) {
    json::Fields fields(params);
    BRAID_TRY(const Array* const items, fields.array("requests"));
    if (items == nullptr) return invalid_argument("\"requests\" is required");
    BRAID_CHECK(fields.finish());
    BRAID_CHECK(some_members("requests", items->size(), caller.limits.batch, "requests"));
    std::vector<Result<Request>> requests;
    requests.reserve(items->size());
    for (const Value& item : *items) {
        requests.push_back(wire::request_from_value(item, operations.database().vocabulary()));
    }
    return operations.retrieve_batch(std::move(requests), caller);
}

Result<std::string> print_retrieve(const Operations& operations, const Object& params,
                                   const Caller& caller) {
    BRAID_TRY(const Answer answer, retrieve_json(operations, params, caller));
    return wire::print_answer(answer, operations.database().vocabulary());
}

Result<std::string> print_retrieve_batch(const Operations& operations, const Object& params,
                                         const Caller& caller) {
    BRAID_TRY(const auto answers, retrieve_batch_json(operations, params, caller));
    std::string text = R"({"answers":[)";
    for (const Result<Answer>& answer : answers) {
        if (&answer != &answers.front()) text += ',';
        text += answer ? wire::print_answer(*answer, operations.database().vocabulary())
                       : json::print(wire::error_to_value(caller.told(answer.error())));
    }
    return text + "]}";
}

}  // namespace braid::service
