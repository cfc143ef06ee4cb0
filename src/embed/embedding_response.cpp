#include "braid/embed/embedding_response.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "braid/core/base64.hpp"
#include "braid/json/json.hpp"
#include "braid/value.hpp"

namespace braid::embed {
namespace {

tl::unexpected<Error> broken(std::string what) {
    return fail(ErrorCode::Corruption, "the endpoint's answer: " + std::move(what));
}

Result<std::vector<float>> floats_from(const Value& embedding) {
    if (embedding.is_string()) {
        auto decoded = core::floats_from_base64(embedding.as_string());
        if (!decoded) return broken("an embedding is not base64 of 4-byte floats");
        return *std::move(decoded);
    }
    if (!embedding.is_array()) return broken("an item has no embedding");
    std::vector<float> floats;
    floats.reserve(embedding.as_array().size());
    for (const Value& number : embedding.as_array()) {
        if (!number.is_number()) return broken("an embedding holds something other than numbers");
        floats.push_back(static_cast<float>(number.as_double()));
    }
    return floats;
}

Result<> check_vector(const std::vector<float>& vector, std::size_t dimension) {
    if (vector.size() != dimension || vector.empty()) {
        return broken("an embedding has " + std::to_string(vector.size()) +
                      " dimensions, expected " + std::to_string(dimension));
    }
    for (const float x : vector) {
        if (!std::isfinite(x)) return broken("an embedding holds a number that is not finite");
    }
    return {};
}

}  // namespace

Result<std::vector<std::vector<float>>> parse_embedding_response(std::string_view body,
                                                                 std::size_t count,
                                                                 std::size_t dimension) {
    const auto parsed = json::parse(body, {.max_bytes = body.size()});
    if (!parsed) return broken("not JSON: " + parsed.error().message);
    const Value* const data = parsed->find("data");
    if (data == nullptr || !data->is_array()) return broken("it has no list 'data'");
    if (data->as_array().size() != count) {
        return broken("it holds " + std::to_string(data->as_array().size()) + " embeddings for " +
                      std::to_string(count) + " texts");
    }
    std::vector<std::vector<float>> vectors(count);
    for (const Value& item : data->as_array()) {
        const Value* const index = item.find("index");
        const Value* const embedding = item.find("embedding");
        if (index == nullptr || !index->is_int() || index->as_int() < 0 ||
            static_cast<std::uint64_t>(index->as_int()) >= count) {
            return broken("an item's index is missing or not below " + std::to_string(count));
        }
        std::vector<float>& vector = vectors[static_cast<std::size_t>(index->as_int())];
        if (!vector.empty()) {
            return broken("index " + std::to_string(index->as_int()) + " appears twice");
        }
        if (embedding == nullptr) return broken("an item has no embedding");
        BRAID_TRY(vector, floats_from(*embedding));
        if (dimension == 0) dimension = vector.size();
        BRAID_CHECK(check_vector(vector, dimension));
    }
    return vectors;
}

}  // namespace braid::embed
