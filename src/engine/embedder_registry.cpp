#include "braid/engine/embedder_registry.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "braid/embed/caching_embedder.hpp"
#include "braid/engine/embedder_settings.hpp"

namespace braid::engine {
namespace {

/// Never to be changed: their vectors are stored.
constexpr std::array<std::string_view, 3> kCanaryTexts{
    "A canary sings as long as the air is good.",
    "Invoice 4711 was paid on 3 March 2021 in two instalments.",
    "def area(radius): return 3.14159 * radius ** 2"};

Result<std::vector<std::vector<float>>> embed_canaries(const Embedder& embedder,
                                                       const CallLimits& limits) {
    BRAID_TRY(auto embeddings, embedder.embed(kCanaryTexts, TextRole::Passage, limits));
    std::vector<std::vector<float>> vectors;
    vectors.reserve(embeddings.size());
    for (Embedding& embedding : embeddings) vectors.push_back(std::move(embedding.vector));
    return vectors;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return 0;
    double ab = 0;
    double aa = 0;
    double bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto x = static_cast<double>(a[i]);
        const auto y = static_cast<double>(b[i]);
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

/// Whether vectors come from an embedder rather than from the user.
bool is_made_here(const VectorSpec& vectors) {
    return vectors.has_vectors() && vectors.embedder != "external";
}

std::string mismatch(const EmbedderFingerprint& stored, const EmbedderFingerprint& present) {
    const auto differ = [](std::string_view what, const auto& a, const auto& b) {
        return "its " + std::string(what) + " was \"" + std::string(a) + "\", now it is \"" +
               std::string(b) + "\"";
    };
    if (stored.model != present.model) return differ("model", stored.model, present.model);
    if (stored.dimension != present.dimension) {
        return differ("dimension", std::to_string(stored.dimension),
                      std::to_string(present.dimension));
    }
    if (stored.pooling != present.pooling)
        return differ("pooling", stored.pooling, present.pooling);
    if (stored.query_prefix != present.query_prefix) {
        return differ("query prefix", stored.query_prefix, present.query_prefix);
    }
    if (stored.passage_prefix != present.passage_prefix) {
        return differ("passage prefix", stored.passage_prefix, present.passage_prefix);
    }
    if (stored.token_limit != present.token_limit) {
        return differ("token limit", std::to_string(stored.token_limit),
                      std::to_string(present.token_limit));
    }
    return differ("model file", stored.model_hash.substr(0, 12), present.model_hash.substr(0, 12));
}

retrieval::QueryVector query_vector(embed::CachedEmbedding made,
                                    const EmbedderFingerprint& fingerprint,
                                    std::vector<std::string> warnings, double load_ms) {
    if (made.embedding.truncated) {
        warnings.push_back("the query has " + std::to_string(made.embedding.tokens) +
                           " tokens, but the embedder reads only the first " +
                           std::to_string(fingerprint.token_limit));
    }
    return {std::move(made.embedding.vector), made.hit, std::move(warnings), load_ms};
}

}  // namespace

std::string passage_text(const Chunk& chunk) {
    std::string text;
    if (chunk.title) text += *chunk.title + "\n";
    if (chunk.section_title) text += *chunk.section_title + "\n";
    return text + chunk.content;
}

EmbedderRegistry::EmbedderRegistry(EmbedderFactory factory)
    : factory_(std::move(factory)),
      cache_(std::make_shared<embed::EmbeddingCache>(embed::CachingEmbedder::kDefaultBytes)) {}

EmbedderRegistry::~EmbedderRegistry() = default;

EmbedderRegistry::EmbedderPtr EmbedderRegistry::loaded(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    const auto found = embedders_.find(name);
    return found == embedders_.end() ? nullptr : found->second;
}

/// Whoever comes first has it loaded; all wait for that.
std::shared_ptr<const EmbedderRegistry::Loading> EmbedderRegistry::load(const VectorSpec& spec) {
    const std::scoped_lock lock(mutex_);
    auto& loading = loading_[spec.embedder];
    if (!loading) {
        auto errand = crew_.send<EmbedderPtr>(
            {},
            [factory = factory_, cache = cache_, spec](const CallLimits&) -> Result<EmbedderPtr> {
                BRAID_TRY(auto embedder, factory(spec));
                return std::make_shared<const embed::CachingEmbedder>(std::move(embedder), cache);
            });
        loading = std::make_shared<const Loading>(std::move(errand));
    }
    return loading;
}

Result<EmbedderRegistry::EmbedderPtr> EmbedderRegistry::find(const VectorSpec& spec,
                                                             const CallLimits& limits) {
    if (EmbedderPtr ready = loaded(spec.embedder)) return ready;
    const auto loading = load(spec);
    auto embedder = loading->wait(limits);
    if (!embedder && !loading->done()) {
        return fail("the embedder \"" + spec.embedder + "\" is still loading",
                    std::move(embedder).error());
    }
    const std::scoped_lock lock(mutex_);
    if (embedder) embedders_.emplace(spec.embedder, *embedder);
    const auto known = loading_.find(spec.embedder);
    if (known != loading_.end() && known->second == loading) loading_.erase(known);
    return embedder;
}

Result<EmbedderRegistry::EmbedderPtr> EmbedderRegistry::find_checked(
    const Schema& schema, std::vector<std::string>& warnings, const CallLimits& limits) {
    BRAID_TRY(EmbedderPtr embedder, find(schema.vectors, limits));
    const auto& stored = schema.vectors.fingerprint;
    if (stored && !stored->hard_equal(embedder->fingerprint())) {
        return fail(ErrorCode::Conflict,
                    "the embedder \"" + schema.vectors.embedder +
                        "\" is not the one that made the collection's vectors: " +
                        mismatch(*stored, embedder->fingerprint()) +
                        "; run `braid reembed` to recompute them");
    }
    BRAID_TRY(auto warning, check_runtime(schema, *embedder, limits));
    if (warning) warnings.push_back(*std::move(warning));
    return embedder;
}

Result<std::optional<std::string>> EmbedderRegistry::check_runtime(
    const Schema& schema, const embed::CachingEmbedder& embedder, const CallLimits& limits) {
    const auto& stored = schema.vectors.fingerprint;
    if (!stored || *stored == embedder.fingerprint()) return std::optional<std::string>();
    const std::string then = stored->runtime + " (" + stored->cpu_level + ")";
    const std::string key = schema.vectors.embedder + "\n" + then;
    {
        const std::scoped_lock lock(mutex_);
        const auto found = checked_runtimes_.find(key);
        if (found != checked_runtimes_.end()) return found->second;
    }
    BRAID_TRY(const auto canaries, embed_canaries(embedder, limits));
    double worst = 1;
    for (std::size_t i = 0; i < std::min(canaries.size(), schema.vectors.canaries.size()); ++i) {
        worst = std::min(worst, cosine(canaries[i], schema.vectors.canaries[i]));
    }
    constexpr double same = 0.999;
    const std::string now =
        embedder.fingerprint().runtime + " (" + embedder.fingerprint().cpu_level + ")";
    std::string warning =
        "the collection's vectors were made with " + then + ", queries use " + now + ": ";
    warning += worst >= same ? "test texts give the same vectors (cosine "
                             : "test texts give DIFFERENT vectors (cosine ";
    warning += std::to_string(worst) + ")";
    if (worst < same) warning += "; run `braid reembed`";
    const std::scoped_lock lock(mutex_);
    checked_runtimes_.emplace(key, warning);
    return std::optional<std::string>(std::move(warning));
}

const std::vector<std::string>& english_embedders() {
    static const std::vector<std::string> kNames{"bge-small-en-v1.5", "minilm"};
    return kNames;
}

std::optional<std::string> EmbedderRegistry::check_language(const Schema& schema,
                                                            const std::vector<std::string>& texts) {
    const std::string& name = schema.vectors.embedder;
    if (std::ranges::count(english_embedders(), name) == 0) return std::nullopt;
    const std::scoped_lock lock(mutex_);
    if (language_said_) return std::nullopt;
    for (const std::string& text : texts) language_.add(text);
    const auto foreign = language_.foreign();
    if (!foreign) return std::nullopt;
    language_said_ = true;
    return "most of this text is in " + *foreign + ", and the embedder \"" + name +
           "\" understands only English: search by meaning will be poor; search by words works. "
           "Use a "
           "model of your own or the embedder \"openai\", and set the stemmer with --language";
}

Result<> EmbedderRegistry::complete(Schema& schema) {
    VectorSpec& vectors = schema.vectors;
    if (!is_made_here(vectors)) return {};
    vectors.embedder = full_embedder_name(std::move(vectors.embedder));
    BRAID_TRY(const EmbedderPtr embedder, find(vectors, {}));
    const EmbedderFingerprint& fingerprint = embedder->fingerprint();
    if (vectors.dimension != 0 && vectors.dimension != fingerprint.dimension) {
        return invalid_argument("the embedder \"" + vectors.embedder + "\" gives " +
                                std::to_string(fingerprint.dimension) + " dimensions, not " +
                                std::to_string(vectors.dimension));
    }
    vectors.dimension = fingerprint.dimension;
    vectors.fingerprint = fingerprint;
    BRAID_TRY(vectors.canaries, embed_canaries(*embedder, {}));
    return {};
}

Result<std::optional<TokenCounter>> EmbedderRegistry::token_counter(const Schema& schema,
                                                                    const CallLimits& limits) {
    if (!is_made_here(schema.vectors)) return std::optional<TokenCounter>();
    BRAID_TRY(const EmbedderPtr embedder, find(schema.vectors, limits));
    return std::optional<TokenCounter>(
        TokenCounter{embedder->fingerprint().token_limit,
                     [embedder](std::string_view text) { return embedder->count_tokens(text); }});
}

Result<retrieval::QueryVector> EmbedderRegistry::embed_query(const Schema& schema,
                                                             std::string_view text, TextRole role,
                                                             const CallLimits& limits) {
    std::vector<std::string> warnings;
    const auto start = std::chrono::steady_clock::now();
    BRAID_TRY(const EmbedderPtr embedder, find_checked(schema, warnings, limits));
    const std::chrono::duration<double, std::milli> loading =
        std::chrono::steady_clock::now() - start;
    BRAID_TRY(embed::CachedEmbedding cached, embedder->embed_cached(text, role, limits));
    return query_vector(std::move(cached), embedder->fingerprint(), std::move(warnings),
                        loading.count());
}

std::optional<retrieval::QueryVector> EmbedderRegistry::remembered(const Schema& schema,
                                                                   std::string_view text,
                                                                   const CallLimits& limits) {
    const EmbedderPtr embedder = loaded(schema.vectors.embedder);
    // Where the fingerprints differ in anything, there is something to report.
    if (!embedder || schema.vectors.fingerprint != embedder->fingerprint()) return std::nullopt;
    auto embedding = embedder->remembered(text, limits);
    if (!embedding) return std::nullopt;
    return query_vector({.embedding = *std::move(embedding), .hit = true}, embedder->fingerprint(),
                        {}, 0);
}

Result<std::vector<std::string>> EmbedderRegistry::embed_chunks(const Schema& schema,
                                                                std::vector<Chunk>& chunks,
                                                                const CallLimits& limits) {
    std::vector<std::string> warnings;
    if (!is_made_here(schema.vectors)) return warnings;
    std::vector<Chunk*> waiting;
    for (Chunk& chunk : chunks) {
        if (chunk.vector.empty()) waiting.push_back(&chunk);
    }
    if (waiting.empty()) return warnings;
    BRAID_TRY(const EmbedderPtr embedder, find_checked(schema, warnings, limits));
    std::vector<std::string> texts;
    texts.reserve(waiting.size());
    for (const Chunk* chunk : waiting) texts.push_back(passage_text(*chunk));
    if (auto said = check_language(schema, texts)) warnings.push_back(*std::move(said));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    BRAID_TRY(auto embeddings, embedder->embed(views, TextRole::Passage, limits));
    std::size_t cut = 0;
    std::string first_cut;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        if (embeddings[i].truncated && ++cut == 1) {
            first_cut = "chunk \"" + waiting[i]->chunk_id + "\" has " +
                        std::to_string(embeddings[i].tokens) +
                        " tokens, but the embedder reads only the first " +
                        std::to_string(embedder->fingerprint().token_limit);
        }
        waiting[i]->vector = std::move(embeddings[i].vector);
    }
    if (cut > 1) first_cut += " (and " + std::to_string(cut - 1) + " more such chunks)";
    if (cut > 0) warnings.push_back(std::move(first_cut));
    return warnings;
}

}  // namespace braid::engine
