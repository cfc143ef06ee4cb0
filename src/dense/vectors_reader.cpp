#include "braid/dense/vectors_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace braid::dense {
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

Result<Code> VectorsReader::code(std::uint32_t row) const {
    const std::uint64_t stride = kernels::block_bytes(meta().code_dimensions, meta().offsets());
    BRAID_TRY(const auto line,
              lines_.bytes(std::uint64_t{row} * kernels::kLineBytes, kernels::kLineBytes));
    BRAID_TRY(const auto block, blocks_.bytes(row / kernels::kBlockVectors * stride, stride));
    return read_code(line, block, row % kernels::kBlockVectors, meta().code_dimensions,
                     meta().offsets());
}

Result<> VectorsReader::intact() const {
    if (!vectors_.guarded_as(lines_)) BRAID_CHECK(lines_.intact());
    if (!vectors_.guarded_as(blocks_)) BRAID_CHECK(blocks_.intact());
    return vectors_.intact();
}

Result<VectorAnswer> VectorsReader::search(std::span<const float> query,
                                           const VectorSearch& search) const {
    BRAID_TRY(const ExactQuery exact, vectors_.query(query));
    VectorAnswer answer;
    BRAID_TRY(const Rows rows, candidates(exact, search, answer.method));
    if (!rows) {
        BRAID_TRY(answer.hits, vectors_.search(exact, search.k, search.allowed));
    } else {
        // For distances, the estimates give only the order.
        const double spread = meta().metric == Metric::Euclidean
                                  ? std::numeric_limits<double>::infinity()
                                  : rows->spread;
        BRAID_TRY(answer.hits, vectors_.best(exact, rows->rows, rows->estimates, search.k, spread));
    }
    BRAID_CHECK(intact());
    return answer;
}

SearchAidsPtr VectorsReader::aids() const {
    const std::scoped_lock lock(current_->mutex);
    return current_->aids;
}

template <class Change>
void VectorsReader::change(Change change) const {
    SearchAidsPtr old;  // released outside the lock: it may hold files
    const std::scoped_lock lock(current_->mutex);
    old = current_->aids;
    auto next = std::make_shared<SearchAids>(*old);
    change(*next);
    current_->aids = std::move(next);
}

void VectorsReader::use(CodeGraph graph, std::shared_ptr<const void> keeper) const {
    change([&](SearchAids& aids) {
        aids.graph = std::move(graph);
        aids.keeper = std::move(keeper);
    });
}

void VectorsReader::use(Calibration calibration) const {
    change([&](SearchAids& aids) { aids.calibration = std::move(calibration); });
}

void VectorsReader::forget_graph(const SearchAids& of) const {
    change([&](SearchAids& aids) {
        if (aids.keeper != of.keeper) return;
        aids.graph.reset();
        aids.keeper.reset();
    });
}

std::shared_ptr<const Calibration> VectorsReader::calibration() const {
    const SearchAidsPtr now = aids();
    if (!now->calibration) return nullptr;
    return {now, &*now->calibration};
}

VectorPlan VectorsReader::plan(const VectorSearch& search, std::uint64_t allowed,
                               const SearchAids& aids, bool walks) const {
    VectorPlan plan;
    if (search.depth) {
        walks = walks && search.beam > 0 && aids.graph;
        plan = {.method = walks ? VectorMethod::Graph : VectorMethod::Scan,
                .depth = *search.depth,
                .beam = search.beam,
                .margin = search.margin,
                .spread = search.spread};
    } else {
        const Calibration* const calibration = search.calibration != nullptr ? search.calibration
                                               : aids.calibration            ? &*aids.calibration
                                                                             : nullptr;
        const auto planned = [&](VectorMethod method) {
            return calibration != nullptr
                       ? calibration->planned_for(method, search.recall, search.k)
                       : search.recall;
        };
        plan = plan_search({.rows = size(),
                            .allowed = allowed,
                            .k = search.k,
                            .scan_recall = planned(VectorMethod::Scan),
                            .graph_recall = planned(VectorMethod::Graph),
                            .has_codes = true,
                            .has_graph = walks && aids.graph.has_value()});
    }
    plan.depth.rescored = std::max(plan.depth.rescored, search.k);
    plan.depth.survivors = std::max(plan.depth.survivors, plan.depth.rescored);
    return plan;
}

Result<VectorsReader::Rows> VectorsReader::candidates(const ExactQuery& query,
                                                      const VectorSearch& search,
                                                      VectorMethod& method) const {
    method = VectorMethod::Exact;
    const std::uint64_t allowed = count_allowed(search.allowed, size());
    if (search.exact || transform_ == nullptr || allowed <= search.k) return Rows();
    const SearchAidsPtr present = search.aids == nullptr ? this->aids() : nullptr;
    const SearchAids& aids = search.aids == nullptr ? *present : *search.aids;
    VectorPlan plan = this->plan(search, allowed, aids, true);
    if (plan.method == VectorMethod::Exact || search.k == 0) return Rows();
    BRAID_TRY(const CodeView view, codes());
    const auto prepared = prepare_query(*transform_, query.vector, query.norm);
    if (!prepared) return Rows();
    if (plan.method == VectorMethod::Graph) {
        method = VectorMethod::Graph;
        auto rows = walked(*aids.graph, view, *prepared, search, plan, allowed);
        if (rows && *rows) {
            (*rows)->spread = plan.spread;
            return rows;
        }
        // The graph is never needed: whatever cannot be read of it is done without.
        if (!rows) forget_graph(aids);
        plan = this->plan(search, allowed, aids, false);
        method = plan.method;
        if (method == VectorMethod::Exact) return Rows();
    }
    method = VectorMethod::Scan;
    Candidates found = CodeScan(view, *prepared, search.allowed, allowed).candidates(plan.depth);
    found.spread = plan.spread;
    return Rows(std::move(found));
}

Result<VectorsReader::Rows> VectorsReader::walked(const CodeGraph& graph, const CodeView& codes,
                                                  const CodeQuery& query,
                                                  const VectorSearch& search,
                                                  const VectorPlan& plan, std::uint64_t allowed) {
    BRAID_TRY(const GraphView edges, graph.view());
    static thread_local GraphScratch scratch;  // zeroing new pages would cost as much as a walk
    const std::size_t beam = std::max(plan.beam, plan.depth.rescored);
    // Rows that are not allowed are walked over, but take no place from those that are.
    const double more =
        static_cast<double>(codes.count) / static_cast<double>(std::max<std::uint64_t>(allowed, 1));
    const double wide = static_cast<double>(beam) * more;
    const auto met = walk(
        edges, codes, query,
        {.beam = static_cast<std::size_t>(std::min(wide, static_cast<double>(codes.count))),
         .near =
             plan.margin > 0 ? static_cast<std::size_t>(static_cast<double>(search.k) * more) : 0,
         .margin = plan.margin},
        scratch);
    BRAID_CHECK(graph.intact());
    const auto estimates = estimates_of_walk(scratch);
    Candidates near;
    near.rows.reserve(plan.depth.rescored);
    near.estimates.reserve(plan.depth.rescored);
    std::size_t found = 0;
    for (std::size_t i = 0; i < met.size(); ++i) {
        const std::uint32_t row = met[i];
        if ((codes.present(row / kernels::kBlockVectors, search.allowed) >> row % 64 & 1) == 0) {
            continue;
        }
        if (near.rows.size() < plan.depth.rescored) {
            near.rows.push_back(row);
            near.estimates.push_back(estimates[i]);
        }
        ++found;
    }
    // Among the rows met, the share of allowed ones should be about what it is overall.
    const double share = static_cast<double>(allowed) / static_cast<double>(codes.count);
    const double met_allowed = 0.75 * share * static_cast<double>(met.size());
    if (near.rows.size() < search.k || static_cast<double>(found) < met_allowed) return Rows();
    return Rows(std::move(near));
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
