#include "braid/wire/stage_json.hpp"

#include <string>
#include <utility>

#include "braid/json/fields.hpp"

namespace braid::wire {
namespace {

constexpr std::size_t kMaxStages = 32;

Result<StageChoice> read_stage(const Value& json, const std::string& path) {
    if (json.is_string() && !json.as_string().empty()) return StageChoice{json.as_string(), {}};
    if (!json.is_object() || json.as_object().size() != 1) {
        return invalid_argument("\"" + path + "\" must be {\"name\": parameters}, got " +
                                json::shown(json));
    }
    const auto& [name, parameters] = *json.as_object().begin();
    if (name.empty()) return invalid_argument("\"" + path + "\" has a stage without a name");
    if (parameters.is_null()) return StageChoice{name, {}};
    if (!parameters.is_object()) {
        return invalid_argument("\"" + path + "." + name +
                                "\" must be an object of parameters, got " +
                                json::shown(parameters));
    }
    return StageChoice{name, parameters.as_object()};
}

}  // namespace

Result<std::optional<std::vector<StageChoice>>> read_stages(json::Fields& fields,
                                                            std::string_view key) {
    BRAID_TRY(const Array* const list, fields.array(key));
    std::optional<std::vector<StageChoice>> stages;
    if (list == nullptr) return stages;
    if (list->size() > kMaxStages) {
        return invalid_argument("\"" + fields.path_of(key) + "\" has " +
                                std::to_string(list->size()) + " stages; at most " +
                                std::to_string(kMaxStages) + " are allowed");
    }
    stages.emplace().reserve(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
        const std::string path = fields.path_of(key) + "[" + std::to_string(i) + "]";
        BRAID_TRY(StageChoice stage, read_stage((*list)[i], path));
        stages->push_back(std::move(stage));
    }
    return stages;
}

Value stages_to_value(const std::vector<StageChoice>& stages) {
    Array list;
    list.reserve(stages.size());
    for (const StageChoice& stage : stages) {
        list.emplace_back(Object{{stage.name, Value(stage.parameters)}});
    }
    return list;
}

}  // namespace braid::wire
