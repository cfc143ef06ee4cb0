#include "braid/dense/vectors_reader.hpp"

#include <string>

namespace braid::dense {

Result<VectorsReader> VectorsReader::open(const store::SectionSource& source) {
    VectorsReader reader;
    BRAID_TRY(const VectorsMeta meta, read_meta(source));
    BRAID_TRY(reader.vectors_, StoredVectors::open(meta, source));
    return reader;
}

Result<VectorAnswer> VectorsReader::search(std::span<const float> query,
                                           const VectorSearch& search) const {
    BRAID_TRY(const ExactQuery exact, vectors_.query(query));
    VectorAnswer answer;
    BRAID_TRY(answer.hits, vectors_.search(exact, search.k, search.allowed));
    BRAID_CHECK(vectors_.intact());
    return answer;
}

Result<std::vector<double>> VectorsReader::score(std::span<const float> query,
                                                 std::span<const std::uint32_t> rows) const {
    BRAID_TRY(const ExactQuery exact, vectors_.query(query));
    for (const std::uint32_t row : rows) {
        if (row >= size()) {
            return invalid_argument("there is no vector " + std::to_string(row) + " among " +
                                    std::to_string(size()));
        }
    }
    std::vector<double> scores(rows.size());
    BRAID_CHECK(vectors_.score(exact, rows, scores));
    BRAID_CHECK(vectors_.intact());
    return scores;
}

}  // namespace braid::dense
