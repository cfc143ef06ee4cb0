#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/embedder.hpp"

namespace braid::embed {

/// A deterministic stand-in for a model: texts that share words get similar vectors of length 1.
/// Words are runs of bytes other than space; ASCII case is ignored. Safe for concurrent use.
class FakeEmbedder final : public Embedder {
public:
    explicit FakeEmbedder(std::size_t dimension = 32, std::string model = "fake")
        : fingerprint_{.model = std::move(model),
                       .model_hash = "fake",
                       .dimension = dimension,
                       .pooling = "mean",
                       .query_prefix = "",
                       .passage_prefix = "",
                       .token_limit = 256,
                       .runtime = "fake 1",
                       .cpu_level = "any"} {}

    const EmbedderFingerprint& fingerprint() const override { return fingerprint_; }

    Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts, TextRole /*role*/,
                                         const CallLimits& limits) const override {
        std::vector<Embedding> embeddings;
        embeddings.reserve(texts.size());
        for (const std::string_view text : texts) {
            if (limits.stopped()) return fail(ErrorCode::Cancelled, "cancelled");
            if (limits.expired()) return fail(ErrorCode::DeadlineExceeded, "no time left");
            const std::size_t tokens = count_tokens(text);
            embeddings.push_back({.vector = vector_of(text),
                                  .tokens = tokens,
                                  .truncated = tokens > fingerprint_.token_limit});
        }
        return embeddings;
    }

    std::size_t count_tokens(std::string_view text) const override { return words(text).size(); }

    std::vector<float> vector_of(std::string_view text) const {
        std::vector<double> sum(fingerprint_.dimension);
        sum[0] = 1e-3;  // so that a text without words has a direction too
        for (const std::string_view word : words(text)) {
            std::uint64_t state = hash_of(word);
            for (double& x : sum) {
                // splitmix64: one well-mixed number per dimension
                std::uint64_t z = (state += 0x9E3779B97F4A7C15U);
                z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
                z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
                x += static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1.0p-52 - 1.0;
            }
        }
        double squares = 0;
        for (const double x : sum) squares += x * x;
        std::vector<float> vector;
        vector.reserve(sum.size());
        for (const double x : sum) vector.push_back(static_cast<float>(x / std::sqrt(squares)));
        return vector;
    }

private:
    static std::vector<std::string_view> words(std::string_view text) {
        std::vector<std::string_view> found;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t first = text.find_first_not_of(" \t\r\n", at);
            if (first == std::string_view::npos) break;
            const std::size_t end = std::min(text.find_first_of(" \t\r\n", first), text.size());
            found.push_back(text.substr(first, end - first));
            at = end;
        }
        return found;
    }

    static std::uint64_t hash_of(std::string_view word) {
        std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
        for (const char c : word) {
            const auto byte = static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
            hash = (hash ^ byte) * 0x100000001B3U;
        }
        return hash;
    }

    EmbedderFingerprint fingerprint_;
};

}  // namespace braid::embed
