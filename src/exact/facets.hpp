#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "braid/backend.hpp"
#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::exact {

/// Counts the values of one field. Whole numbers are one value however they are written; a list
/// counts each of its elements once. For the field "": the metadata fields themselves.
class FacetCounter {
public:
    /// All arguments must outlive it. Distinct values are charged to the limits' budget while they
    /// are held.
    FacetCounter(const std::string& field, const Schema& schema, const CallLimits& limits);

    Result<> add(const Chunk& chunk);
    /// A value counted elsewhere, in the form in which equal values are counted.
    Result<> add(const FacetCount& counted) { return add(counted.value, counted.count); }
    /// The most frequent values, then by value.
    Result<std::vector<FacetCount>> most_frequent(std::size_t limit) const;

private:
    using Less = bool (*)(const Value&, const Value&);

    Result<> add(Value key, std::uint64_t count = 1);

    const std::string& field_;
    const Schema& schema_;
    const CallLimits& limits_;
    CallLimits counting_;
    std::map<Value, std::uint64_t, Less> counts_;
};

}  // namespace braid::exact
