#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "braid/backend.hpp"

namespace braid::testing {

/// Whether a filter selects a chunk, decided as filter.hpp words it and in no other way.
bool model_matches(const Filter& filter, const Chunk& chunk, const Schema& schema);

/// What a collection should answer, computed in the most obvious way from plain maps. Text is
/// split at spaces: for schemas with the analyzer `simple` and lower-case words.
class Model {
public:
    explicit Model(Schema schema) : schema_(std::move(schema)) {}

    void upsert(const std::string& namespace_, Chunk chunk);
    void update(const std::string& namespace_, const MetadataUpdate& update);
    void remove(const std::string& namespace_, const std::string& chunk_id);

    const Schema& schema() const { return schema_; }
    const Chunk* find(const std::string& namespace_, const std::string& chunk_id) const;
    /// What the scope's principal and filter leave, by id. Versions are those of the caller.
    std::vector<const Chunk*> chunks(const ReadScope& scope) const;

    using Scores = std::map<std::string, double>;
    /// Every chunk that holds one of the words, its best score over the query variants.
    Scores sparse(const Leg& leg) const;
    Scores dense(const Leg& leg) const;
    CollectionStats stats(const ReadScope& scope) const;  // bytes_on_disk left out
    std::vector<FacetCount> facets(const ReadScope& scope, const std::string& field) const;

private:
    Schema schema_;
    std::map<std::string, std::map<std::string, Chunk>> namespaces_;
};

}  // namespace braid::testing
