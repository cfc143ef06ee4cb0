#include "braid/wire/bm25_json.hpp"

#include <limits>
#include <string>
#include <utility>

namespace braid::wire {

Result<std::optional<Bm25Choice>> read_bm25_choice(json::Fields& fields, std::string_view key) {
    constexpr double most = std::numeric_limits<double>::max();
    BRAID_TRY(auto members, fields.fields(key));
    if (!members) return std::nullopt;
    Bm25Choice choice;
    BRAID_TRY(choice.k1, members->number("k1", 0, most));
    BRAID_TRY(choice.b, members->number("b", 0, 1));
    BRAID_TRY(auto weights, members->fields("text_fields"));
    for (const auto& [name, value] : weights ? weights->whole() : Object()) {
        BRAID_TRY(const auto weight, weights->number(name));
        if (!weight || *weight <= 0) {
            return invalid_argument(weights->complaint(name, "a number above 0"));
        }
        choice.text_fields.push_back({name, *weight});
    }
    BRAID_CHECK(members->finish());
    return choice;
}

Value bm25_choice_to_value(const Bm25Choice& choice) {
    Object out;
    if (choice.k1) out.set("k1", *choice.k1);
    if (choice.b) out.set("b", *choice.b);
    if (!choice.text_fields.empty()) {
        Object weights;
        for (const TextField& field : choice.text_fields) weights.set(field.name, field.weight);
        out.set("text_fields", std::move(weights));
    }
    return out;
}

}  // namespace braid::wire
