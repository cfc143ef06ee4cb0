#pragma once

#include <random>
#include <string>

#include "braid/eval/trec.hpp"

namespace braid::eval::testing_data {

/// Judgements for up to ten queries, a few of them negative.
inline Qrels random_qrels(std::mt19937& rng) {
    Qrels qrels;
    for (std::size_t q = 0; q <= rng() % 10; ++q) {
        JudgedQuery judged{"q" + std::to_string(q), {}};
        for (int d = 100; d < 140; ++d) {
            if (rng() % 4 == 0) {
                judged.judgements.push_back(
                    {"d" + std::to_string(d), static_cast<std::int32_t>(rng() % 5) - 1});
            }
        }
        if (!judged.judgements.empty()) qrels.queries.push_back(std::move(judged));
    }
    if (qrels.queries.empty()) qrels.queries.push_back({"q0", {{"d100", 1}}});
    return qrels;
}

/// A run over the same documents and queries, with ties and missing queries.
inline Run random_run(std::mt19937& rng, const std::string& name) {
    Run run{name, {}};
    for (int q = 0; q < 10; ++q) {
        if (rng() % 5 == 0) continue;
        RankedList list{"q" + std::to_string(q), {}};
        double score = 20.0;
        for (int d = 100; d < 140; ++d) {
            if (rng() % 3 == 0) score -= static_cast<double>(rng() % 3);
            if (rng() % 2 == 0) list.hits.push_back({"d" + std::to_string(d), score});
        }
        run.lists.push_back(std::move(list));
    }
    return run;
}

}  // namespace braid::eval::testing_data
