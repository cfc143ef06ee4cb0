#include "braid/apps/operations.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "braid/apps/artifacts/hybrid_search.hpp"
#include "braid/apps/decisions/decisions.hpp"
#include "braid/apps/doctrine/doctrine.hpp"

namespace braid::apps {
namespace {

using service::Caller;
using service::Operations;

Result<Value> query_decisions(const Operations& operations, const Object& params,
                              const Caller& caller) {
    return Decisions(operations).query(params, caller);
}

Result<Value> index_decisions(const Operations& operations, const Object& params,
                              const Caller& caller) {
    return Decisions(operations).index(params, caller);
}

constexpr auto kMethods = std::to_array<service::NamedOperation>({
    {"cstp.queryDecisions", query_decisions},
    {"cstp.indexDecisions", index_decisions, true},
});

}  // namespace

std::span<const service::NamedOperation> operations() {
    static const auto kAll = [] {
        const auto own = service::named_operations();
        std::vector<service::NamedOperation> all(own.begin(), own.end());
        all.push_back({"hybrid_search", run_hybrid_search});
        all.push_back({"find_relevant_doctrine", find_relevant_doctrine});
        return all;
    }();
    return kAll;
}

std::span<const service::NamedOperation> methods() noexcept {
    return kMethods;
}

const service::NamedOperation* find_operation(std::string_view name) noexcept {
    const auto all = operations();
    const auto found = std::ranges::find(all, name, &service::NamedOperation::name);
    return found != all.end() ? &*found : nullptr;
}

}  // namespace braid::apps
