#include "braid/cli/commands/tune_settings.hpp"

#include <array>
#include <optional>
#include <utility>

#include "braid/core/numbers.hpp"
#include "braid/wire/bm25_json.hpp"

namespace braid::cli {
namespace {

Trial fused(const Request& now, FusionMethod method, std::optional<double> dense_weight) {
    Trial setting{std::string(name_of(method)), now, {{"method", Value(name_of(method))}}};
    setting.request.strategy = Strategy::Hybrid;
    setting.request.fusion = {};
    setting.request.fusion.method = method;
    setting.request.weights.clear();
    setting.request.dense_weight = dense_weight;
    if (dense_weight) {
        setting.name += ", dense " + core::fixed(*dense_weight, 1);
        setting.profile.set("dense_weight", *dense_weight);
    }
    return setting;
}

Trial one_leg(const Request& now, Strategy strategy) {
    Trial setting{
        std::string(name_of(strategy)) + " alone", now, {{"strategy", Value(name_of(strategy))}}};
    setting.request.strategy = strategy;
    setting.request.fusion = {};
    setting.request.weights.clear();
    setting.request.dense_weight.reset();
    return setting;
}

Trial with_k(Trial setting, double k) {
    setting.name += ", k " + core::fixed(k, 0);
    setting.request.fusion.k = k;
    setting.profile.set("k", k);
    return setting;
}

Trial with_depth(Trial setting, std::size_t depth) {
    setting.name += ", depth " + std::to_string(depth);
    setting.request.dense_top_k = depth;
    setting.request.sparse_top_k = depth;
    setting.profile.set("depth", depth);
    return setting;
}

/// Ways to score words: k1 and b from low to high, and a field other than the content counting more
/// or less than the content.
struct Words {
    std::string name;
    Bm25Choice choice;
};

std::vector<Words> ways_to_score(const Schema& schema) {
    constexpr std::array<std::pair<double, double>, 6> kParameters{
        {{0.6, 0.4}, {0.9, 0.4}, {0.9, 0.75}, {1.2, 0.4}, {1.2, 0.9}, {2.0, 0.75}}};
    constexpr std::array kFactors{0.5, 2.0, 4.0};
    std::vector<Words> ways;
    for (const auto& [k1, b] : kParameters) {
        if (schema.bm25.k1 == k1 && schema.bm25.b == b) continue;
        ways.push_back({"k1 " + core::fixed(k1, 1) + ", b " + core::fixed(b, 2),
                        {.k1 = k1, .b = b, .text_fields = {}}});
    }
    if (schema.text_fields.size() < 2) return ways;
    for (const TextField& field : schema.text_fields) {
        if (field.name == "content") continue;
        for (const double factor : kFactors) {
            const double weight = field.weight * factor;
            ways.push_back({field.name + " " + core::fixed(weight, 1),
                            {.k1 = {}, .b = {}, .text_fields = {{field.name, weight}}}});
        }
    }
    return ways;
}

Trial with_words(Trial setting, const Words& words) {
    setting.name += ", " + words.name;
    setting.request.bm25 = words.choice;
    setting.profile.set("bm25", wire::bm25_choice_to_value(words.choice));
    return setting;
}

}  // namespace

std::vector<Trial> settings_to_try(const Request& now, const Schema& schema, bool words_vary) {
    constexpr double steep = 10;  // an rrf that prefers the first ranks
    constexpr std::size_t deep = 200;
    const bool vectors = schema.vectors.has_vectors();
    std::vector<Trial> settings{{"now", now, {}}, one_leg(now, Strategy::Sparse)};
    std::vector<Trial> by_words{settings[kSparseAlone]};  // tried with every way to score
    if (vectors) {
        settings.push_back(one_leg(now, Strategy::Dense));
        settings.push_back(fused(now, FusionMethod::Dbsf, std::nullopt));
        settings.push_back(fused(now, FusionMethod::Auto, std::nullopt));
        by_words.push_back(settings.back());
    }
    for (int tenths = 1; vectors && tenths <= 9; ++tenths) {
        const double weight = tenths / 10.0;
        const Trial rrf = fused(now, FusionMethod::Rrf, weight);
        const Trial sum = fused(now, FusionMethod::WeightedSum, weight);
        const Trial deep_sum = with_depth(sum, deep);
        settings.insert(settings.end(), {rrf, sum, deep_sum});
        if (tenths % 2 == 1) {
            settings.insert(settings.end(), {with_k(rrf, steep), with_depth(rrf, deep)});
        }
        if (tenths > 2) by_words.push_back(deep_sum);
    }
    if (!words_vary) return settings;
    for (const Words& words : ways_to_score(schema)) {
        for (const Trial& setting : by_words) settings.push_back(with_words(setting, words));
    }
    return settings;
}

}  // namespace braid::cli
