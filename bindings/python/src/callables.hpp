#pragma once

#include <memory>
#include <string>

#include "braid/database.hpp"
#include "values.hpp"

namespace braid::python {

/// A Python object that C++ holds and lets go of in any thread.
class Held {
public:
    explicit Held(nb::object object) : object_(std::move(object)) {}
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held(Held&&) = delete;
    Held& operator=(Held&&) = delete;

    /// Needs the GIL.
    const nb::object& get() const { return object_; }

private:
    nb::object object_;
};
using HeldPtr = std::shared_ptr<const Held>;

/// An embedder whose `embed(texts, role)` is Python (braid/_callables.py, Embedder). Asks it for
/// one vector first if its dimension is not known. Exceptions become Unavailable.
Result<std::shared_ptr<const Embedder>> make_embedder(const HeldPtr& embedder);

/// A preprocessor whose `expand(query)` and `answer(query)` are Python (Preprocessor of the same
/// file). Exceptions become Unavailable. Needs the GIL.
std::shared_ptr<const QueryPreprocessor> make_preprocessor(nb::object preprocessor);

/// A stage whose `run(query, hits, parameters)` is Python (Stage of the same file): one effect for
/// each hit. Needs the GIL.
CustomStage make_stage(const std::string& name, nb::object stage);

/// Calls `log(level, name, message)`; what that raises is dropped.
LogSink make_log_sink(nb::object log);

/// `StageHit`, which stages are given.
void bind_callables(nb::module_& module);

}  // namespace braid::python
