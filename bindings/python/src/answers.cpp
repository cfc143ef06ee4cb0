#include "answers.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "braid/apps/vocabulary.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/answer_json.hpp"

namespace braid::python {
namespace {

/// A property that is a member of the C++ object.
template <auto Member, class T>
nb::class_<Shared<T>>& field(nb::class_<Shared<T>>& bound, const char* name) {
    return bound.def_prop_ro(name, [](const Shared<T>& self) { return (*self).*Member; });
}

/// The members of a list, each keeping the whole alive.
template <auto Member, class T>
nb::class_<Shared<T>>& parts(nb::class_<Shared<T>>& bound, const char* name) {
    return bound.def_prop_ro(name, [](const Shared<T>& self) {
        nb::list out;
        for (const auto& part : (*self).*Member) out.append(self.part(part));
        return out;
    });
}

nb::object part_at(const Shared<Answer>& self, nb::handle index) {
    if (PySlice_Check(index.ptr())) {
        nb::list all;
        for (const Hit& hit : self->hits) all.append(self.part(hit));
        return nb::steal(PyObject_GetItem(all.ptr(), index.ptr()));
    }
    const Py_ssize_t count = std::ssize(self->hits);
    Py_ssize_t i = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
    if (i == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    if (i < 0) i += count;
    if (i < 0 || i >= count) throw nb::index_error("hit index out of range");
    return nb::cast(self.part(self->hits[static_cast<std::size_t>(i)]));
}

void bind_receipts(nb::module_& module) {
    nb::class_<Shared<ReceiptSource>> source(module, "ReceiptSource");
    field<&ReceiptSource::source>(source, "source");
    field<&ReceiptSource::score>(source, "score");
    field<&ReceiptSource::distance>(source, "distance");
    field<&ReceiptSource::normalized>(source, "normalized");
    field<&ReceiptSource::weight>(source, "weight");
    field<&ReceiptSource::contribution>(source, "contribution");
    field<&ReceiptSource::filled>(source, "filled");
    field<&ReceiptSource::corrected>(source, "corrected");
    field<&ReceiptSource::chunk_id>(source, "chunk_id");
    source.def_prop_ro("rank", [](const Shared<ReceiptSource>& self) {
        return self->filled ? std::nullopt : std::optional(self->rank);
    });
    source.def_prop_ro("nested", [](const Shared<ReceiptSource>& self) -> nb::object {
        if (!self->nested) return nb::none();
        return nb::cast(Shared<Receipt>{self->nested});
    });

    nb::class_<Shared<ReceiptStage>> stage(module, "ReceiptStage");
    field<&ReceiptStage::stage>(stage, "stage");
    field<&ReceiptStage::operation>(stage, "operation");
    field<&ReceiptStage::value>(stage, "value");
    field<&ReceiptStage::score>(stage, "score");
    stage.def_prop_ro(
        "detail", [](const Shared<ReceiptStage>& self) { return to_python(Value(self->detail)); });

    nb::class_<Shared<Receipt>> receipt(module, "Receipt");
    field<&Receipt::method>(receipt, "method");
    field<&Receipt::preset>(receipt, "preset");
    field<&Receipt::k>(receipt, "k");
    field<&Receipt::rank_base>(receipt, "rank_base");
    field<&Receipt::fused>(receipt, "fused");
    field<&Receipt::score>(receipt, "score");
    parts<&Receipt::sources>(receipt, "sources");
    parts<&Receipt::stages>(receipt, "stages");
    receipt.def("to_dict", [](const Shared<Receipt>& self) {
        return to_python(wire::receipt_to_value(*self));
    });
    receipt.def(
        "__eq__", [](const Shared<Receipt>& a, const Shared<Receipt>& b) { return *a == *b; },
        nb::is_operator());
}

void bind_hits(nb::module_& module) {
    nb::class_<Shared<LegStanding>> standing(module, "HitLeg");
    field<&LegStanding::source>(standing, "source");
    field<&LegStanding::score>(standing, "score");
    field<&LegStanding::rank>(standing, "rank");
    field<&LegStanding::depth>(standing, "depth");

    nb::class_<Shared<Hit>> hit(module, "Hit");
    field<&Hit::collection>(hit, "collection");
    field<&Hit::namespace_>(hit, "namespace");
    field<&Hit::score>(hit, "score");
    field<&Hit::rank>(hit, "rank");
    field<&Hit::dense_score>(hit, "dense_score");
    field<&Hit::sparse_score>(hit, "sparse_score");
    field<&Hit::expanded>(hit, "expanded");
    parts<&Hit::legs>(hit, "legs");
    hit.def_prop_ro("matches", [](const Shared<Hit>& self) {
        std::vector<std::pair<std::size_t, std::size_t>> ranges;
        for (const TextRange& range : self->matches) ranges.emplace_back(range.begin, range.end);
        return ranges;
    });
    hit.def_prop_ro("strategy", [](const Shared<Hit>& self) { return name_of(self->strategy); });
    hit.def_prop_ro("receipt", [](const Shared<Hit>& self) { return self.part(self->receipt); });
    hit.def_prop_ro("chunk", [](const Shared<Hit>& self) { return self.part(self->chunk); });
    hit.def_prop_ro("chunk_id", [](const Shared<Hit>& self) { return self->chunk.chunk_id; });
    hit.def_prop_ro("document_id", [](const Shared<Hit>& self) { return self->chunk.document_id; });
    hit.def_prop_ro("content", [](const Shared<Hit>& self) { return self->chunk.content; });
    hit.def_prop_ro("title", [](const Shared<Hit>& self) { return self->chunk.title; });
    hit.def_prop_ro("metadata",
                    [](const Shared<Hit>& self) { return to_python(Value(self->chunk.metadata)); });
    hit.def("to_dict",
            [](const Shared<Hit>& self) { return to_python(wire::hit_to_value(*self)); });
    hit.def(
        "__eq__", [](const Shared<Hit>& a, const Shared<Hit>& b) { return *a == *b; },
        nb::is_operator());
}

void bind_reports(nb::module_& module) {
    nb::class_<Shared<SourceReport>> report(module, "SourceReport");
    field<&SourceReport::source>(report, "source");
    field<&SourceReport::collection>(report, "collection");
    field<&SourceReport::ran>(report, "ran");
    field<&SourceReport::candidates>(report, "candidates");
    field<&SourceReport::depth>(report, "depth");
    field<&SourceReport::matched>(report, "matched");
    field<&SourceReport::exact>(report, "exact");
    field<&SourceReport::time_ms>(report, "time_ms");
    field<&SourceReport::method>(report, "method");
    field<&SourceReport::error>(report, "error");
    report.def_prop_ro("patterns", [](const Shared<SourceReport>& self) {
        nb::list out;
        for (const PatternWords& one : self->patterns) {
            nb::dict pattern;
            pattern["pattern"] = one.pattern;
            pattern["words"] = one.words;
            pattern["matching"] = one.matching;
            out.append(pattern);
        }
        return out;
    });

    nb::class_<Shared<Suggestion>> suggestion(module, "Suggestion");
    field<&Suggestion::word>(suggestion, "word");
    field<&Suggestion::instead>(suggestion, "instead");
    field<&Suggestion::chunks>(suggestion, "chunks");

    nb::class_<Shared<Correction>> correction(module, "Correction");
    field<&Correction::collection>(correction, "collection");
    field<&Correction::word>(correction, "word");
    field<&Correction::instead>(correction, "instead");
    field<&Correction::weight>(correction, "weight");

    nb::class_<Shared<ExperimentSide>> experiment(module, "ExperimentSide");
    field<&ExperimentSide::experiment>(experiment, "experiment");
    field<&ExperimentSide::side>(experiment, "side");
    field<&ExperimentSide::id>(experiment, "id");

    nb::class_<Shared<Timings>> timings(module, "Timings");
    field<&Timings::preprocess_ms>(timings, "preprocess_ms");
    field<&Timings::load_ms>(timings, "load_ms");
    field<&Timings::embed_ms>(timings, "embed_ms");
    field<&Timings::dense_ms>(timings, "dense_ms");
    field<&Timings::sparse_ms>(timings, "sparse_ms");
    field<&Timings::fusion_ms>(timings, "fusion_ms");
    field<&Timings::hydrate_ms>(timings, "hydrate_ms");
    field<&Timings::total_ms>(timings, "total_ms");
}

}  // namespace

void bind_answers(nb::module_& module) {
    bind_receipts(module);
    bind_hits(module);
    bind_reports(module);

    nb::class_<Shared<Answer>> answer(module, "Answer");
    field<&Answer::query>(answer, "query");
    field<&Answer::profile>(answer, "profile");
    field<&Answer::total_candidates>(answer, "total_candidates");
    field<&Answer::dense_candidates>(answer, "dense_candidates");
    field<&Answer::sparse_candidates>(answer, "sparse_candidates");
    field<&Answer::complete>(answer, "complete");
    field<&Answer::warnings>(answer, "warnings");
    field<&Answer::unused>(answer, "unused");
    field<&Answer::query_understood>(answer, "query_understood");
    field<&Answer::phrasings>(answer, "phrasings");
    field<&Answer::hypothetical_answer>(answer, "hypothetical_answer");
    field<&Answer::cursor>(answer, "cursor");
    field<&Answer::query_embedding_cached>(answer, "query_embedding_cached");
    parts<&Answer::hits>(answer, "hits");
    parts<&Answer::sources>(answer, "sources");
    parts<&Answer::suggestions>(answer, "suggestions");
    parts<&Answer::corrections>(answer, "corrections");
    answer.def_prop_ro("strategy_used",
                       [](const Shared<Answer>& self) { return name_of(self->strategy_used); });
    answer.def_prop_ro("timings",
                       [](const Shared<Answer>& self) { return self.part(self->timings); });
    answer.def_prop_ro("experiment", [](const Shared<Answer>& self) -> nb::object {
        if (!self->experiment) return nb::none();
        return nb::cast(self.part(*self->experiment));
    });
    answer.def_prop_ro("ids", [](const Shared<Answer>& self) {
        nb::list out;
        for (const Hit& hit : self->hits) out.append(hit.chunk.chunk_id);
        return out;
    });
    answer.def("__len__", [](const Shared<Answer>& self) { return self->hits.size(); });
    answer.def("__bool__", [](const Shared<Answer>& self) { return !self->hits.empty(); });
    answer.def("__getitem__", &part_at);
    answer.def(
        "__eq__", [](const Shared<Answer>& a, const Shared<Answer>& b) { return *a == *b; },
        nb::is_operator());
    answer.def("to_dict", [](const Shared<Answer>& self) {
        return to_python(wire::answer_to_value(*self, apps::vocabulary()));
    });
    answer.def("to_json", [](const Shared<Answer>& self) {
        return json::print(wire::answer_to_value(*self, apps::vocabulary()));
    });
    answer.def_static("from_dict", [](nb::dict json) {
        return share(value_or_raise(wire::answer_from_value(to_value(json), apps::vocabulary())));
    });
}

}  // namespace braid::python
