#include "braid/service/service.hpp"

#include <utility>

#include "braid/backend.hpp"
#include "braid/service/operation_json.hpp"

namespace braid::service {

template <class Operation>
Result<typename Operation::Output> Service::run(Operation operation) const {
    if (const auto here = in_process()) {
        return here->operations.run(std::move(operation), here->caller);
    }
    BRAID_TRY(const Value output, ask(Operation::kName, operation_to_params(operation)));
    return output_from_value<Operation>(output);
}

template Result<ContextRequest::Output> Service::run(ContextRequest) const;
template Result<ExplainRequest::Output> Service::run(ExplainRequest) const;
template Result<WhyNotRequest::Output> Service::run(WhyNotRequest) const;
template Result<AddRequest::Output> Service::run(AddRequest) const;
template Result<UpdateRequest::Output> Service::run(UpdateRequest) const;
template Result<RemoveRequest::Output> Service::run(RemoveRequest) const;
template Result<GetRequest::Output> Service::run(GetRequest) const;
template Result<ScanRequest::Output> Service::run(ScanRequest) const;
template Result<FacetsRequest::Output> Service::run(FacetsRequest) const;
template Result<CountRequest::Output> Service::run(CountRequest) const;
template Result<CollectionsRequest::Output> Service::run(CollectionsRequest) const;
template Result<DescribeRequest::Output> Service::run(DescribeRequest) const;
template Result<CreateCollectionRequest::Output> Service::run(CreateCollectionRequest) const;
template Result<FinishCollectionRequest::Output> Service::run(FinishCollectionRequest) const;
template Result<DropCollectionRequest::Output> Service::run(DropCollectionRequest) const;
template Result<StatsRequest::Output> Service::run(StatsRequest) const;
template Result<RankerRequest::Output> Service::run(RankerRequest) const;
template Result<SetRankerRequest::Output> Service::run(SetRankerRequest) const;
template Result<CompactRequest::Output> Service::run(CompactRequest) const;
template Result<ReembedRequest::Output> Service::run(ReembedRequest) const;
template Result<CheckRequest::Output> Service::run(CheckRequest) const;

Result<Value> Service::ask(std::string_view operation, Object /*params*/) const {
    return fail(ErrorCode::Unsupported, "unknown operation " + std::string(operation));
}

Result<Answer> Service::retrieve(const Request& request) const {
    auto answers = retrieve_batch(std::span(&request, 1));
    return std::move(answers.front());
}

Result<Schema> Service::schema(const std::string& collection) const {
    if (const Database* const local = database()) {
        const auto snapshot = local->backend().snapshot(std::span(&collection, 1), {});
        if (snapshot) return (*snapshot)->schema(collection);
    }
    BRAID_TRY(CollectionInfo info, run(DescribeRequest{{collection}}));
    return std::move(info.schema);
}

}  // namespace braid::service
