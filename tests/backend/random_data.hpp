#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/filter.hpp"
#include "braid/reader.hpp"

namespace braid::testing {

/// Seeded random input for tests: equal seeds give equal data on every machine.
class RandomData {
public:
    explicit RandomData(unsigned seed) : rng_(seed) {}

    /// From 0 to bound - 1.
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(rng_() % bound); }
    bool chance(unsigned percent) { return rng_() % 100 < percent; }
    template <class T>
    const T& pick(const std::vector<T>& from) {
        return from[below(from.size())];
    }

    /// "w0" ... "w29", small numbers far more often.
    std::string word();
    std::string words(std::size_t count);
    /// Small whole numbers, so that equal scores are common; never all zero.
    std::vector<float> vector(std::size_t dimension);
    std::vector<float> real_vector(std::size_t dimension);

    /// One of sixty ids in one of fifteen documents, with every field present or absent, labels
    /// and metadata of all kinds. No vector if `dimension` is 0.
    Chunk chunk(std::size_t dimension);
    /// Strings, numbers, booleans, dates, nulls, lists.
    Value value();
    Object metadata();
    MetadataUpdate update();
    /// Over the fields that chunk() fills; valid for a schema without declared metadata.
    Filter filter(std::size_t depth = 3);
    /// A group of clauses over the words of chunk(), in any field or one of these.
    QueryClause clauses(const std::vector<std::string>& fields, std::size_t depth = 2);

private:
    Filter comparison();
    Value operand_for(const std::string& field);

    std::mt19937_64 rng_;
};

}  // namespace braid::testing
