#include "retrieval/random_store.hpp"

#include <array>

namespace braid::retrieval {
namespace {

std::size_t below(std::mt19937& rng, std::size_t n) {
    return rng() % n;
}

template <class T, std::size_t N>
const T& pick(std::mt19937& rng, const std::array<T, N>& from) {
    return from[below(rng, N)];
}

Chunk random_chunk(std::mt19937& rng, const std::string& id) {
    static const std::array<std::string, 4> kSections{"Summary", "Guide > Overview", "Details",
                                                      "summary"};
    static const std::array<std::string, 3> kCategories{"guide", "note", "mail"};
    Chunk chunk = chunk_of(id, random_words(rng, 6));
    if (below(rng, 2) == 0) chunk.section_title = pick(rng, kSections);
    if (below(rng, 2) == 0) chunk.metadata.set("category", pick(rng, kCategories));
    if (below(rng, 4) != 0) {
        chunk.created_at = Timestamp{kRandomNow.micros -
                                     static_cast<std::int64_t>(below(rng, 100)) * 86'400'000'000};
    }
    return chunk;
}

StageChoice random_stage(std::mt19937& rng) {
    switch (below(rng, 9)) {
        case 0:
            return {"filter_by_recency", {{"days", 60}, {"keep_undated", below(rng, 2) == 0}}};
        case 1:
            return {"boost_section_matches", {{"factor", 1.5}}};
        case 2:
            return {"decay_by_age", {{"half_life_days", 20}}};
        case 3:
            return {"boost_fields", {{"filter", Object{{"category", "guide"}}}, {"factor", 0.5}}};
        case 4:
            return {"mmr", {{"lambda", 0.3}, {"candidates", 1 + below(rng, 12)}}};
        case 5:
            return {"min_score", {{"value", 0.005}}};
        case 6:
            return {"relative_score", {{"fraction", 0.2}}};
        case 7:
            return {"collapse_duplicates", {}};
        default:
            return {"largest_gap", {{"min_hits", 3}}};
    }
}

void choose_fusion(std::mt19937& rng, Request& request) {
    static const std::array<std::pair<const char*, FusionMethod>, 10> kPresets{
        std::pair{"qdrant", FusionMethod::Rrf},
        std::pair{"qdrant", FusionMethod::Dbsf},
        std::pair{"elastic", FusionMethod::Rrf},
        std::pair{"elastic", FusionMethod::WeightedSum},
        std::pair{"langchain", FusionMethod::Rrf},
        std::pair{"llamaindex", FusionMethod::Rrf},
        std::pair{"llamaindex", FusionMethod::WeightedSum},
        std::pair{"llamaindex", FusionMethod::Dbsf},
        std::pair{"haystack", FusionMethod::Rrf},
        std::pair{"haystack", FusionMethod::Dbsf}};
    if (below(rng, 2) == 0) {
        const auto& [preset, method] = pick(rng, kPresets);
        request.fusion.preset = preset;
        request.fusion.method = method;
    } else {
        request.fusion.method = static_cast<FusionMethod>(below(rng, 4));
        if (below(rng, 3) == 0) request.fusion.k = 7;
        if (below(rng, 3) == 0) request.fusion.rank_base = 0;
    }
    if (*request.fusion.method != FusionMethod::Rrf && below(rng, 3) == 0) {
        request.fusion.fill_scores = true;
    }
    if (below(rng, 2) == 0) request.dense_weight = static_cast<double>(below(rng, 11)) / 10;
}

}  // namespace

std::string random_words(std::mt19937& rng, std::size_t most) {
    static const std::array<std::string, 12> kWords{"fox",   "hunts", "dusk", "mice",
                                                    "den",   "snow",  "wolf", "moon",
                                                    "river", "tree",  "bird", "owl"};
    std::string text;
    for (std::size_t i = 1 + below(rng, most); i-- > 0;) {
        text += (text.empty() ? "" : " ") + pick(rng, kWords);
    }
    return text;
}

void fill(LocalStore& store, std::mt19937& rng) {
    std::vector<Chunk> artifacts;
    std::vector<Chunk> pieces;
    std::vector<Chunk> memory;
    const std::size_t documents = 5 + below(rng, 15);
    for (std::size_t d = 0; d < documents; ++d) {
        const std::string id = "art" + std::to_string(d);
        if (below(rng, 2) == 0) artifacts.push_back(random_chunk(rng, id));
        for (std::size_t i = below(rng, 4); i-- > 0;) {
            Chunk piece = random_chunk(rng, id + "#" + std::to_string(i));
            piece.document_id = id;
            piece.chunk_index = static_cast<std::int64_t>(i);
            pieces.push_back(std::move(piece));
        }
        memory.push_back(random_chunk(rng, below(rng, 3) == 0 ? id : "m" + std::to_string(d)));
    }
    artifacts.push_back(random_chunk(rng, "lone"));
    pieces.push_back(random_chunk(rng, "piece"));
    store.add("artifacts", std::move(artifacts));
    store.add("artifact_chunks", std::move(pieces));
    store.add("memory", std::move(memory));
}

Request random_request(std::mt19937& rng) {
    static const std::array<std::string, 4> kNames{"artifacts", "artifact_chunks", "memory",
                                                   "history"};
    static const std::array<std::string, 6> kProfiles{"default", "service",   "decisions",
                                                      "topic",   "artifacts", "doctrine"};
    Request request;
    request.query = random_words(rng, 4);
    request.profile = pick(rng, kProfiles);
    request.namespace_ = "default";  // doctrine has its own
    const std::size_t first = below(rng, 3);
    for (std::size_t i = 0; i < 1 + below(rng, 3); ++i) {
        request.collections.push_back(kNames[(first + i) % kNames.size()]);
    }
    request.strategy = static_cast<Strategy>(below(rng, 4));
    if (request.strategy == Strategy::Hybrid) choose_fusion(rng, request);
    request.top_k = 1 + below(rng, 8);
    request.dense_top_k = 1 + below(rng, 12);
    request.sparse_top_k = 1 + below(rng, 12);
    request.max_hops = 1 + below(rng, 4);
    request.hop_top_k = 1 + below(rng, 6);
    if (below(rng, 5) == 0) request.score_threshold = 0.01;
    if (below(rng, 5) == 0) {
        request.filter = Filter::compare(Filter::Op::Ne, "category", "mail");
    }
    for (std::size_t i = below(rng, 3); i-- > 0;) request.stages.push_back(random_stage(rng));
    const bool weighs_collections = std::ranges::any_of(request.weights, [](const auto& weight) {
        return weight.first != "dense" && weight.first != "sparse";
    });
    if (!weighs_collections && below(rng, 3) == 0) request.across = Across::Scores;
    return request;
}

}  // namespace braid::retrieval
