#include "wire/random_wire.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"

namespace braid::wire::testing {
namespace {

class Dice {
public:
    explicit Dice(std::mt19937_64& rng) : rng_(rng) {}

    std::uint64_t below(std::uint64_t n) { return rng_() % n; }
    bool coin() { return below(2) == 0; }

    std::string text() {
        static const std::array<std::string, 10> kPieces{
            "fox",  " ",         "\"quoted\"",   "\\",         "\n",
            "\x01", "caf\u00e9", "\u72d0\u72f8", "\U0001F98A", std::string("\0x", 2)};
        std::string out;
        for (std::uint64_t i = below(6); i-- > 0;) out += kPieces[below(kPieces.size())];
        return out;
    }
    std::string word() { return "w" + std::to_string(below(1000)); }

    /// Finite, of any magnitude.
    double number() {
        while (true) {
            const double candidate = coin() ? std::bit_cast<double>(rng_())
                                            : static_cast<double>(below(2000)) / 7.0 - 100.0;
            if (std::isfinite(candidate)) return candidate;
        }
    }
    double positive() { return std::abs(number()); }
    double share() { return static_cast<double>(below(1001)) / 1000.0; }
    float real() { return static_cast<float>(static_cast<double>(rng_() % 20001) / 1e4 - 1.0); }

    std::vector<float> vector() {
        std::vector<float> out(below(5));
        for (float& x : out) x = real();
        return out;
    }

    template <class Make>
    auto maybe(Make make) -> std::optional<decltype(make())> {
        if (coin()) return std::nullopt;
        return make();
    }
    template <class Make>
    auto list(std::uint64_t most, Make make) {
        std::vector<decltype(make())> out;
        for (std::uint64_t i = below(most + 1); i-- > 0;) out.push_back(make());
        return out;
    }
    std::vector<std::string> words(std::uint64_t most) {
        std::vector<std::string> out;
        for (std::uint64_t i = below(most + 1); i-- > 0;) {
            out.push_back(word() + "_" + std::to_string(i));
        }
        return out;
    }

    Value json(int depth) {
        switch (below(depth > 0 ? 7 : 5)) {
            case 0:
                return nullptr;
            case 1:
                return coin();
            case 2:
                return static_cast<std::int64_t>(rng_());
            case 3:
                return number();
            case 4:
                return text();
            case 5: {
                Array out;
                for (std::uint64_t i = below(3); i-- > 0;) out.push_back(json(depth - 1));
                return out;
            }
            default:
                return object(depth - 1);
        }
    }
    Object object(int depth) {
        Object out;
        for (std::uint64_t i = below(4); i-- > 0;) out.set(word(), json(depth));
        return out;
    }
    Timestamp time() { return {static_cast<std::int64_t>(below(4'000'000'000'000'000ULL))}; }

private:
    std::mt19937_64& rng_;
};

Filter random_filter(Dice& dice) {
    Filter filter = Filter::compare(Filter::Op::Gte, dice.word(), dice.number());
    if (dice.coin()) return filter;
    return Filter::all_of(
        {std::move(filter), Filter::compare(Filter::Op::In, dice.word(), Array{1, "two", 3.5})});
}

Receipt random_receipt(Dice& dice, int depth) {
    Receipt receipt;
    receipt.method = dice.coin() ? "rrf" : "weighted_sum";
    receipt.preset = dice.maybe([&] { return dice.word(); });
    receipt.k = dice.maybe([&] { return dice.number(); });
    receipt.rank_base = dice.maybe([&] { return static_cast<int>(dice.below(2)); });
    receipt.sources_fused = dice.maybe([&] { return static_cast<std::size_t>(dice.below(9)); });
    for (const std::string& source : dice.words(2)) {
        receipt.lists.push_back({source, dice.maybe([&] { return dice.number(); }),
                                 dice.maybe([&] { return dice.number(); }),
                                 dice.maybe([&] { return dice.number(); }),
                                 dice.maybe([&] { return dice.number(); })});
    }
    receipt.choice = dice.maybe([&] {
        ReceiptChoice choice{.base = dice.number(), .signals = {}};
        choice.signals = dice.list(2, [&] {
            return ReceiptSignal{dice.word(), dice.number(), dice.number(), dice.number()};
        });
        choice.lowest = dice.number();
        choice.highest = dice.number();
        choice.dense_weight = dice.number();
        return choice;
    });
    receipt.sources = dice.list(2, [&] {
        ReceiptSource source;
        source.source = dice.word();
        source.score = dice.number();
        source.distance = dice.maybe([&] { return dice.number(); });
        source.filled = dice.coin();
        source.corrected = dice.coin();
        source.rank = source.filled ? 0 : dice.below(100);
        source.normalized = dice.maybe([&] { return dice.number(); });
        source.weight = dice.number();
        source.contribution = dice.number();
        source.chunk_id = dice.maybe([&] { return dice.word(); });
        if (depth > 0 && dice.coin()) {
            source.nested = std::make_shared<Receipt>(random_receipt(dice, depth - 1));
        }
        return source;
    });
    receipt.fused = dice.number();
    receipt.stages = dice.list(2, [&] {
        return ReceiptStage{dice.word(), dice.word(), dice.number(), dice.number(),
                            dice.coin() ? Object{{"lambda", dice.number()}} : Object{}};
    });
    receipt.score = dice.number();
    return receipt;
}

Strategy random_strategy(Dice& dice) {
    return static_cast<Strategy>(dice.below(4));
}

}  // namespace

Request random_request(std::mt19937_64& rng) {
    Dice dice(rng);
    const auto count = [&] { return static_cast<std::size_t>(1 + dice.below(100)); };
    Request request;
    request.query = dice.text();
    request.query_embedding = dice.vector();
    request.collections = dice.words(3);
    request.namespace_ = dice.maybe([&] { return dice.word(); });
    if (dice.coin()) request.profile = dice.word();
    if (request.profile.empty() && dice.coin()) request.own_profile = random_profile(rng);
    request.strategy = dice.maybe([&] { return random_strategy(dice); });
    request.top_k = dice.maybe(count);
    request.cursor = dice.text();
    request.fusion.method = dice.maybe([&] { return static_cast<FusionMethod>(dice.below(4)); });
    request.fusion.k = dice.maybe([&] { return dice.positive(); });
    request.fusion.rank_base = dice.maybe([&] { return 1; });
    request.fusion.fill_scores = dice.maybe([&] { return dice.coin(); });
    request.fusion.preset = dice.maybe([&] { return dice.word(); });
    if (dice.coin()) {
        request.dense_weight = dice.share();
    } else {
        for (const std::string& source : dice.words(3)) {
            request.weights.emplace_back(source, dice.positive());
        }
    }
    request.bm25.k1 = dice.maybe([&] { return dice.positive(); });
    request.bm25.b = dice.maybe([&] { return dice.share(); });
    for (const std::string& field : dice.words(2)) {
        request.bm25.text_fields.push_back({field, dice.positive()});
    }
    request.dense_top_k = dice.maybe(count);
    request.sparse_top_k = dice.maybe(count);
    request.max_hops = dice.maybe(count);
    request.hop_top_k = dice.maybe(count);
    request.score_threshold = dice.maybe([&] { return dice.number(); });
    request.filter = dice.maybe([&] { return random_filter(dice); });
    request.document_ids = dice.maybe([&] { return dice.words(3); });
    request.expand_query = dice.coin();
    request.use_hyde = dice.coin();
    request.query_syntax = dice.coin();
    request.typos = dice.coin();
    request.keep_duplicates = dice.coin();
    request.stages = dice.list(3, [&] { return StageChoice{dice.word(), dice.object(2)}; });
    request.expand_neighbors = dice.below(4);
    request.exact = dice.coin();
    request.recall = dice.maybe([&] { return 1 - dice.share() / 2; });
    request.highlight = dice.coin();
    request.explain = dice.coin();
    request.deadline_ms = dice.maybe([&] { return static_cast<std::int64_t>(count()); });
    return request;
}

Chunk random_chunk(std::mt19937_64& rng) {
    Dice dice(rng);
    Chunk chunk;
    chunk.chunk_id = dice.word();
    chunk.document_id = dice.word();
    chunk.chunk_index = dice.maybe([&] { return static_cast<std::int64_t>(rng()); });
    chunk.content = "." + dice.text();
    chunk.title = dice.maybe([&] { return "t" + dice.text(); });
    chunk.section_title = dice.maybe([&] { return "s" + dice.text(); });
    chunk.metadata = dice.object(3);
    chunk.created_at = dice.maybe([&] { return dice.time(); });
    chunk.sensitivity = dice.maybe([&] { return dice.word(); });
    chunk.visibility_scope = dice.words(3);
    chunk.vector = dice.vector();
    chunk.version = dice.below(1000);
    return chunk;
}

Answer random_answer(std::mt19937_64& rng) {
    Dice dice(rng);
    Answer answer;
    answer.query = dice.text();
    answer.hits = dice.list(3, [&] {
        Hit hit;
        hit.collection = dice.word();
        hit.namespace_ = dice.word();
        hit.chunk = random_chunk(rng);
        hit.score = dice.number();
        hit.rank = 1 + dice.below(100);
        hit.strategy = random_strategy(dice);
        hit.dense_score = dice.maybe([&] { return dice.number(); });
        hit.sparse_score = dice.maybe([&] { return dice.number(); });
        hit.expanded = dice.maybe([&] { return dice.text(); });
        hit.matches = dice.list(2, [&] {
            const std::size_t begin = dice.below(9);
            return TextRange{begin, begin + dice.below(9)};
        });
        hit.legs = dice.list(2, [&] {
            return LegStanding{dice.word(), dice.maybe([&] { return dice.number(); }),
                               dice.maybe([&] { return std::uint64_t{1} + dice.below(100); }),
                               dice.below(100)};
        });
        hit.receipt = random_receipt(dice, 2);
        return hit;
    });
    answer.profile = rng() % 2 == 0 ? "default" : "topic";
    answer.strategy_used = random_strategy(dice);
    answer.total_candidates = dice.below(1000);
    answer.dense_candidates = dice.below(1000);
    answer.sparse_candidates = dice.below(1000);
    answer.sources = dice.list(3, [&] {
        return SourceReport{dice.word(),
                            dice.word(),
                            dice.coin(),
                            dice.below(100),
                            dice.below(100),
                            dice.below(100),
                            dice.coin(),
                            dice.number(),
                            dice.text(),
                            dice.text(),
                            dice.coin(),
                            dice.list(2, [&] {
                                return PatternWords{dice.text(), dice.words(3), dice.below(100)};
                            })};
    });
    answer.query_understood = dice.maybe([&] { return dice.text(); });
    answer.complete = dice.coin();
    answer.warnings = dice.list(3, [&] { return dice.text(); });
    answer.unused = dice.words(2);
    answer.phrasings = dice.list(3, [&] { return dice.text(); });
    answer.hypothetical_answer = dice.maybe([&] { return dice.text(); });
    answer.suggestions =
        dice.list(2, [&] { return Suggestion{dice.text(), dice.text(), dice.below(100)}; });
    answer.corrections = dice.list(
        2, [&] { return Correction{dice.text(), dice.text(), dice.text(), dice.number()}; });
    answer.cursor = dice.maybe([&] { return dice.text(); });
    answer.experiment = dice.maybe(
        [&] { return ExperimentSide{dice.text(), dice.coin() ? "a" : "both", dice.word()}; });
    answer.query_embedding_cached = dice.maybe([&] { return dice.coin(); });
    answer.timings = {dice.number(), dice.number(), dice.number(), dice.number(),
                      dice.number(), dice.number(), dice.number(), dice.number()};
    return answer;
}

Schema random_schema(std::mt19937_64& rng) {
    Dice dice(rng);
    Schema schema;
    schema.text_fields = {{"content", 0.5 + dice.share()}};
    if (dice.coin()) schema.text_fields.push_back({"metadata.a.b", 2.0});
    schema.analyzer = dice.coin() ? "standard" : "simple";
    schema.language = dice.coin() ? "none" : "german";
    schema.stop_words = dice.coin();
    schema.positions = dice.coin();
    schema.bm25 = {dice.coin() ? Bm25Variant::Lucene : Bm25Variant::Okapi, dice.share() * 3,
                   dice.share(), dice.share()};
    schema.vectors.embedder = dice.word();
    schema.vectors.dimension = dice.below(2000);
    schema.vectors.metric = static_cast<Metric>(dice.below(3));
    schema.vectors.precision = static_cast<Precision>(dice.below(3));
    schema.vectors.fingerprint = dice.maybe([&] {
        return EmbedderFingerprint{dice.word(),     dice.word(), dice.below(900),
                                   "cls",           dice.text(), dice.text(),
                                   dice.below(900), dice.word(), dice.word()};
    });
    for (const std::string& name : dice.words(3)) {
        schema.metadata.push_back({name, static_cast<MetadataType>(dice.below(4))});
    }
    if (dice.coin()) schema.levels = {{"low", "high"}, "low"};
    return schema;
}

Profile random_profile(std::mt19937_64& rng) {
    Dice dice(rng);
    const auto size = [&] { return static_cast<std::size_t>(1 + dice.below(100)); };
    return {dice.word(),
            dice.words(2),
            dice.word(),
            random_strategy(dice),
            static_cast<FusionMethod>(dice.below(4)),
            1 + dice.share(),
            static_cast<int>(dice.below(2)),
            dice.coin() ? Across::Scores : Across::Ranks,
            dice.share(),
            dice.maybe([&] { return dice.share(); }),
            size(),
            dice.below(5),
            size(),
            dice.below(100),
            size(),
            size(),
            dice.list(2, [&] { return StageChoice{dice.word(), dice.object(1)}; }),
            {.k1 = dice.positive(), .b = dice.share(), .text_fields = {{dice.word(), 2}}}};
}

Value parsed(const std::string& text) {
    auto value = json::parse(text);
    EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
    return value.value_or(Value());
}

}  // namespace braid::wire::testing
