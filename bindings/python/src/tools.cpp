#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "braid/eval/compare.hpp"
#include "braid/eval/measures.hpp"
#include "braid/fusion/fuse.hpp"
#include "braid/vector_similarity.hpp"
#include "calls.hpp"
#include "engine.hpp"

namespace braid::python {
namespace {

using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// An id, or a pair of an id and its score.
std::pair<std::string, double> entry_of(nb::handle item) {
    if (PyUnicode_Check(item.ptr())) return {nb::cast<std::string>(item), 0.0};
    const auto pair = nb::cast<nb::sequence>(item);
    return {nb::cast<std::string>(pair[0]), nb::cast<double>(nb::float_(pair[1]))};
}

/// Owns what fusion only borrows.
struct List {
    std::string source;
    std::vector<std::string> ids;
    std::vector<fusion::Entry> entries;
};

std::vector<List> read_lists(nb::dict lists) {
    std::vector<List> out;
    out.reserve(nb::len(lists));
    for (const auto [source, items] : lists) {
        List& list = out.emplace_back();
        list.source = nb::cast<std::string>(source);
        std::vector<double> scores;
        for (const nb::handle item : nb::iter(items)) {
            auto [id, score] = entry_of(item);
            list.ids.push_back(std::move(id));
            scores.push_back(score);
        }
        for (std::size_t i = 0; i < list.ids.size(); ++i) {
            list.entries.push_back({list.ids[i], scores[i], i});
        }
    }
    return out;
}

Result<fusion::Options> read_fusion(const std::string& method, std::optional<double> k,
                                    std::optional<int> rank_base,
                                    const std::optional<std::string>& preset) {
    const auto known = fusion_by_name(method);
    if (!known || *known == FusionMethod::Auto) {
        return fail(
            ErrorCode::InvalidArgument,
            "\"method\" must be \"rrf\", \"weighted_sum\" or \"dbsf\", got \"" + method + "\"");
    }
    fusion::Options options;
    options.method = *known;
    if (preset) {
        BRAID_TRY(options, fusion::preset_options(*preset, *known));
    }
    if (k) options.k = *k;
    if (rank_base) options.rank_base = *rank_base;
    return options;
}

/// A list of (id, score, {source: contribution}), best first.
nb::list fuse(nb::dict lists, const std::string& method, nb::dict weights, std::optional<double> k,
              std::optional<int> rank_base, const std::optional<std::string>& preset) {
    const fusion::Options options = value_or_raise(read_fusion(method, k, rank_base, preset));
    const std::vector<List> owned = read_lists(lists);
    std::vector<fusion::RankedList> ranked;
    ranked.reserve(owned.size());
    for (const List& list : owned) {
        const double weight = weights.contains(list.source.c_str())
                                  ? nb::cast<double>(nb::float_(weights[list.source.c_str()]))
                                  : 1.0;
        ranked.push_back({list.source, weight, list.entries});
    }
    for (const auto [name, weight] : weights) {
        if (!lists.contains(name)) {
            raise(ErrorCode::InvalidArgument, "\"weights\" names \"" + nb::cast<std::string>(name) +
                                                  "\", but there is no such list");
        }
    }
    auto fused =
        run_call(nullptr, [&](const CallLimits&) { return fusion::fuse(ranked, options); });
    const fusion::Fused result = value_or_raise(std::move(fused));
    nb::list out;
    for (const fusion::FusedHit& hit : result.hits) {
        nb::dict contributions;
        for (const fusion::Part& part : hit.parts) {
            contributions[owned[part.list].source.c_str()] = part.contribution;
        }
        out.append(nb::make_tuple(std::string(hit.id), hit.score, contributions));
    }
    return out;
}

eval::Qrels read_qrels(nb::dict judged) {
    eval::Qrels qrels;
    for (const auto [query, documents] : judged) {
        eval::JudgedQuery& entry = qrels.queries.emplace_back();
        entry.query = nb::cast<std::string>(query);
        for (const auto [document, relevance] : nb::cast<nb::dict>(documents)) {
            entry.judgements.push_back(
                {nb::cast<std::string>(document), nb::cast<std::int32_t>(nb::int_(relevance))});
        }
        std::ranges::sort(entry.judgements, {}, &eval::Judgement::document);
    }
    return qrels;
}

/// By falling score, then id, as a run file is read.
eval::RankedList read_ranking(nb::handle query, nb::handle found) {
    eval::RankedList list;
    list.query = nb::cast<std::string>(query);
    const nb::object items =
        PyDict_Check(found.ptr()) ? nb::object(found.attr("items")()) : nb::borrow(found);
    for (const nb::handle item : nb::iter(items)) {
        auto [document, score] = entry_of(item);
        if (!std::isfinite(score)) raise(ErrorCode::InvalidArgument, "a score must be finite");
        list.hits.push_back({std::move(document), score});
    }
    std::ranges::sort(list.hits, [](const auto& a, const auto& b) {
        return a.score != b.score ? a.score > b.score : a.document < b.document;
    });
    const auto twice = [](const auto& a, const auto& b) { return a.document == b.document; };
    if (std::ranges::adjacent_find(list.hits, twice) != list.hits.end()) {
        raise(ErrorCode::InvalidArgument,
              "query \"" + list.query + "\" has a document twice in one run");
    }
    return list;
}

nb::object evaluate(nb::dict qrels, nb::dict runs, const std::vector<std::string>& measures,
                    std::size_t resamples, double confidence, std::uint64_t seed, bool per_query) {
    const eval::Qrels judged = read_qrels(qrels);
    std::vector<eval::Run> read;
    read.reserve(nb::len(runs));
    for (const auto [name, lists] : runs) {
        eval::Run& run = read.emplace_back();
        run.name = nb::cast<std::string>(name);
        for (const auto [query, found] : nb::cast<nb::dict>(lists)) {
            run.lists.push_back(read_ranking(query, found));
        }
    }
    std::string names;
    for (const std::string& measure : measures) names += (names.empty() ? "" : ",") + measure;
    const auto parsed = names.empty() ? Result<std::vector<eval::Measure>>(eval::default_measures())
                                      : eval::parse_measures(names);
    const auto wanted = value_or_raise(parsed);
    auto compared = run_call(nullptr, [&](const CallLimits&) {
        return eval::compare(judged, read, wanted, {resamples, confidence, seed});
    });
    return to_python(eval::to_value(value_or_raise(std::move(compared)), per_query));
}

std::span<const float> span_of(const Floats& a) {
    return {a.data(), a.shape(0)};
}

double cosine(const Floats& a, const Floats& b) {
    return value_or_raise(cosine_similarity(span_of(a), span_of(b)));
}

double distance(const Floats& a, const Floats& b) {
    return value_or_raise(euclidean_distance(span_of(a), span_of(b)));
}

nb::object normalized(const Floats& a) {
    auto* const out = new std::vector<float>(normalize(span_of(a)));  // NOLINT
    const nb::capsule owner(out, [](void* made) noexcept {
        delete static_cast<std::vector<float>*>(made);  // NOLINT(cppcoreguidelines-owning-memory)
    });
    return nb::cast(nb::ndarray<nb::numpy, float, nb::ndim<1>>(out->data(), {out->size()}, owner));
}

}  // namespace

void bind_tools(nb::module_& module) {
    module.def("fuse", &fuse, nb::arg("lists"), nb::arg("method"), nb::arg("weights"),
               nb::arg("k").none(), nb::arg("rank_base").none(), nb::arg("preset").none());
    module.def("evaluate", &evaluate, nb::arg("qrels"), nb::arg("runs"), nb::arg("measures"),
               nb::arg("resamples"), nb::arg("confidence"), nb::arg("seed"), nb::arg("per_query"));
    module.def("cosine_similarity", &cosine, nb::arg("a"), nb::arg("b"));
    module.def("euclidean_distance", &distance, nb::arg("a"), nb::arg("b"));
    module.def("normalize", &normalized, nb::arg("a"));
}

}  // namespace braid::python
