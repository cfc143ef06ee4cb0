#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <unordered_set>

#include "braid/core/charge.hpp"
#include "braid/core/limits.hpp"
#include "braid/exact/suggest.hpp"
#include "braid/local/collection.hpp"

namespace braid::local {
namespace {

/// The chunk for the answer, counted against the call's budget before it is copied.
Result<Chunk> counted_copy(const Partition& partition, Row row, bool with_vector,
                           const CallLimits& limits) {
    const bool vector = with_vector && partition.facts(row).vector != kNoRow;
    BRAID_CHECK(
        core::charge(limits, partition.chunk(row), vector ? partition.vectors()->dimension() : 0));
    return vector ? partition.chunk_with_vector(row) : partition.chunk(row);
}

/// JSON values in a fixed order, for facets: by type, then by value.
bool facet_less(const Value& a, const Value& b) {
    if (a.is_number() && b.is_number()) return compare_numbers(a, b) < 0;
    if (a.is_string() && b.is_string()) return a.as_string() < b.as_string();
    if (a.is_bool() && b.is_bool()) return !a.as_bool() && b.as_bool();
    return a.type_name() < b.type_name();
}

bool is_scalar(const Value& value) {
    return !value.is_array() && !value.is_object() && !value.is_null();
}

/// The form in which equal values are counted: whole numbers as integers.
Value facet_key(const Value& value) {
    constexpr double above = 0x1p63;
    if (!value.is_double()) return value;
    const double number = value.as_double();
    if (std::trunc(number) != number || number < -above || number >= above) return value;
    return static_cast<std::int64_t>(number);
}

}  // namespace

template <class T>
Result<T> Collection::with_view(Sequence at, const ReadScope& scope, const CallLimits& limits,
                                const ReadFn<T>& read) const {
    BRAID_CHECK(core::check_limits(limits));
    std::optional<docs::FilterMatcher> filter;
    if (scope.filter) {
        BRAID_TRY(filter, docs::FilterMatcher::create(*scope.filter, manifest_.schema));
    }
    const Present now = present(scope.namespace_);
    BRAID_TRY(const View view, View::create(*now.partition, manifest_.schema, scope.principal, at));
    return read(view, filter ? &*filter : nullptr);
}

Result<std::vector<ScoredRow>> Collection::scored_rows(const View& view, const Leg& leg,
                                                       const docs::FilterMatcher* filter,
                                                       const CallLimits& limits) const {
    if (leg.query_syntax) {
        return fail(ErrorCode::Unsupported,
                    "the query language is not available yet; leave "
                    "query_syntax out to search for plain words");
    }
    if (leg.kind == LegKind::Sparse) {
        return score_sparse(view, manifest_.schema, analyzer_, leg, filter, limits);
    }
    if (!manifest_.schema.vectors.has_vectors()) {
        return invalid_argument("collection \"" + name_ +
                                "\" holds no vectors; search it with the strategy "
                                "\"sparse\"");
    }
    return score_dense(view, manifest_.schema, leg, filter, limits);
}

Result<LegResult> Collection::search(Sequence at, const Leg& leg, const CallLimits& limits) const {
    const auto start = std::chrono::steady_clock::now();
    return with_view<LegResult>(
        at, leg.scope, limits,
        [&](const View& view, const docs::FilterMatcher* filter) -> Result<LegResult> {
            BRAID_TRY(std::vector<ScoredRow> rows, scored_rows(view, leg, filter, limits));
            if (leg.kind == LegKind::Sparse) {
                std::erase_if(rows, [](const ScoredRow& scored) { return scored.score <= 0; });
            }
            BRAID_CHECK(core::check_limits(limits));
            LegResult result;
            result.matched = rows.size();
            result.method = leg.kind == LegKind::Dense ? "exact scan" : "exhaustive";
            for (const ScoredRow& scored : best(view.partition(), std::move(rows), leg.depth)) {
                result.hits.push_back({view.partition().chunk(scored.row).chunk_id, scored.score});
            }
            result.time_ms =
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                    .count();
            return result;
        });
}

Result<TextStatistics> Collection::text_statistics(Sequence at, const Leg& leg,
                                                   const CallLimits& limits) const {
    ReadScope scope = leg.scope;
    scope.filter.reset();  // a filter decides who is found, not how rare a word is
    return with_view<TextStatistics>(
        at, scope, limits,
        [&](const View& view, const docs::FilterMatcher*) -> Result<TextStatistics> {
            return exact::text_statistics(view, manifest_.schema, analyzer_, leg.texts,
                                          manifest_.schema.bm25.variant == Bm25Variant::Okapi,
                                          limits);
        });
}

Result<std::vector<std::optional<double>>> Collection::score(Sequence at, const Leg& leg,
                                                             std::span<const std::string> ids,
                                                             const CallLimits& limits) const {
    using Scores = std::vector<std::optional<double>>;
    return with_view<Scores>(
        at, leg.scope, limits, [&](const View& view, const docs::FilterMatcher*) -> Result<Scores> {
            BRAID_TRY(const auto rows, scored_rows(view, leg, nullptr, limits));
            Scores scores;
            scores.reserve(ids.size());
            for (const std::string& id : ids) {
                const Row row = view.find(id);
                const auto found = std::ranges::lower_bound(
                    rows, row, {}, [](const ScoredRow& scored) { return scored.row; });
                auto& score = scores.emplace_back();
                if (row == kNoRow) continue;
                if (found != rows.end() && found->row == row) {
                    score = found->score;
                } else if (leg.kind == LegKind::Sparse) {
                    score = 0.0;
                }
            }
            return scores;
        });
}

Result<std::vector<std::optional<Chunk>>> Collection::fetch(Sequence at, const ReadScope& scope,
                                                            std::span<const std::string> ids,
                                                            bool with_vectors,
                                                            const CallLimits& limits) const {
    using Chunks = std::vector<std::optional<Chunk>>;
    return with_view<Chunks>(
        at, scope, limits,
        [&](const View& view, const docs::FilterMatcher* filter) -> Result<Chunks> {
            const Partition& partition = view.partition();
            Chunks chunks;
            RowFilter rows(view, filter, limits);
            for (const std::string& id : ids) {
                auto& chunk = chunks.emplace_back();
                const Row row = view.find(id);
                if (row == kNoRow) continue;
                BRAID_TRY(const bool admitted, rows.admits(row));
                if (!admitted) continue;
                BRAID_TRY(chunk, counted_copy(partition, row, with_vectors, limits));
            }
            return chunks;
        });
}

Result<std::vector<Chunk>> Collection::neighbors(Sequence at, const ReadScope& scope,
                                                 const std::string& document_id, std::int64_t index,
                                                 std::size_t before, std::size_t after,
                                                 const CallLimits& limits) const {
    // Distances rather than bounds: index - before may lie outside the integers.
    const auto near = [&](std::int64_t i) {
        const auto distance = static_cast<std::uint64_t>(i) - static_cast<std::uint64_t>(index);
        return i >= index ? distance <= after : 0 - distance <= before;
    };
    return with_view<std::vector<Chunk>>(
        at, scope, limits,
        [&](const View& view, const docs::FilterMatcher* filter) -> Result<std::vector<Chunk>> {
            std::vector<Chunk> chunks;
            RowFilter rows(view, filter, limits);
            for (const Row row : view.partition().rows_of_document(document_id)) {
                if (!view.shows(row)) continue;
                const Chunk& chunk = view.partition().chunk(row);
                if (!chunk.chunk_index || !near(*chunk.chunk_index)) continue;
                BRAID_TRY(const bool admitted, rows.admits(row));
                if (!admitted) continue;
                BRAID_CHECK(core::charge(limits, chunk));
                chunks.push_back(chunk);
            }
            std::ranges::sort(chunks, [](const Chunk& a, const Chunk& b) {
                return std::tie(*a.chunk_index, a.chunk_id) < std::tie(*b.chunk_index, b.chunk_id);
            });
            return chunks;
        });
}

Result<std::uint64_t> Collection::count(Sequence at, const ReadScope& scope,
                                        const CallLimits& limits) const {
    return with_view<std::uint64_t>(
        at, scope, limits,
        [&](const View& view, const docs::FilterMatcher* filter) -> Result<std::uint64_t> {
            std::uint64_t count = 0;
            BRAID_CHECK(RowFilter(view, filter, limits).for_each([&](Row) { ++count; }));
            return count;
        });
}

Result<std::vector<Suggestion>> Collection::suggest(Sequence at, const ReadScope& scope,
                                                    std::string_view text, std::size_t limit,
                                                    const CallLimits& limits) const {
    using Suggestions = std::vector<Suggestion>;
    return with_view<Suggestions>(
        at, scope, limits,
        [&](const View& view, const docs::FilterMatcher*) -> Result<Suggestions> {
            return suggest_words(view, manifest_.schema, analyzer_, text, limit, limits);
        });
}

Result<std::vector<FacetCount>> Collection::facets(Sequence at, const ReadScope& scope,
                                                   const std::string& field, std::size_t limit,
                                                   const CallLimits& limits) const {
    using Facets = std::vector<FacetCount>;
    return with_view<Facets>(
        at, scope, limits,
        [&](const View& view, const docs::FilterMatcher* filter) -> Result<Facets> {
            std::map<Value, std::uint64_t, decltype(&facet_less)> counts(&facet_less);
            const CallLimits counting = core::apart(limits);
            const auto add = [&](Value key) -> Result<> {
                const auto [place, is_new] = counts.try_emplace(std::move(key), 0);
                ++place->second;
                return is_new ? core::charge(counting, core::printed_value_size(place->first))
                              : Result<>();
            };
            const auto count = [&](Row row) -> Result<> {
                const auto value =
                    docs::field_value(view.partition().chunk(row), field, manifest_.schema);
                if (!value) return {};
                if (is_scalar(*value)) BRAID_CHECK(add(facet_key(*value)));
                if (!value->is_array()) return {};
                std::set<Value, decltype(&facet_less)> once(&facet_less);
                for (const Value& element : value->as_array()) {
                    if (!is_scalar(element)) continue;
                    const Value key = facet_key(element);
                    if (once.insert(key).second) BRAID_CHECK(add(key));
                }
                return {};
            };
            BRAID_CHECK(RowFilter(view, filter, limits).for_each(count));
            Facets facets;
            for (const auto& [value, number] : counts) facets.push_back({value, number});
            std::ranges::stable_sort(facets, std::greater(), &FacetCount::count);
            if (facets.size() > limit) facets.resize(limit);
            for (const FacetCount& facet : facets) {
                BRAID_CHECK(core::charge(limits, core::printed_value_size(facet.value)));
            }
            return facets;
        });
}

Result<CollectionStats> Collection::stats(Sequence at, const ReadScope& scope,
                                          const CallLimits& limits) const {
    return with_view<CollectionStats>(
        at, scope, limits,
        [&](const View& view, const docs::FilterMatcher* filter) -> Result<CollectionStats> {
            CollectionStats stats;
            const Partition& partition = view.partition();
            std::unordered_set<std::string_view> documents;
            std::vector<bool> counted(view.rows(), false);
            LengthSum lengths(manifest_.schema);
            BRAID_CHECK(RowFilter(view, filter, limits).for_each([&](Row row) {
                counted[row] = true;
                ++stats.chunks;
                if (partition.facts(row).vector != kNoRow) ++stats.vectors;
                documents.insert(partition.chunk(row).document_id);
                lengths.add(partition.field_lengths(row));
            }));
            core::StepCounter steps;
            for (const auto& [term, list] : partition.postings()) {
                if (steps.due(list.size())) BRAID_CHECK(core::check_limits(limits));
                stats.terms += std::ranges::any_of(list, [&](const sparse::Posting& posting) {
                    return posting.row < counted.size() && counted[posting.row];
                });
            }
            stats.documents = documents.size();
            if (stats.chunks > 0) {
                stats.average_length = lengths.weighted() / static_cast<double>(stats.chunks);
            }
            if (scope.principal.sees_everything()) stats.bytes_on_disk = log_->size_bytes();
            return stats;
        });
}

Result<std::vector<Chunk>> Collection::scan(Sequence at, const ReadScope& scope,
                                            const std::string& after, std::size_t limit,
                                            bool with_vectors, const CallLimits& limits) const {
    return with_view<std::vector<Chunk>>(
        at, scope, limits,
        [&](const View& view, const docs::FilterMatcher* filter) -> Result<std::vector<Chunk>> {
            const Partition& partition = view.partition();
            std::vector<Row> rows;
            RowFilter filtered(view, filter, limits);
            core::StepCounter steps;
            for (Row row = 0; row < view.rows(); ++row) {
                if (steps.due()) BRAID_CHECK(core::check_limits(limits));
                if (!view.shows(row) || partition.chunk(row).chunk_id <= after) continue;
                BRAID_TRY(const bool admitted, filtered.admits(row));
                if (admitted) rows.push_back(row);
            }
            const auto end =
                rows.begin() + static_cast<std::ptrdiff_t>(std::min(limit, rows.size()));
            std::ranges::partial_sort(rows, end, {}, [&](Row row) -> const std::string& {
                return partition.chunk(row).chunk_id;
            });
            std::vector<Chunk> chunks;
            for (auto row = rows.begin(); row != end; ++row) {
                if (steps.due()) BRAID_CHECK(core::check_limits(limits));
                BRAID_TRY(Chunk chunk, counted_copy(partition, *row, with_vectors, limits));
                chunks.push_back(std::move(chunk));
            }
            return chunks;
        });
}

Result<CollectionInfo> Collection::info(Sequence at, const Principal& principal) const {
    CollectionInfo info;
    info.name = name_;
    info.schema = manifest_.schema;
    info.schema.vectors.dimension = visible_dimension(principal);
    if (principal.sees_everything()) info.bytes_on_disk = log_->size_bytes();
    for (const auto& [namespace_, now] : all_present()) {
        const auto view = View::create(*now.partition, manifest_.schema, principal, at);
        if (!view) break;  // a clearance that is not a level here: the principal sees nothing
        std::unordered_set<std::string_view> documents;
        std::uint64_t chunks = 0;
        for (Row row = 0; row < view->rows(); ++row) {
            if (!view->shows(row)) continue;
            ++chunks;
            documents.insert(now.partition->chunk(row).document_id);
        }
        info.chunks += chunks;
        info.documents += documents.size();
        if (chunks > 0) info.namespaces.push_back(namespace_);
    }
    return info;
}

}  // namespace braid::local
