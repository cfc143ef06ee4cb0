#include "braid/dense/vectors_reader.hpp"

#include <algorithm>
#include <cmath>
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
    BRAID_CHECK(lines_.intact());
    BRAID_CHECK(blocks_.intact());
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
        std::vector<double> scores(rows->size());
        BRAID_CHECK(vectors_.score(exact, *rows, scores));
        std::vector<VectorHit> hits(rows->size());
        for (std::size_t i = 0; i < hits.size(); ++i) hits[i] = {(*rows)[i], scores[i]};
        answer.hits = best_of(std::move(hits), search.k);
    }
    BRAID_CHECK(intact());
    return answer;
}

std::shared_ptr<const VectorsReader::Derived> VectorsReader::derived() const {
    const std::scoped_lock lock(current_->mutex);
    return current_->derived;
}

template <class Change>
void VectorsReader::change(Change change) const {
    std::shared_ptr<const Derived> old;  // let go without the lock: it may hold files
    const std::scoped_lock lock(current_->mutex);
    old = current_->derived;
    auto next = std::make_shared<Derived>(*old);
    change(*next);
    current_->derived = std::move(next);
}

void VectorsReader::use(CodeGraph graph, std::shared_ptr<const void> keeper) const {
    change([&](Derived& derived) {
        derived.graph = std::move(graph);
        derived.keeper = std::move(keeper);
    });
}

void VectorsReader::use(Calibration calibration) const {
    change([&](Derived& derived) { derived.calibration = std::move(calibration); });
}

void VectorsReader::forget_graph(const Derived& of) const {
    change([&](Derived& derived) {
        if (derived.keeper != of.keeper) return;
        derived.graph.reset();
        derived.keeper.reset();
    });
}

std::shared_ptr<const Calibration> VectorsReader::calibration() const {
    const auto derived = this->derived();
    if (!derived->calibration) return nullptr;
    return {derived, &*derived->calibration};
}

VectorPlan VectorsReader::plan(const VectorSearch& search, std::uint64_t allowed,
                               const Derived& derived, bool walks) const {
    VectorPlan plan;
    if (search.depth) {
        walks = walks && search.beam > 0 && derived.graph;
        plan = {.method = walks ? VectorMethod::Graph : VectorMethod::Scan,
                .depth = *search.depth,
                .beam = search.beam};
    } else {
        const Calibration* const calibration = search.calibration != nullptr ? search.calibration
                                               : derived.calibration         ? &*derived.calibration
                                                                             : nullptr;
        const auto planned = [&](VectorMethod method) {
            return calibration != nullptr ? calibration->planned_for(method, search.recall)
                                          : search.recall;
        };
        plan = plan_search({.rows = size(),
                            .allowed = allowed,
                            .k = search.k,
                            .scan_recall = planned(VectorMethod::Scan),
                            .graph_recall = planned(VectorMethod::Graph),
                            .has_codes = true,
                            .has_graph = walks && derived.graph.has_value()});
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
    const auto derived = this->derived();
    VectorPlan plan = this->plan(search, allowed, *derived, true);
    if (plan.method == VectorMethod::Exact || search.k == 0) return Rows();
    BRAID_TRY(const CodeView view, codes());
    const auto prepared = prepare_query(*transform_, query.vector, query.norm);
    if (!prepared) return Rows();
    if (plan.method == VectorMethod::Graph) {
        method = VectorMethod::Graph;
        auto rows = walked(*derived->graph, view, *prepared, search, plan, allowed);
        if (rows && *rows) return rows;
        // It is never needed: what cannot be read of it is found without.
        if (!rows) forget_graph(*derived);
        plan = this->plan(search, allowed, *derived, false);
        method = plan.method;
        if (method == VectorMethod::Exact) return Rows();
    }
    method = VectorMethod::Scan;
    return Rows(CodeScan(view, *prepared, search.allowed, allowed).candidates(plan.depth));
}

Result<VectorsReader::Rows> VectorsReader::walked(const CodeGraph& graph, const CodeView& codes,
                                                  const CodeQuery& query,
                                                  const VectorSearch& search,
                                                  const VectorPlan& plan, std::uint64_t allowed) {
    BRAID_TRY(const GraphView edges, graph.view());
    static thread_local GraphScratch scratch;  // zeroing new pages would cost as much as a walk
    const std::size_t beam = std::max(plan.beam, plan.depth.rescored);
    // Rows that are not allowed are walked over, and take no place of those that are.
    const auto wide = static_cast<double>(beam) * static_cast<double>(codes.count) /
                      static_cast<double>(std::max<std::uint64_t>(allowed, 1));
    const auto met =
        walk(edges, codes, query,
             static_cast<std::size_t>(std::min(wide, static_cast<double>(codes.count))), scratch);
    BRAID_CHECK(graph.intact());
    std::vector<std::uint32_t> rows;
    rows.reserve(plan.depth.rescored);
    std::size_t found = 0;
    for (const std::uint32_t row : met) {
        if ((codes.present(row / kernels::kBlockVectors, search.allowed) >> row % 64 & 1) == 0) {
            continue;
        }
        if (rows.size() < plan.depth.rescored) rows.push_back(row);
        ++found;
    }
    const std::uint64_t enough = std::min<std::uint64_t>(beam - beam / 4, allowed);
    if (rows.size() < search.k || found < enough) return Rows();
    return Rows(std::move(rows));
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
