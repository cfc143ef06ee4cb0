#include "braid/apps/doctrine/doctrine.hpp"

#include <string_view>
#include <utility>

#include "braid/applications.hpp"
#include "braid/json/fields.hpp"
#include "braid/service/operation_json.hpp"
#include "braid/wire/answer_json.hpp"

namespace braid::apps {

Result<Value> find_relevant_doctrine(const service::Operations& operations, const Object& params,
                                     const service::Caller& caller) {
    json::Fields fields(params);
    BRAID_TRY(auto mission, fields.required("mission_text", fields.string("mission_text")));
    Object json{{"query", std::move(mission)}, {"profile", "doctrine"}};
    for (const std::string_view key : {"mos_codes", "collection", "deadline_ms"}) {
        if (const Value* const given = fields.any(key)) json.set(key, *given);
    }
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const Answer answer, service::retrieve_json(operations, json, caller));
    return wire::answer_to_value(answer, operations.database().vocabulary());
}

}  // namespace braid::apps

namespace braid {

Result<Answer> find_relevant_doctrine(const Database& database, const std::string& mission,
                                      const std::vector<std::string>& mos_codes,
                                      const std::string& collection, const Principal& principal,
                                      const CallLimits& limits) {
    Request request;
    request.query = mission;
    request.profile = "doctrine";
    request.collections = {collection};
    if (!mos_codes.empty()) {
        Array codes(mos_codes.begin(), mos_codes.end());
        request.filter = Filter::compare(Filter::Op::In, "mos_code", Value(std::move(codes)));
    }
    return database.retrieve(request, principal, limits);
}

}  // namespace braid
