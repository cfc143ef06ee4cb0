#include "braid/dense/vectors_reader.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace braid::dense {

std::string_view name_of(VectorMethod method) noexcept {
    return method == VectorMethod::Scan ? "scan" : "exact";
}

ScanDepth usual_depth(std::size_t k, double recall) noexcept {
    const double misses = 0.05 / std::clamp(1 - recall, 1e-4, 0.5);
    const double times = static_cast<double>(std::max<std::size_t>(k, 10)) / 10;
    ScanDepth depth;
    depth.rescored =
        std::max(k, static_cast<std::size_t>(40 * std::pow(misses, 0.57) * std::pow(times, 0.9)));
    depth.survivors = std::max(2 * depth.rescored,
                               static_cast<std::size_t>(150 * std::pow(misses, 0.75) * times));
    return depth;
}

Result<VectorsReader> VectorsReader::open(const store::SectionSource& source) {
    VectorsReader reader;
    BRAID_TRY(const VectorsMeta meta, read_meta(source));
    BRAID_TRY(reader.vectors_, StoredVectors::open(meta, source));
    if (meta.code_dimensions == 0) return reader;
    if (meta.code_dimensions != code_dimensions_for(meta.dimension)) {
        return fail(ErrorCode::Corruption, "codes of " + std::to_string(meta.code_dimensions) +
                                               " dimensions for vectors of " +
                                               std::to_string(meta.dimension));
    }
    BRAID_TRY(Transform transform, Transform::read(source, meta));
    reader.transform_ = std::make_shared<const Transform>(std::move(transform));
    BRAID_TRY(reader.lines_,
              section_of_size(source, kLinesSection, meta.count * kernels::kLineBytes));
    const std::uint64_t blocks = (meta.count + kernels::kBlockVectors - 1) / kernels::kBlockVectors;
    BRAID_TRY(reader.blocks_,
              section_of_size(source, kBlocksSection,
                              blocks * kernels::block_bytes(meta.code_dimensions, meta.offsets())));
    return reader;
}

Result<CodeView> VectorsReader::codes() const {
    BRAID_CHECK(transform_->load());
    BRAID_TRY(const auto lines, lines_.bytes());
    BRAID_TRY(const auto blocks, blocks_.bytes());
    return CodeView{.count = size(),
                    .dimensions = meta().code_dimensions,
                    .offsets = meta().offsets(),
                    .lines = reinterpret_cast<const std::uint8_t*>(lines.data()),
                    .blocks = reinterpret_cast<const std::uint8_t*>(blocks.data())};
}

Result<> VectorsReader::intact() const {
    BRAID_CHECK(lines_.intact());
    BRAID_CHECK(blocks_.intact());
    return vectors_.intact();
}

Result<VectorAnswer> VectorsReader::search(std::span<const float> query,
                                           const VectorSearch& search) const {
    BRAID_TRY(const ExactQuery exact, vectors_.query(query));
    VectorAnswer answer;
    ScanDepth depth = search.depth.value_or(usual_depth(search.k, search.recall));
    depth.rescored = std::max(depth.rescored, search.k);
    depth.survivors = std::max(depth.survivors, depth.rescored);
    const std::uint64_t allowed_count = count_allowed(search.allowed, size());
    // Where few more rows are allowed than would be scored anyway, scoring all is as cheap.
    const bool all = search.exact || (search.recall >= 1 && !search.depth) || search.k == 0 ||
                     transform_ == nullptr || allowed_count <= 3 * depth.rescored;
    std::optional<std::vector<std::uint32_t>> rows;
    if (!all) {
        BRAID_TRY(rows, scan(exact, search, depth, allowed_count));
    }
    if (!rows) {
        BRAID_TRY(answer.hits, vectors_.search(exact, search.k, search.allowed));
    } else {
        answer.method = VectorMethod::Scan;
        std::vector<double> scores(rows->size());
        BRAID_CHECK(vectors_.score(exact, *rows, scores));
        std::vector<VectorHit> hits(rows->size());
        for (std::size_t i = 0; i < hits.size(); ++i) hits[i] = {(*rows)[i], scores[i]};
        answer.hits = best_of(std::move(hits), search.k);
    }
    BRAID_CHECK(intact());
    return answer;
}

Result<std::optional<std::vector<std::uint32_t>>> VectorsReader::scan(
    const ExactQuery& query, const VectorSearch& search, const ScanDepth& depth,
    std::uint64_t allowed_count) const {
    BRAID_TRY(const CodeView view, codes());
    const auto prepared = prepare_query(*transform_, query.vector, query.norm);
    if (!prepared) return std::optional<std::vector<std::uint32_t>>();
    return std::optional(
        CodeScan(view, *prepared, search.allowed, allowed_count).candidates(depth));
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
