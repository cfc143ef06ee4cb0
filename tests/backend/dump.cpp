#include "backend/dump.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <map>

#include "backend/helpers.hpp"

namespace braid::testing {
namespace {

std::string exact(double number) {
    std::array<char, 64> text{};
    (void)std::snprintf(text.data(), text.size(), "%a", number);
    return text.data();
}

std::string print(const Value& value);

std::string print(const Object& object) {
    std::string text = "{";
    for (const auto& [key, member] : object) text += key + ":" + print(member) + ",";
    return text + "}";
}

std::string print(const Value& value) {
    if (value.is_null()) return "null";
    if (value.is_bool()) return value.as_bool() ? "true" : "false";
    if (value.is_int()) return std::to_string(value.as_int());
    if (value.is_double()) return exact(value.as_double());
    if (value.is_string()) return "\"" + value.as_string() + "\"";
    if (value.is_object()) return print(value.as_object());
    std::string text = "[";
    for (const Value& element : value.as_array()) text += print(element) + ",";
    return text + "]";
}

std::string print(const LegResult& result) {
    std::string text = "matched " + std::to_string(result.matched.count) + ":";
    for (const LegHit& hit : result.hits) text += " " + hit.chunk_id + "=" + exact(hit.score);
    for (const std::string& warning : result.warnings) text += " !" + warning;
    for (const PatternWords& one : result.patterns) {
        text += " " + one.pattern + "(" + std::to_string(one.matching) + ":";
        for (const std::string& word : one.words) text += " " + word;
        text += ")";
    }
    return text + " by " + result.method + (result.exact ? "" : " approximate");
}

std::string print(const std::vector<std::optional<double>>& scores) {
    std::string text;
    for (const auto& score : scores) text += (score ? exact(*score) : "-") + " ";
    return text;
}

std::string print(const std::vector<std::optional<std::uint64_t>>& ranks) {
    std::string text;
    for (const auto& rank : ranks) text += (rank ? std::to_string(*rank) : "-") + " ";
    return text;
}

std::string print(const std::vector<FacetCount>& facets) {
    std::string text;
    for (const FacetCount& facet : facets) {
        text += print(facet.value) + "x" + std::to_string(facet.count) + " ";
    }
    return text;
}

std::string print(const CollectionStats& stats) {
    return std::to_string(stats.chunks) + " chunks " + std::to_string(stats.documents) +
           " documents " + std::to_string(stats.vectors) + " vectors " +
           std::to_string(stats.terms) + " terms, length " + exact(stats.average_length);
}

std::string print(std::uint64_t number) {
    return std::to_string(number);
}

std::string print(const CollectionInfo& info) {
    std::string text = info.name + " " + std::to_string(info.chunks) + " chunks " +
                       std::to_string(info.documents) + " documents, dimension " +
                       std::to_string(info.schema.vectors.dimension) + " [" + info.damage + "]";
    for (const std::string& name : info.namespaces) text += " " + name;
    return text;
}

std::string print(const std::vector<CollectionInfo>& infos) {
    std::string text;
    for (const CollectionInfo& info : infos) text += print(info) + "; ";
    return text;
}

/// Prints any result, or its error.
template <class T, class Print>
void add(std::string& out, const std::string& what, const Result<T>& result, const Print& printer) {
    out += what + ": ";
    if (result) {
        out += printer(*result);
    } else {
        out += std::string(error_facts(result.error().code).name) + " " + result.error().message;
    }
    out += '\n';
}

template <class T>
void add(std::string& out, const std::string& what, const Result<T>& result) {
    add(out, what, result, [](const T& value) { return print(value); });
}

void dump_leg(std::string& out, const ReaderPtr& snapshot, Leg leg, const DumpPlan& plan,
              const std::string& what) {
    for (const std::size_t depth : {3UL, 100'000UL}) {
        leg.depth = depth;
        add(out, what + " depth " + std::to_string(depth), snapshot->search_leg(leg));
    }
    add(out, what + " scores", snapshot->score(leg, plan.chunk_ids));
    add(out, what + " ranks", snapshot->rank_of(leg, plan.chunk_ids));
}

Leg sparse_leg(const ReaderPtr& snapshot, const ReadScope& scope,
               const std::vector<std::string>& texts) {
    Leg leg{.kind = LegKind::Sparse, .scope = scope};
    for (const std::string& text : texts) {
        auto terms = snapshot->analyze(scope.collection, text);
        leg.phrasings.push_back(terms ? *std::move(terms) : std::vector<std::string>());
    }
    return leg;
}

using VersionNames = std::map<Version, Version>;

void dump_scope(std::string& out, const ReaderPtr& snapshot, const ReadScope& scope,
                const DumpPlan& plan, VersionNames& names) {
    const auto one = [&](Chunk chunk) {
        if (plan.versions == DumpPlan::Versions::Named) {
            chunk.version = names.try_emplace(chunk.version, names.size()).first->second;
        }
        return print_chunk(chunk, plan.versions != DumpPlan::Versions::LeftOut);
    };
    const auto chunks = [&](const std::vector<Chunk>& list) {
        std::string text;
        for (const Chunk& chunk : list) text += one(chunk) + " | ";
        return text;
    };
    const auto maybe_chunks = [&](const std::vector<std::optional<Chunk>>& list) {
        std::string text;
        for (const auto& chunk : list) {
            text += (chunk ? one(*chunk) : "-") + " | ";
        }
        return text;
    };
    for (const std::string& query : plan.queries) {
        const Leg leg = sparse_leg(snapshot, scope, {query});
        dump_leg(out, snapshot, leg, plan, "sparse \"" + query + "\"");
    }
    if (plan.queries.size() > 1) {
        const Leg leg = sparse_leg(snapshot, scope, plan.queries);
        dump_leg(out, snapshot, leg, plan, "sparse variants");
    }
    for (std::size_t i = 0; i < plan.clauses.size(); ++i) {
        Leg leg{.kind = LegKind::Sparse, .scope = scope};
        leg.clause = std::make_shared<const QueryClause>(plan.clauses[i]);
        dump_leg(out, snapshot, leg, plan, "query language " + std::to_string(i));
    }
    for (std::size_t i = 0; i < plan.vectors.size(); ++i) {
        const Leg leg{.kind = LegKind::Dense, .scope = scope, .vector = plan.vectors[i]};
        dump_leg(out, snapshot, leg, plan, "dense " + std::to_string(i));
    }
    add(out, "fetch", snapshot->fetch(scope, plan.chunk_ids, true), maybe_chunks);
    for (const std::string& document : plan.documents) {
        add(out, "neighbors of " + document, neighbors_of(*snapshot, scope, document, 1, 2, 3),
            chunks);
    }
    add(out, "count", snapshot->count(scope));
    for (const std::string& field : plan.facet_fields) {
        add(out, "facets of " + field, snapshot->facets(scope, field, 1000));
    }
    add(out, "stats", snapshot->stats(scope));
    add(out, "scan", snapshot->scan(scope, "", 100'000, true), chunks);
    add(out, "page", snapshot->scan(scope, "c3", 4, false), chunks);
}

}  // namespace

std::string print_chunk(const Chunk& chunk, bool with_version) {
    std::string text = chunk.chunk_id + "/" + chunk.document_id;
    if (chunk.chunk_index) text += "#" + std::to_string(*chunk.chunk_index);
    text += " '" + chunk.content + "'";
    if (chunk.title) text += " t'" + *chunk.title + "'";
    if (chunk.section_title) text += " s'" + *chunk.section_title + "'";
    text += print(chunk.metadata);
    if (chunk.created_at) text += " @" + std::to_string(chunk.created_at->micros);
    if (chunk.expires_at) text += " until " + std::to_string(chunk.expires_at->micros);
    if (chunk.sensitivity) text += " " + *chunk.sensitivity;
    for (const std::string& scope : chunk.visibility_scope) text += " +" + scope;
    for (const float x : chunk.vector) text += " " + exact(x);
    if (with_version) text += " v" + std::to_string(chunk.version);
    return text;
}

std::string dump(const ReaderPtr& snapshot, const Principal& principal, const DumpPlan& plan) {
    std::string out;
    VersionNames names;
    for (const std::string& name : plan.namespaces) {
        ReadScope scope{.collection = plan.collection, .namespace_ = name, .principal = principal};
        out += "namespace " + name + "\n";
        dump_scope(out, snapshot, scope, plan, names);
        for (const Filter& filter : plan.filters) {
            scope.filter = filter;
            out += "filter " + print(filter_to_value(filter)) + "\n";
            dump_scope(out, snapshot, scope, plan, names);
        }
    }
    return out;
}

std::string dump_collections(const Backend& backend, const Principal& principal,
                             const std::string& collection) {
    std::string out;
    add(out, "collections", backend.collections(principal));
    add(out, "describe", backend.describe(collection, principal));
    return out;
}

}  // namespace braid::testing
