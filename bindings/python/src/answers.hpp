#pragma once

#include <memory>
#include <utility>

#include "braid/answer.hpp"
#include "values.hpp"

namespace braid::python {

/// A part of an answer, which keeps the whole of it alive; read where it stands, never copied.
template <class T>
struct Shared {
    std::shared_ptr<const T> value;

    const T& operator*() const { return *value; }
    const T* operator->() const { return value.get(); }

    /// A part of this part.
    template <class Part>
    Shared<Part> part(const Part& member) const {
        return {std::shared_ptr<const Part>(value, &member)};
    }
};

template <class T>
Shared<T> share(T value) {
    return {std::make_shared<const T>(std::move(value))};
}

/// `Answer`, `Hit`, `Receipt` and their parts.
void bind_answers(nb::module_& module);
/// `Chunk`.
void bind_chunks(nb::module_& module);

}  // namespace braid::python
