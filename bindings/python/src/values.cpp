#include "values.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

namespace braid::python {
namespace {

constexpr int kMaxDepth = 64;

Value convert(nb::handle object, int depth);

[[noreturn]] void bad(std::string message) {
    raise(ErrorCode::InvalidArgument, std::move(message));
}

/// Valid as long as the object.
std::string_view text_of(nb::handle object) {
    Py_ssize_t size = 0;
    const char* const data = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
    if (data == nullptr) {
        PyErr_Clear();
        bad("a string holds a lone surrogate, which is not valid Unicode");
    }
    return {data, static_cast<std::size_t>(size)};
}

Value integer(nb::handle object) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    if (overflow == 0) return number;
    const double rounded = PyLong_AsDouble(object.ptr());
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        bad("an integer is too large for JSON: it must fit into 64 bits");
    }
    return rounded;
}

Value number(double value) {
    if (!std::isfinite(value)) bad("a number must be finite, got NaN or infinity");
    return value;
}

Array list(nb::handle sequence, int depth) {
    Array out;
    out.reserve(nb::len(sequence));
    for (const nb::handle item : sequence) out.push_back(convert(item, depth));
    return out;
}

Object members(nb::handle dict, int depth, const char* skip = nullptr) {
    Object out;
    out.reserve(nb::len(dict));
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(dict.ptr(), &position, &key, &value) != 0) {
        if (!PyUnicode_Check(key)) bad("keys of a dict must be strings");
        const std::string_view name = text_of(key);
        if (skip == nullptr || name != skip) out.set(name, convert(value, depth));
    }
    return out;
}

/// What is no plain value: NumPy's scalars and arrays, and times.
Value other(nb::handle object, int depth) {
    if (nb::hasattr(object, "tolist")) return convert(object.attr("tolist")(), depth);
    if (nb::hasattr(object, "isoformat")) {
        if (nb::hasattr(object, "utcoffset") && object.attr("utcoffset")().is_none()) {
            bad("a datetime needs a time zone, as in datetime.now(timezone.utc)");
        }
        return std::string(text_of(nb::object(object.attr("isoformat")())));
    }
    bad("a value of type " + nb::cast<std::string>(object.type().attr("__name__")) +
        " cannot be written as JSON");
}

Value convert(nb::handle object, int depth) {
    if (depth > kMaxDepth) bad("a value is nested more than 64 deep");
    PyObject* const raw = object.ptr();
    if (raw == Py_None) return {};
    if (PyBool_Check(raw)) return raw == Py_True;
    if (PyLong_Check(raw)) return integer(object);
    if (PyFloat_Check(raw)) return number(PyFloat_AsDouble(raw));
    if (PyUnicode_Check(raw)) return text_of(object);
    if (PyDict_Check(raw)) return members(object, depth + 1);
    if (PyList_Check(raw) || PyTuple_Check(raw)) return list(object, depth + 1);
    return other(object, depth + 1);
}

/// Without a branch for each number, so that the compiler takes several at a time.
bool all_finite(std::span<const float> row) {
    constexpr std::uint32_t exponent = 0x7f800000;  // all of it set: infinity or no number
    std::uint32_t found = 0;
    for (const float value : row) {
        found |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & exponent) ==
                                            exponent);
    }
    return found == 0;
}

std::vector<float> checked(std::span<const float> row, const char* name,
                           std::vector<float> memory = {}) {
    if (!all_finite(row)) bad("\"" + std::string(name) + "\" must hold finite numbers only");
    memory.assign(row.begin(), row.end());
    return memory;
}

template <int Dimensions>
using Floats = nb::ndarray<const float, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

/// A float32 array as it is; another one converted, which copies it.
template <int Dimensions>
std::optional<Floats<Dimensions>> floats_of(nb::handle object) {
    if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) || !nb::ndarray_check(object)) {
        return std::nullopt;
    }
    Floats<Dimensions> array;
    if (!nb::try_cast(object, array)) return std::nullopt;
    return array;
}

}  // namespace

nb::object exception_of(const Error& error) {
    static PyObject* const kByName =
        nb::object(nb::module_::import_("braid._errors").attr("by_name")).release().ptr();
    return nb::handle(kByName)(error_facts(error.code).name, error.message);
}

void raise(const Error& error) {
    const nb::object exception = exception_of(error);
    PyErr_SetObject(exception.type().ptr(), exception.ptr());
    throw nb::python_error();
}

void raise(ErrorCode code, std::string message) {
    raise(Error{code, std::move(message)});
}

Value to_value(nb::handle object) {
    return convert(object, 0);
}

Object to_object(nb::handle dict, const char* skip) {
    if (!PyDict_Check(dict.ptr())) bad("expected a dict");
    return members(dict, 0, skip);
}

nb::object to_python(const Value& value) {
    if (value.is_bool()) return nb::bool_(value.as_bool());
    if (value.is_int()) return nb::int_(value.as_int());
    if (value.is_double()) return nb::float_(value.as_double());
    if (value.is_string()) {
        const std::string& text = value.as_string();
        return nb::steal(
            PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
    }
    if (value.is_array()) {
        nb::list out;
        for (const Value& item : value.as_array()) out.append(to_python(item));
        return out;
    }
    if (value.is_object()) {
        nb::dict out;
        for (const auto& [key, member] : value.as_object()) {
            out[to_python(Value(key))] = to_python(member);
        }
        return out;
    }
    return nb::none();
}

nb::object to_datetime(Timestamp timestamp) {
    static PyObject* const kConvertMicros =
        nb::object(nb::module_::import_("braid._errors").attr("datetime_of")).release().ptr();
    return nb::handle(kConvertMicros)(timestamp.micros);
}

std::optional<std::vector<float>> to_floats(nb::handle object, const char* name,
                                            std::vector<float> memory) {
    const auto array = floats_of<1>(object);
    if (!array) return std::nullopt;
    return checked({array->data(), array->shape(0)}, name, std::move(memory));
}

std::optional<std::vector<std::vector<float>>> to_rows(nb::handle object, const char* name) {
    const auto array = floats_of<2>(object);
    if (!array) return std::nullopt;
    std::vector<std::vector<float>> rows;
    rows.reserve(array->shape(0));
    for (std::size_t row = 0; row < array->shape(0); ++row) {
        rows.push_back(checked({array->data() + row * array->shape(1), array->shape(1)}, name));
    }
    return rows;
}

}  // namespace braid::python
