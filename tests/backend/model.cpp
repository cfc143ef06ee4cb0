#include "backend/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

namespace braid::testing {
namespace {

std::vector<std::string> split(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

std::string text_of(const Chunk& chunk, const std::string& field) {
    if (field == "content") return chunk.content;
    if (field == "title") return chunk.title.value_or("");
    if (field == "section_title") return chunk.section_title.value_or("");
    const Value* value = find_path(chunk.metadata, field.substr(9));
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

bool visible(const Chunk& chunk, const Principal& principal, const AccessLevels& levels) {
    if (!principal.clearance) return true;
    const auto rank = [&](const std::string& level) {
        return std::find(levels.names.begin(), levels.names.end(), level) - levels.names.begin();
    };
    if (rank(chunk.sensitivity.value_or(levels.default_level)) > rank(*principal.clearance)) {
        return false;
    }
    if (chunk.visibility_scope.empty()) return true;
    for (const std::string& scope : chunk.visibility_scope) {
        if (std::count(principal.scopes.begin(), principal.scopes.end(), scope) > 0) return true;
    }
    return false;
}

void merge(Object& target, const Object& patch) {
    for (const auto& [key, value] : patch) {
        if (value.is_null()) {
            target.erase(key);
        } else if (value.is_object()) {
            const Value* present = target.find(key);
            Object inner =
                present != nullptr && present->is_object() ? present->as_object() : Object();
            merge(inner, value.as_object());
            target.set(key, std::move(inner));
        } else {
            target.set(key, value);
        }
    }
}

/// Words of one chunk, counted per text field.
struct Counted {
    const Chunk* chunk = nullptr;
    std::map<std::string, double> tf;      // weighted
    std::vector<std::size_t> field_words;  // per field
    double length = 0;                     // weighted
};

Counted count_words(const Chunk& chunk, const Schema& schema) {
    Counted counted{.chunk = &chunk};
    for (const TextField& field : schema.text_fields) {
        std::map<std::string, int> in_field;
        const auto words = split(text_of(chunk, field.name));
        for (const std::string& word : words) ++in_field[word];
        for (const auto& [word, times] : in_field) counted.tf[word] += field.weight * times;
        counted.field_words.push_back(words.size());
        counted.length += field.weight * static_cast<double>(words.size());
    }
    return counted;
}

/// Statistics of some chunks.
struct Corpus {
    std::vector<Counted> chunks;
    std::map<std::string, int> df;
    double average_length = 0;
    double size = 0;

    Corpus(const std::vector<const Chunk*>& seen, const Schema& schema, bool wordless_count) {
        std::vector<std::size_t> totals(schema.text_fields.size(), 0);
        for (const Chunk* chunk : seen) {
            const Counted& counted = chunks.emplace_back(count_words(*chunk, schema));
            for (const auto& [word, tf] : counted.tf) ++df[word];
            for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += counted.field_words[i];
            if (wordless_count || !counted.tf.empty()) ++size;
        }
        double total = 0;
        for (std::size_t i = 0; i < totals.size(); ++i) {
            total += schema.text_fields[i].weight * static_cast<double>(totals[i]);
        }
        if (size > 0) average_length = total / size;
    }

    double okapi_idf(const std::string& word) const {
        const double d = df.at(word);
        return std::log(size - d + 0.5) - std::log(d + 0.5);
    }
    double idf(const std::string& word, const Bm25& bm25) const {
        const double d = df.at(word);
        if (bm25.variant == Bm25Variant::Lucene) return std::log(1 + (size - d + 0.5) / (d + 0.5));
        if (okapi_idf(word) >= 0) return okapi_idf(word);
        double sum = 0;
        for (const auto& [other, ignored] : df) sum += okapi_idf(other);
        return bm25.epsilon * (sum / static_cast<double>(df.size()));
    }
};

/// The statistics that give the least and the greatest scores, if any of the dead count.
std::pair<Corpus, Corpus> extremes(const Corpus& live, const Corpus& dead) {
    Corpus least = live;
    Corpus greatest = live;
    for (const auto& [word, times] : dead.df) least.df[word] += times;
    greatest.size += dead.size;
    std::vector<double> lengths;
    for (const Counted& counted : dead.chunks) {
        if (!counted.tf.empty()) lengths.push_back(counted.length);
    }
    const auto shift = [&](Corpus& corpus) {
        double total = live.average_length * live.size;
        double size = live.size;
        for (const double length : lengths) {
            total += length;
            ++size;
            const double average = total / size;
            corpus.average_length = &corpus == &least ? std::min(corpus.average_length, average)
                                                      : std::max(corpus.average_length, average);
        }
    };
    std::ranges::sort(lengths);
    shift(least);
    std::ranges::reverse(lengths);
    shift(greatest);
    return {std::move(least), std::move(greatest)};
}

double sparse_score(const Corpus& corpus, const Counted& counted, double length,
                    const std::string& query, const Bm25& bm25) {
    double score = 0;
    for (const std::string& word : split(query)) {  // a repeated word counts again
        const auto found = counted.tf.find(word);
        if (found == counted.tf.end()) continue;
        const double tf = found->second;
        const double norm = bm25.k1 * (1 - bm25.b + bm25.b * (length / corpus.average_length));
        const double gain = bm25.variant == Bm25Variant::Okapi ? bm25.k1 + 1 : 1.0;
        score += corpus.idf(word, bm25) * (tf * gain / (tf + norm));
    }
    return score;
}

double dense_score(const std::vector<float>& a, const std::vector<float>& b, Metric metric) {
    double dot = 0;
    double aa = 0;
    double bb = 0;
    double distance = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double x = a[i];
        const double y = b[i];
        dot += x * y;
        aa += x * x;
        bb += y * y;
        distance += (x - y) * (x - y);
    }
    if (metric == Metric::Dot) return dot;
    if (metric == Metric::Euclidean) return -std::sqrt(distance);
    return dot / (std::sqrt(aa) * std::sqrt(bb));
}

}  // namespace

void Model::upsert(const std::string& namespace_, Chunk chunk) {
    if (chunk.document_id.empty()) chunk.document_id = chunk.chunk_id;
    remove(namespace_, chunk.chunk_id);
    const std::string id = chunk.chunk_id;
    namespaces_[namespace_].emplace(id, std::move(chunk));
}

void Model::update(const std::string& namespace_, const MetadataUpdate& update) {
    Chunk& chunk = namespaces_.at(namespace_).at(update.chunk_id);
    dead_.push_back(chunk);
    merge(chunk.metadata, update.metadata);
    if (update.created_at) chunk.created_at = update.created_at;
    if (update.sensitivity) chunk.sensitivity = update.sensitivity;
    if (update.visibility_scope) chunk.visibility_scope = *update.visibility_scope;
}

void Model::remove(const std::string& namespace_, const std::string& chunk_id) {
    const Chunk* const found = find(namespace_, chunk_id);
    if (found == nullptr) return;
    dead_.push_back(*found);
    namespaces_[namespace_].erase(chunk_id);
}

const Chunk* Model::find(const std::string& namespace_, const std::string& chunk_id) const {
    const auto space = namespaces_.find(namespace_);
    if (space == namespaces_.end()) return nullptr;
    const auto found = space->second.find(chunk_id);
    return found == space->second.end() ? nullptr : &found->second;
}

std::vector<const Chunk*> Model::chunks(const ReadScope& scope) const {
    std::vector<const Chunk*> seen;
    const auto space = namespaces_.find(scope.namespace_);
    if (space == namespaces_.end()) return seen;
    for (const auto& [id, chunk] : space->second) {
        if (!visible(chunk, scope.principal, schema_.levels)) continue;
        if (scope.filter && !model_matches(*scope.filter, chunk, schema_)) continue;
        seen.push_back(&chunk);
    }
    return seen;
}

std::vector<const Chunk*> Model::weighed(const ReadScope& scope) const {
    if (!weighing_.whole_collection) return chunks(scope);
    std::vector<const Chunk*> all;
    for (const auto& [name, held] : namespaces_) {
        for (const auto& [id, chunk] : held) all.push_back(&chunk);
    }
    return all;
}

Model::Ranges Model::sparse_ranges(const Leg& leg) const {
    ReadScope unfiltered = leg.scope;
    unfiltered.filter.reset();
    const Corpus live(weighed(unfiltered), schema_, weighing_.wordless_count);
    std::vector<const Chunk*> gone;
    for (const Chunk& chunk : dead_) {
        if (weighing_.dead_may_count) gone.push_back(&chunk);
    }
    const auto [least, greatest] = extremes(live, Corpus(gone, schema_, weighing_.wordless_count));
    Ranges ranges;
    for (const Chunk* const chunk : chunks(leg.scope)) {
        const Counted counted = count_words(*chunk, schema_);
        const double length = weighing_.length ? weighing_.length(counted.length) : counted.length;
        constexpr double kLowest = -std::numeric_limits<double>::infinity();
        Range best{kLowest, kLowest};
        bool holds_a_word = false;
        for (const auto& terms : leg.phrasings) {
            std::string query;
            for (const std::string& term : terms) query += (query.empty() ? "" : " ") + term;
            const auto score = [&](const Corpus& corpus) {
                return sparse_score(corpus, counted, length, query, schema_.bm25);
            };
            best = {std::max(best.low, score(least)), std::max(best.high, score(greatest))};
            for (const std::string& word : split(query)) holds_a_word |= counted.tf.contains(word);
        }
        if (holds_a_word) ranges.emplace(chunk->chunk_id, best);
    }
    return ranges;
}

Model::Scores Model::sparse(const Leg& leg) const {
    Scores scores;
    for (const auto& [id, range] : sparse_ranges(leg)) scores.emplace(id, range.low);
    return scores;
}

Model::Scores Model::dense(const Leg& leg) const {
    Scores scores;
    for (const Chunk* chunk : chunks(leg.scope)) {
        if (chunk->vector.empty()) continue;
        scores.emplace(chunk->chunk_id,
                       dense_score(leg.vector, chunk->vector, schema_.vectors.metric));
    }
    return scores;
}

CollectionStats Model::stats(const ReadScope& scope) const {
    const std::vector<const Chunk*> seen = chunks(scope);
    const Corpus corpus(seen, schema_, true);
    std::set<std::string> documents;
    CollectionStats stats;
    for (const Chunk* chunk : seen) {
        documents.insert(chunk->document_id);
        if (!chunk->vector.empty()) ++stats.vectors;
    }
    stats.chunks = seen.size();
    stats.documents = documents.size();
    stats.terms = corpus.df.size();
    stats.average_length = corpus.average_length;
    return stats;
}

}  // namespace braid::testing
