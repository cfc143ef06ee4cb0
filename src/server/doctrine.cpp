#include "braid/json/fields.hpp"
#include "braid/server/operations.hpp"
#include "braid/wire/answer_json.hpp"

namespace braid::server {

Result<Value> Operations::find_relevant_doctrine(const Object& params, const Caller& caller) const {
    json::Fields fields(params);
    BRAID_TRY(auto mission, fields.required("mission_text", fields.string("mission_text")));
    Object json{{"query", std::move(mission)}, {"profile", "doctrine"}};
    for (const std::string_view key : {"mos_codes", "collection"}) {
        if (const Value* const given = fields.any(key)) json.set(key, *given);
    }
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const Request request, read_request(std::move(json), caller));
    BRAID_TRY(const Answer answer, search(request, caller));
    return wire::answer_to_value(answer);
}

}  // namespace braid::server
