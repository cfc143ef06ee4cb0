#pragma once

#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace braid {

/// The value; if there is none, the test fails and goes on with an empty one.
template <class T>
T present(std::optional<T> value) {
    if (value) return *std::move(value);
    ADD_FAILURE() << "there is no value";
    return T();
}

}  // namespace braid
