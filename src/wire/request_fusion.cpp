#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "braid/wire/bm25_json.hpp"
#include "braid/wire/request_reading.hpp"

namespace braid::wire {

using json::Fields;

namespace {

Result<> read_method(Fields& fields, std::string_view key, FusionChoice& fusion) {
    BRAID_TRY(const auto name, fields.string(key));
    if (!name) return {};
    fusion.method = fusion_by_name(*name);
    if (!fusion.method) {
        return invalid_argument(
            fields.complaint(key, "\"rrf\", \"weighted_sum\", \"dbsf\" or \"auto\""));
    }
    return {};
}

}  // namespace

Result<> read_fusion_method(Reading& in, std::string_view key) {
    return read_method(in.fields, key, in.request.fusion);
}

Result<> read_fusion_key(Reading& in, std::string_view key) {
    const Value* const member = in.fields.any(key);
    if (member == nullptr || member->is_null()) return {};
    FusionChoice& fusion = in.request.fusion;
    if (member->is_string()) return read_method(in.fields, key, fusion);
    if (!member->is_object()) {
        return invalid_argument(
            in.fields.complaint(key, "the name of a method or an object with \"method\""));
    }
    BRAID_TRY(Fields fields, Fields::of(*member, in.fields.path_of(key)));
    BRAID_CHECK(read_method(fields, "method", fusion));
    BRAID_TRY(fusion.k, fields.number("k"));
    BRAID_TRY(const auto base, fields.integer("rank_base", 0, 1));
    if (base) fusion.rank_base = static_cast<int>(*base);
    BRAID_TRY(fusion.fill_scores, fields.boolean("fill_scores"));
    BRAID_TRY(fusion.preset, fields.string("preset"));
    if (fusion.k && *fusion.k + fusion.rank_base.value_or(1) <= 0) {
        return invalid_argument(fields.complaint("k", "large enough that k + rank is above 0"));
    }
    return fields.finish();
}

Result<> read_across(Reading& in, std::string_view key) {
    BRAID_TRY(const auto name, in.fields.string(key));
    if (!name) return {};
    in.request.across = across_by_name(*name);
    if (in.request.across) return {};
    return invalid_argument(in.fields.complaint(key, "\"ranks\" or \"scores\""));
}

Result<> read_dense_weight(Reading& in, std::string_view key) {
    BRAID_TRY(const auto weight, in.fields.number(key, 0, 1));
    if (weight) in.request.dense_weight = weight;  // an absent alias must not undo another
    return {};
}

Result<> read_weights(Reading& in, std::string_view key) {
    BRAID_TRY(auto weights, in.fields.fields(key));
    if (!weights) return {};
    if (weights->whole().empty()) {
        return invalid_argument(
            in.fields.complaint(key, "an object with the weight of at least one source"));
    }
    for (const auto& [source, weight] : weights->whole()) {
        BRAID_TRY(const auto number,
                  weights->number(source, 0, std::numeric_limits<double>::max()));
        if (!number) return invalid_argument(weights->complaint(source, "a number, 0 or more"));
        in.request.weights.emplace_back(source, *number);
    }
    return {};
}

Result<> read_bm25_key(Reading& in, std::string_view key) {
    BRAID_TRY(auto choice, read_bm25_choice(in.fields, key));
    if (choice) in.request.bm25 = *std::move(choice);
    return {};
}

}  // namespace braid::wire
