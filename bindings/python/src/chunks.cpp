#include <string>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "answers.hpp"
#include "braid/apps/vocabulary.hpp"
#include "braid/collection.hpp"
#include "braid/wire/chunk_json.hpp"

namespace braid::python {
namespace {

using Vector = nb::ndarray<nb::numpy, const float, nb::ndim<1>>;

/// A view: the array keeps the chunk alive.
nb::object vector_of(const Shared<Chunk>& self) {
    const std::vector<float>& vector = self->vector;
    if (vector.empty()) return nb::none();
    return nb::cast(Vector(vector.data(), {vector.size()}, nb::find(self)));
}

/// A field of a chunk that is a time, or None.
template <std::optional<Timestamp> Chunk::*Field>
nb::object time_of(const Shared<Chunk>& self) {
    const std::optional<Timestamp>& at = (*self).*Field;
    return at ? to_datetime(*at) : nb::none();
}

}  // namespace

void bind_chunks(nb::module_& module) {
    nb::class_<Shared<Chunk>>(module, "Chunk")
        .def_prop_ro("chunk_id", [](const Shared<Chunk>& self) { return self->chunk_id; })
        .def_prop_ro("document_id", [](const Shared<Chunk>& self) { return self->document_id; })
        .def_prop_ro("chunk_index", [](const Shared<Chunk>& self) { return self->chunk_index; })
        .def_prop_ro("content", [](const Shared<Chunk>& self) { return self->content; })
        .def_prop_ro("title", [](const Shared<Chunk>& self) { return self->title; })
        .def_prop_ro("section_title", [](const Shared<Chunk>& self) { return self->section_title; })
        .def_prop_ro("metadata",
                     [](const Shared<Chunk>& self) { return to_python(Value(self->metadata)); })
        .def_prop_ro("created_at", &time_of<&Chunk::created_at>)
        .def_prop_ro("expires_at", &time_of<&Chunk::expires_at>)
        .def_prop_ro("sensitivity", [](const Shared<Chunk>& self) { return self->sensitivity; })
        .def_prop_ro("visibility_scope",
                     [](const Shared<Chunk>& self) { return self->visibility_scope; })
        .def_prop_ro("vector", &vector_of)
        .def_prop_ro("version", [](const Shared<Chunk>& self) { return self->version; })
        .def("to_dict",
             [](const Shared<Chunk>& self) { return to_python(wire::chunk_to_value(*self)); })
        .def(
            "__eq__", [](const Shared<Chunk>& a, const Shared<Chunk>& b) { return *a == *b; },
            nb::is_operator())
        .def_static("from_dict", [](nb::dict json) {
            return share(
                value_or_raise(wire::chunk_from_value(to_value(json), apps::vocabulary())).chunk);
        });
}

}  // namespace braid::python
