#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "braid/result.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::python {

namespace nb = nanobind;

// All of these need the GIL.

/// The exception object of `braid.Error`'s tree for an error.
nb::object exception_of(const Error& error);

/// Throws it.
[[noreturn]] void raise(const Error& error);
[[noreturn]] void raise(ErrorCode code, std::string message);

/// None, booleans, numbers, strings, lists, tuples, dicts with string keys, and what has `tolist`
/// (NumPy) or is a `datetime` with a time zone. Raises InvalidArgument for anything else.
Value to_value(nb::handle object);
/// The members of a dict, without the one named `skip`.
Object to_object(nb::handle dict, const char* skip = nullptr);
nb::object to_python(const Value& value);

/// A UTC `datetime`.
nb::object to_datetime(Timestamp timestamp);

/// The numbers of a one-dimensional array of floats (any object that speaks DLPack or the buffer
/// protocol), copied once; nothing if it is no such array. InvalidArgument for one that holds no
/// finite numbers; messages call it `name`. `memory` is used for them, whatever it holds.
std::optional<std::vector<float>> to_floats(nb::handle object, const char* name,
                                            std::vector<float> memory = {});
/// The rows of a two-dimensional array.
std::optional<std::vector<std::vector<float>>> to_rows(nb::handle object, const char* name);

/// The result of `work`, or the exception that goes with its error.
template <class T>
T value_or_raise(Result<T> result) {
    if (!result) raise(result.error());
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace braid::python
