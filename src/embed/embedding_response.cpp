#include "braid/embed/embedding_response.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "braid/json/json.hpp"
#include "braid/value.hpp"

namespace braid::embed {
namespace {

tl::unexpected<Error> broken(std::string what) {
    return fail(ErrorCode::Corruption, "the endpoint's answer: " + std::move(what));
}

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> kBase64 = [] {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
        values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
    }
    return values;
}();

/// Strict RFC 4648 with or without padding; nullopt if it is not that.
std::optional<std::vector<std::uint8_t>> decode_base64(std::string_view text) {
    if (text.ends_with("==")) {
        text.remove_suffix(2);
        if (text.size() % 4 != 2) return std::nullopt;
    } else if (text.ends_with('=')) {
        text.remove_suffix(1);
        if (text.size() % 4 != 3) return std::nullopt;
    }
    if (text.size() % 4 == 1) return std::nullopt;
    std::vector<std::uint8_t> bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char c : text) {
        const std::int8_t value = kBase64[static_cast<unsigned char>(c)];
        if (value < 0) return std::nullopt;
        bits = (bits << 6U) | static_cast<std::uint32_t>(value);
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes.push_back(static_cast<std::uint8_t>(bits >> held));
        }
    }
    return bytes;
}

Result<std::vector<float>> floats_from_base64(std::string_view text) {
    const auto bytes = decode_base64(text);
    if (!bytes || bytes->size() % sizeof(float) != 0) {
        return broken("an embedding is not base64 of 4-byte floats");
    }
    std::vector<float> floats;
    floats.reserve(bytes->size() / sizeof(float));
    for (std::size_t at = 0; at < bytes->size(); at += sizeof(float)) {
        std::uint32_t bits = 0;
        for (std::size_t b = 0; b < sizeof(float); ++b) {
            bits |= static_cast<std::uint32_t>((*bytes)[at + b]) << (8 * b);
        }
        floats.push_back(std::bit_cast<float>(bits));
    }
    return floats;
}

Result<std::vector<float>> floats_from(const Value& embedding) {
    if (embedding.is_string()) return floats_from_base64(embedding.as_string());
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
