#include "braid/retrieval/receipt.hpp"

namespace braid::retrieval {
namespace {

std::optional<double> distance_of(std::string_view source, double score, Metric metric) {
    if (source != "dense" || metric != Metric::Euclidean) return std::nullopt;
    return -score;
}

}  // namespace

ReceiptChoice choice_for_receipts(const fusion::Choice& choice) {
    ReceiptChoice out{.base = choice.base,
                      .signals = {},
                      .lowest = choice.lowest,
                      .highest = choice.highest,
                      .dense_weight = choice.dense_weight};
    out.signals.reserve(choice.signals.size());
    for (const fusion::Signal& signal : choice.signals) {
        out.signals.push_back(
            {std::string(signal.name), signal.value, signal.usual, signal.coefficient});
    }
    return out;
}

Receipt common_receipt(const fusion::Fused& fused, std::span<const fusion::RankedList> lists,
                       const fusion::Options& options) {
    Receipt receipt;
    receipt.method = name_of(options.method);
    if (options.preset != fusion::Preset::None) receipt.preset = name_of(options.preset);
    if (options.method == FusionMethod::Rrf) {
        receipt.k = options.k;
        receipt.rank_base = options.rank_base;
        if (options.preset == fusion::Preset::Haystack) receipt.sources_fused = lists.size();
    } else {
        for (std::size_t i = 0; i < lists.size(); ++i) {
            const fusion::ListStatistics& statistics = fused.lists[i];
            if (!statistics.min && !statistics.mean) continue;  // an empty list
            receipt.lists.push_back({std::string(lists[i].source), statistics.min, statistics.max,
                                     statistics.mean, statistics.std});
        }
    }
    return receipt;
}

void complete(Receipt& receipt, const Receipt& common) {
    receipt.method = common.method;
    receipt.preset = common.preset;
    receipt.k = common.k;
    receipt.rank_base = common.rank_base;
    receipt.sources_fused = common.sources_fused;
    receipt.lists = common.lists;
    receipt.choice = common.choice;
}

Receipt receipt_of(const fusion::Fused& fused, const fusion::FusedHit& hit,
                   std::span<const fusion::RankedList> lists, Metric metric) {
    Receipt receipt;
    receipt.sources.reserve(hit.parts.size());
    for (const fusion::Part& part : hit.parts) {
        const fusion::RankedList& list = lists[part.list];
        ReceiptSource& source = receipt.sources.emplace_back();
        source.source = list.source;
        source.score = part.score;
        source.distance = distance_of(list.source, part.score, metric);
        source.rank = part.rank;
        source.filled = part.filled;
        source.normalized = part.normalized;
        source.weight = fused.lists[part.list].weight;
        source.contribution = part.contribution;
    }
    receipt.fused = hit.score;
    receipt.score = hit.score;
    return receipt;
}

Receipt plain_receipt(std::string_view source, double score, std::size_t rank, Metric metric) {
    Receipt receipt;
    ReceiptSource& only = receipt.sources.emplace_back();
    only.source = source;
    only.score = score;
    only.distance = distance_of(source, score, metric);
    only.rank = rank;
    only.contribution = score;
    receipt.fused = score;
    receipt.score = score;
    return receipt;
}

Receipt hop_receipt(double score, std::size_t rank, double decay, Metric metric) {
    Receipt receipt = plain_receipt("dense", score, rank, metric);
    receipt.method = name_of(Strategy::MultiHop);
    ReceiptSource& only = receipt.sources.front();
    only.weight = decay;
    only.contribution = score < 0 ? score / decay : score * decay;
    receipt.fused = only.contribution;
    receipt.score = only.contribution;
    return receipt;
}

}  // namespace braid::retrieval
