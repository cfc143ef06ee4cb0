#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "braid/backend.hpp"

namespace braid::testing {

/// Whether a filter selects a chunk, decided as filter.hpp words it and in no other way.
bool model_matches(const Filter& filter, const Chunk& chunk, const Schema& schema);

/// How words are weighed by a backend that does not promise exact_lengths, scoped_statistics or
/// live_df. By default as the formulas say.
struct WordWeighing {
    bool whole_collection = false;         // statistics of every namespace, whoever asks
    bool wordless_count = true;            // chunks without a word are in the statistics
    bool dead_may_count = false;           // so may removed and replaced ones, some or all
    std::function<double(double)> length;  // what stands for a chunk's length; its own if empty
};

/// What a collection should answer, computed in the most obvious way from plain maps. Text is
/// split at spaces: for schemas with the analyzer `simple` and lower-case words.
class Model {
public:
    explicit Model(Schema schema, WordWeighing weighing = {})
        : schema_(std::move(schema)), weighing_(std::move(weighing)) {}

    void upsert(const std::string& namespace_, Chunk chunk);
    void update(const std::string& namespace_, const MetadataUpdate& update);
    void remove(const std::string& namespace_, const std::string& chunk_id);

    const Schema& schema() const { return schema_; }
    const Chunk* find(const std::string& namespace_, const std::string& chunk_id) const;
    /// What the scope's principal and filter leave, by id. Versions are those of the caller.
    std::vector<const Chunk*> chunks(const ReadScope& scope) const;

    /// The least and the greatest score that a chunk may have: the same, unless the dead may count.
    struct Range {
        double low = 0;
        double high = 0;
    };
    using Ranges = std::map<std::string, Range>;
    using Scores = std::map<std::string, double>;
    /// Every chunk that holds one of the words, its best score over the query variants.
    Ranges sparse_ranges(const Leg& leg) const;
    Scores sparse(const Leg& leg) const;  // where ranges are single numbers
    Scores dense(const Leg& leg) const;
    CollectionStats stats(const ReadScope& scope) const;  // bytes_on_disk left out
    std::vector<FacetCount> facets(const ReadScope& scope, const std::string& field) const;

private:
    std::vector<const Chunk*> weighed(const ReadScope& scope) const;

    Schema schema_;
    WordWeighing weighing_;
    std::map<std::string, std::map<std::string, Chunk>> namespaces_;
    std::vector<Chunk> dead_;
};

}  // namespace braid::testing
