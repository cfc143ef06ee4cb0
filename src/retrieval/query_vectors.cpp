#include "braid/retrieval/query_vectors.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace braid::retrieval {

std::optional<Result<std::vector<float>>> QueryVectors::known(
    const CollectionPlan& collection) const {
    const auto made = work_.forms.vectors.find(collection.name);
    if (made != work_.forms.vectors.end()) return made->second;
    const auto failed = work_.forms.failures.find(collection.name);
    if (failed != work_.forms.failures.end()) return tl::unexpected(failed->second);
    if (!work_.request.query_embedding.empty()) return work_.request.query_embedding;
    if (collection.schema.vectors.embedder == "external") {
        return invalid_argument("the vectors of collection \"" + collection.name +
                                "\" come from outside: pass \"query_embedding\"");
    }
    return std::nullopt;
}

QueryVectors::ByEmbedder* QueryVectors::find(const VectorSpec& spec) {
    const auto found = std::ranges::find_if(made_, [&](const ByEmbedder& made) {
        return made.spec->embedder == spec.embedder && made.spec->fingerprint == spec.fingerprint;
    });
    return found == made_.end() ? nullptr : &*found;
}

core::Errand<QueryVectors::Timed> QueryVectors::send(const QueryEmbedder& embedder,
                                                     const Schema& schema,
                                                     const std::string& text) const {
    return work_.crew.send<Timed>(
        work_.vector_limits, [embedder, schema, text](const CallLimits& limits) -> Result<Timed> {
            const auto start = Clock::now();
            BRAID_TRY(QueryVector query, embedder(schema, text, limits));
            return Timed{std::move(query), milliseconds_since(start)};
        });
}

void QueryVectors::start() {
    const auto& answer = work_.forms.hypothetical_answer;
    const std::string& asked = work_.plain_query ? *work_.plain_query : work_.request.query;
    const std::string& text = answer ? *answer : asked;
    const bool own = answer && work_.hypothesis_embedder;
    for (const CollectionPlan& collection : work_.plan.collections) {
        const VectorSpec& spec = collection.schema.vectors;
        if (!collection.dense || known(collection) || find(spec) != nullptr) continue;
        ByEmbedder& made = made_.emplace_back();
        made.spec = &spec;
        if (work_.remembered && !answer) {
            if (auto query = work_.remembered(collection.schema, text, work_.vector_limits)) {
                note(*query, 0);
                made.vector = std::move(query->vector);
                continue;
            }
        }
        made.errand.emplace(
            send(own ? work_.hypothesis_embedder : work_.embedder, collection.schema, text));
    }
}

bool QueryVectors::at_hand() const {
    return std::ranges::none_of(made_,
                                [](const ByEmbedder& made) { return made.errand.has_value(); });
}

void QueryVectors::note(QueryVector& query, double time_ms) {
    Answer& answer = work_.answer;
    answer.timings.load_ms += query.load_ms;
    answer.timings.embed_ms += time_ms - query.load_ms;
    answer.query_embedding_cached = query.cached && answer.query_embedding_cached.value_or(true);
    std::ranges::move(query.warnings, std::back_inserter(answer.warnings));
}

Result<std::vector<float>> QueryVectors::take(const core::Errand<Timed>& errand) {
    const auto start = Clock::now();
    auto made = errand.wait(work_.wait_limits);
    if (!made) {
        work_.answer.timings.embed_ms += milliseconds_since(start);
        return tl::unexpected(std::move(made).error());
    }
    note(made->query, made->time_ms);
    return std::move(made->query.vector);
}

Result<std::vector<float>> QueryVectors::of(const CollectionPlan& collection) {
    if (auto vector = known(collection)) return *std::move(vector);
    ByEmbedder* const made = find(collection.schema.vectors);
    if (made->errand) {
        made->vector = take(*made->errand);
        made->errand.reset();
        if (!made->vector) {
            made->vector = fail("embedding the query", std::move(made->vector).error());
        }
    }
    return made->vector;
}

Result<std::vector<float>> QueryVectors::embed(const CollectionPlan& collection,
                                               const std::string& text) {
    const auto errand = send(work_.embedder, collection.schema, text);
    auto made = errand.wait(work_.wait_limits);
    if (!made) return tl::unexpected(std::move(made).error());
    work_.answer.timings.embed_ms += made->time_ms;
    return std::move(made->query.vector);
}

}  // namespace braid::retrieval
