#include "braid/engine/leg_probes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "braid/backend.hpp"
#include "braid/core/utf8.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/store/memory_directory.hpp"

namespace braid::engine {
namespace {

constexpr std::size_t kScanned = 20'000;  // chunks that are drawn from
constexpr std::size_t kAmong = 400;       // of these, searched
constexpr std::size_t kProbes = 64;       // of these, searched for
constexpr std::size_t kSentences = 4;     // that a chunk needs
constexpr std::size_t kWords = 4;         // that a sentence needs
constexpr std::size_t kQuestionBytes = 2'000;
constexpr std::size_t kRanks = 10;  // that count
constexpr std::size_t kPairs = 8;   // random ones for each question
constexpr std::array<std::string_view, 4> kKinds{"title", "sentence", "first", "neighbor"};

/// FNV-1a: draws depend neither on the order of chunks nor on the machine.
std::uint64_t hash_of(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    return hash ^ (hash >> 29);
}

bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

std::size_t words_in(std::string_view text) {
    std::size_t words = 0;
    bool inside = false;
    for (const char c : text) {
        words += !is_space(c) && !inside ? 1 : 0;
        inside = !is_space(c);
    }
    return words;
}

std::vector<std::string_view> pieces_of(std::string_view text, auto&& ends_before) {
    std::vector<std::string_view> pieces;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && !ends_before(i)) continue;
        const std::string_view piece = text.substr(begin, i - begin);
        if (words_in(piece) >= kWords) pieces.push_back(piece);
        begin = i;
    }
    return pieces;
}

/// What is asked, what kind of question it is, and the chunk it was taken from.
struct Question {
    std::size_t kind = 0;
    std::string chunk_id;
    std::string text;
};

/// What is searched, and the questions.
struct Trial {
    std::vector<Chunk> chunks;
    std::vector<Question> questions;
};

std::string question_of(std::string_view text) {
    return std::string(core::cut_at_most(text, kQuestionBytes));
}

/// The ids with the smallest hashes.
Result<std::vector<std::string>> draw(const Reader& reader, const ReadScope& scope) {
    constexpr std::size_t page = 500;
    std::vector<std::pair<std::uint64_t, std::string>> drawn;
    std::string after;
    for (std::size_t seen = 0; seen < kScanned;) {
        BRAID_TRY(const auto chunks, reader.scan(scope, after, page, false));
        if (chunks.empty()) break;
        for (const Chunk& chunk : chunks)
            drawn.emplace_back(hash_of(chunk.chunk_id), chunk.chunk_id);
        seen += chunks.size();
        after = chunks.back().chunk_id;
        const std::size_t kept = std::min(kAmong, drawn.size());
        std::ranges::partial_sort(drawn, drawn.begin() + static_cast<std::ptrdiff_t>(kept));
        drawn.resize(kept);
    }
    std::vector<std::string> ids;
    for (auto& [hash, id] : drawn) ids.push_back(std::move(id));
    return ids;
}

/// The chunk next to this one in its document.
Result<std::optional<Chunk>> neighbor_of(const Reader& reader, const ReadScope& scope,
                                         const Chunk& chunk) {
    if (!chunk.chunk_index) return std::nullopt;
    const NeighborRange range{chunk.document_id, *chunk.chunk_index, 1, 1};
    BRAID_TRY(auto found, reader.neighbors(scope, std::span(&range, 1)));
    for (Chunk& one : found.front()) {
        if (one.chunk_id != chunk.chunk_id) return std::move(one);
    }
    return std::nullopt;
}

/// Takes a chunk apart: leaves what questions are to find, and adds the questions.
Result<> take_apart(const Reader& reader, const ReadScope& scope, Chunk& chunk, Trial& trial) {
    const std::string content = std::move(chunk.content);
    const auto parts = sentences_of(content);
    const std::size_t place = 1 + hash_of(chunk.chunk_id) % (parts.size() - 1);
    std::string rest;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        if (i != place) rest += (rest.empty() ? "" : " ") + std::string(parts[i]);
    }
    const auto ask = [&](std::size_t kind, std::string_view text) {
        trial.questions.push_back({kind, chunk.chunk_id, question_of(text)});
    };
    if (chunk.title && !chunk.title->empty() && rest.find(*chunk.title) == std::string::npos) {
        ask(0, *chunk.title);
    }
    ask(1, parts[place]);
    ask(2, parts.front());
    BRAID_TRY(const auto beside, neighbor_of(reader, scope, chunk));
    if (beside) ask(3, beside->content);
    chunk.content = std::move(rest);
    chunk.title.reset();
    chunk.section_title.reset();
    chunk.metadata = {};
    chunk.vector.clear();
    return {};
}

Result<Trial> make_trial(const Reader& reader, const ReadScope& scope) {
    Trial trial;
    BRAID_TRY(const auto ids, draw(reader, scope));
    BRAID_TRY(auto fetched, reader.fetch(scope, ids, true));
    std::size_t taken = 0;
    for (auto& chunk : fetched) {
        if (!chunk) continue;
        // Nobody but these questions sees the copy.
        chunk->sensitivity.reset();
        chunk->visibility_scope.clear();
        chunk->expires_at.reset();
        chunk->version = 0;
        if (taken < kProbes && sentences_of(chunk->content).size() >= kSentences) {
            BRAID_CHECK(take_apart(reader, scope, *chunk, trial));
            ++taken;
        }
        trial.chunks.push_back(*std::move(chunk));
    }
    return trial;
}

/// Mean and spread of values added one by one, always in the same order.
class Values {
public:
    void add(double value) { values_.push_back(value); }
    LegProbes::Spread spread() const {
        LegProbes::Spread out;
        if (values_.empty()) return out;
        const auto n = static_cast<double>(values_.size());
        for (const double value : values_) out.mean += value / n;
        double squares = 0;
        for (const double value : values_) squares += (value - out.mean) * (value - out.mean);
        out.deviation = std::sqrt(squares / n);
        return out;
    }

private:
    std::vector<double> values_;
};

class Probing {
public:
    Probing(const Reader& copy, EmbedderRegistry& registry, const Schema& schema,
            const CallLimits& limits)
        : copy_(copy), registry_(registry), schema_(schema), limits_(limits) {
        for (const std::string_view kind : kKinds) probes_.kinds.push_back({std::string(kind)});
    }

    Result<LegProbes> ask_all(const Trial& trial) {
        for (std::size_t i = 0; i < trial.questions.size(); ++i) {
            BRAID_CHECK(ask(trial, i));
        }
        for (LegProbes::Kind& kind : probes_.kinds) {
            if (kind.asked == 0) continue;
            kind.dense /= static_cast<double>(kind.asked);
            kind.sparse /= static_cast<double>(kind.asked);
        }
        std::erase_if(probes_.kinds, [](const LegProbes::Kind& kind) { return kind.asked == 0; });
        probes_.among = trial.chunks.size();
        probes_.random_dense = random_dense_.spread();
        probes_.random_sparse = random_sparse_.spread();
        return std::move(probes_);
    }

private:
    Result<> ask(const Trial& trial, std::size_t number) {
        const Question& question = trial.questions[number];
        Leg dense;
        dense.kind = LegKind::Dense;
        dense.exact = true;
        BRAID_TRY(auto embedded,
                  registry_.embed_query(schema_, question.text, TextRole::Query, limits_));
        dense.vector = std::move(embedded.vector);
        Leg sparse;
        sparse.kind = LegKind::Sparse;
        BRAID_TRY(auto terms, copy_.analyze(std::string(kCollection), question.text));
        sparse.phrasings.push_back(std::move(terms));
        LegProbes::Kind& kind = probes_.kinds[question.kind];
        ++kind.asked;
        BRAID_TRY(const double by_vector, reciprocal_rank(dense, question.chunk_id));
        BRAID_TRY(const double by_words, reciprocal_rank(sparse, question.chunk_id));
        kind.dense += by_vector;
        kind.sparse += by_words;
        BRAID_CHECK(score_random(trial, number, dense, random_dense_));
        return score_random(trial, number, sparse, random_sparse_);
    }

    Result<double> reciprocal_rank(Leg& leg, const std::string& wanted) const {
        leg.scope.collection = kCollection;
        leg.depth = kRanks;
        BRAID_TRY(const LegResult found, copy_.search_leg(leg));
        const auto place = std::ranges::find(found.hits, wanted, &LegHit::chunk_id);
        if (place == found.hits.end()) return 0.0;
        return 1.0 / static_cast<double>(place - found.hits.begin() + 1);
    }

    Result<> score_random(const Trial& trial, std::size_t number, const Leg& leg,
                          Values& values) const {
        std::vector<std::string> ids;
        for (std::size_t i = 0; i < kPairs; ++i) {
            const std::size_t at = hash_of(std::to_string(number) + "/" + std::to_string(i));
            const Chunk& chunk = trial.chunks[at % trial.chunks.size()];
            if (chunk.chunk_id != trial.questions[number].chunk_id) ids.push_back(chunk.chunk_id);
        }
        BRAID_TRY(const auto scores, copy_.score(leg, ids));
        for (const auto& score : scores) {
            if (score) values.add(*score);
        }
        return {};
    }

public:
    static constexpr std::string_view kCollection = "probes";

private:
    const Reader& copy_;
    EmbedderRegistry& registry_;
    const Schema& schema_;
    const CallLimits& limits_;
    LegProbes probes_;
    Values random_dense_;
    Values random_sparse_;
};

}  // namespace

std::vector<std::string_view> sentences_of(std::string_view text) {
    auto sentences = pieces_of(text, [&](std::size_t i) {
        return i > 0 && is_space(text[i]) &&
               std::string_view(".!?").find(text[i - 1]) != std::string_view::npos;
    });
    if (sentences.size() >= kSentences) return sentences;
    return pieces_of(text, [&](std::size_t i) { return text[i] == '\n'; });
}

bool probing_due(const CollectionStats& stats) {
    if (stats.chunks < kProbedChunks || stats.vectors == 0) return false;
    if (!stats.probes) return true;
    const std::uint64_t before = stats.probes->chunks;
    const std::uint64_t changed = std::max(before, stats.chunks) - std::min(before, stats.chunks);
    return 4 * changed >= before;
}

Result<std::optional<LegProbes>> probe_legs(const Reader& reader, const ReadScope& scope,
                                            EmbedderRegistry& registry, const CallLimits& limits) {
    BRAID_TRY(const Schema schema, reader.schema(scope.collection));
    BRAID_TRY(const std::uint64_t chunks, reader.count(scope));
    if (chunks < kProbedChunks || !schema.vectors.fingerprint) return std::nullopt;
    BRAID_TRY(Trial trial, make_trial(reader, scope));
    if (trial.questions.empty()) return std::nullopt;
    BRAID_CHECK(registry.embed_chunks(schema, trial.chunks, limits));
    const std::string name(Probing::kCollection);
    BRAID_TRY(auto opened, local::open_local_backend(store::make_memory_directory(), {}));
    BRAID_CHECK(opened.backend->create_collection(name, schema));
    WriteOptions writing;
    writing.vectors_by = schema.vectors.fingerprint;
    BRAID_CHECK(
        opened.backend->upsert(name, std::string(kDefaultNamespace), trial.chunks, writing));
    BRAID_TRY(const auto copy, opened.backend->snapshot(std::span(&name, 1), limits));
    BRAID_TRY(LegProbes probes, Probing(*copy, registry, schema, limits).ask_all(trial));
    probes.chunks = chunks;
    return probes;
}

}  // namespace braid::engine
