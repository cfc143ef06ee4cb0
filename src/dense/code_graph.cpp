#include "braid/dense/code_graph.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <string>

#include "braid/kernels/dense.hpp"
#include "braid/store/bytes.hpp"

namespace braid::dense {
namespace {

constexpr std::uint32_t kGraphMagic = 0x48475642;  // "BVGH"
constexpr std::uint32_t kGraphVersion = 1;
constexpr std::size_t kGraphHead = 64;
constexpr std::uint32_t kMostEntries = 1024;
constexpr std::size_t kStarts = 8;

/// A row in the pool: the estimate above, then the row, then whether it was walked from.
constexpr std::uint64_t kWalked = 1;

std::uint64_t pool_key(float estimate, std::uint32_t row) noexcept {
    return std::uint64_t{ordered_bits(estimate)} << 32 | std::uint64_t{~row & 0x7fff'ffffU} << 1;
}

std::uint32_t row_of(std::uint64_t key) noexcept {
    return ~static_cast<std::uint32_t>(key >> 1) & 0x7fff'ffffU;
}

/// The best rows so far, best first, and where the first that was not walked from may be.
class Pool {
public:
    Pool(std::vector<std::uint64_t>& keys, std::size_t most) : keys_(keys), most_(most) {
        keys_.clear();
        keys_.reserve(most + 1);
    }

    /// True if the row is likely to be walked from soon.
    bool offer(std::uint64_t key) {
        if (keys_.size() == most_) {
            if (key <= keys_.back()) return false;
            keys_.pop_back();
        }
        const auto place = std::lower_bound(keys_.begin(), keys_.end(), key, std::greater<>());
        const auto at = static_cast<std::size_t>(place - keys_.begin());
        const bool soon = at <= next_ + 1;
        next_ = std::min(next_, at);
        keys_.insert(place, key);
        return soon;
    }

    /// The place of the best key not walked from, from `place` on; size() if there is none.
    std::size_t waiting(std::size_t place) const noexcept {
        while (place < keys_.size() && (keys_[place] & kWalked) != 0) ++place;
        return place;
    }
    std::size_t size() const noexcept { return keys_.size(); }
    std::size_t next() const noexcept { return next_; }
    std::uint32_t row(std::size_t place) const noexcept { return row_of(keys_[place]); }

    /// The best row not walked from, which is now; kNoRow if there is none.
    std::uint32_t take() noexcept {
        next_ = waiting(next_);
        if (next_ == keys_.size()) return kNoRow;
        keys_[next_] |= kWalked;
        return row_of(keys_[next_++]);
    }

private:
    std::vector<std::uint64_t>& keys_;
    std::size_t most_;
    std::size_t next_ = 0;
};

void fetch_list(const GraphView& graph, std::uint32_t row) noexcept {
    const auto* list = reinterpret_cast<const char*>(graph.neighbours(row).data());
    for (std::size_t byte = 0; byte < 4 * kGraphDegree; byte += 64) {
        __builtin_prefetch(list + byte);
    }
}

/// Rows that were not visited before join `rows`, and their codes are on the way. Without branches:
/// which rows those are, nothing can foresee.
void gather(std::span<const std::uint32_t> from, const CodeView& codes, GraphScratch& scratch) {
    std::size_t count = scratch.rows.size();
    scratch.rows.resize(count + from.size());
    for (const std::uint32_t row : from) {
        const std::uint64_t exists = row < codes.count ? 1 : 0;
        const std::uint32_t place = exists != 0 ? row : 0;
        std::uint64_t& word = scratch.visited[place / 64];
        const std::uint64_t fresh = exists & ~(word >> place % 64);
        word |= exists << place % 64;
        __builtin_prefetch(codes.lines + std::size_t{place} * kernels::kLineBytes);
        scratch.rows[count] = row;
        count += fresh & 1;
    }
    scratch.rows.resize(count);
}

void estimate_all(const CodeView& codes, const CodeQuery& query, GraphScratch& scratch) {
    scratch.sums.resize(scratch.rows.size());
    kernels::dense_kernels().estimate_lines(query.line, codes.lines, scratch.rows.data(),
                                            scratch.rows.size(), scratch.sums.data());
}

std::uint64_t key_of(const CodeView& codes, const CodeQuery& query, const GraphScratch& scratch,
                     std::size_t i) noexcept {
    const std::uint32_t row = scratch.rows[i];
    const std::uint8_t* line = codes.lines + std::size_t{row} * kernels::kLineBytes;
    return pool_key(query.estimate(line, scratch.sums[i]), row);
}

void start(const GraphView& graph, const CodeView& codes, const CodeQuery& query, Pool& pool,
           GraphScratch& scratch) {
    gather(graph.entries, codes, scratch);
    estimate_all(codes, query, scratch);
    std::vector<std::uint64_t> keys(scratch.rows.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = key_of(codes, query, scratch, i);
    const std::size_t count = std::min(kStarts, keys.size());
    std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count), keys.end(),
                      std::greater<>());
    for (std::size_t i = 0; i < count; ++i) pool.offer(keys[i]);
    for (std::size_t i = count; i < keys.size(); ++i) {  // these may be met again
        const std::uint32_t row = row_of(keys[i]);
        scratch.visited[row / 64] &= ~(std::uint64_t{1} << row % 64);
    }
}

}  // namespace

std::span<const std::uint32_t> walk(const GraphView& graph, const CodeView& codes,
                                    const CodeQuery& query, std::size_t beam,
                                    GraphScratch& scratch) {
    constexpr std::size_t kTogether = 2;  // nodes whose neighbours are fetched at once
    scratch.visited.assign((codes.count + 63) / 64, 0);
    scratch.rows.clear();
    Pool pool(scratch.pool, std::max<std::size_t>(beam, 1));
    start(graph, codes, query, pool, scratch);
    while (true) {
        scratch.rows.clear();
        std::size_t taken = 0;
        for (; taken < kTogether; ++taken) {
            const std::uint32_t row = pool.take();
            if (row == kNoRow) break;
            gather(graph.neighbours(row), codes, scratch);
        }
        if (taken == 0) break;
        for (std::size_t i = 0, place = pool.waiting(pool.next()); i < kTogether; ++i) {
            if (place >= pool.size()) break;
            fetch_list(graph, pool.row(place));
            place = pool.waiting(place + 1);
        }
        estimate_all(codes, query, scratch);
        for (std::size_t i = 0; i < scratch.rows.size(); ++i) {
            const std::uint64_t key = key_of(codes, query, scratch, i);
            if (pool.offer(key)) fetch_list(graph, scratch.rows[i]);
        }
    }
    scratch.rows.resize(scratch.pool.size());
    std::ranges::transform(scratch.pool, scratch.rows.begin(), row_of);
    return scratch.rows;
}

Result<CodeGraph> CodeGraph::open(const store::SectionSource& source, const VectorsMeta& meta) {
    CodeGraph graph;
    BRAID_TRY(graph.section_, source.section(kGraphSection));
    BRAID_TRY(const auto head, graph.section_.bytes(0, kGraphHead));
    store::ByteReader reader(head, kGraphSection);
    BRAID_TRY(const auto magic, reader.u32("the mark"));
    if (magic != kGraphMagic) return reader.corrupt("this is no graph");
    BRAID_TRY(const auto version, reader.u32("the version"));
    if (version != kGraphVersion) {
        return fail(ErrorCode::Unsupported, "a graph of format version " + std::to_string(version));
    }
    BRAID_TRY(graph.count_, reader.u64("the number of rows"));
    BRAID_TRY(const auto transform, reader.u64("the id of the transform"));
    BRAID_TRY(const auto degree, reader.u32("the degree"));
    BRAID_TRY(graph.entry_count_, reader.u32("the number of entries"));
    if (degree != kGraphDegree || graph.entry_count_ > kMostEntries) {
        return reader.corrupt("a degree or number of entries that cannot be");
    }
    if (graph.count_ != meta.count || transform != meta.transform_id) {
        return fail(ErrorCode::Conflict, "the graph is one of other vectors");
    }
    const std::uint64_t bytes = kGraphHead + 4 * kMostEntries + 4 * kGraphDegree * graph.count_;
    BRAID_TRY(graph.section_, section_of_size(source, kGraphSection, bytes));
    return graph;
}

Result<GraphView> CodeGraph::view() const {
    BRAID_TRY(const auto bytes, section_.bytes());
    const auto* entries = reinterpret_cast<const std::uint32_t*>(bytes.data() + kGraphHead);
    return GraphView{.entries = {entries, entry_count_},
                     .edges = {entries + kMostEntries, kGraphDegree * count_},
                     .count = count_};
}

Result<> write_graph(const VectorsMeta& meta, std::span<const std::uint32_t> entries,
                     std::span<const std::uint32_t> edges, store::SectionSink& sink) {
    store::ByteWriter head;
    head.u32(kGraphMagic);
    head.u32(kGraphVersion);
    head.u64(meta.count);
    head.u64(meta.transform_id);
    head.u32(static_cast<std::uint32_t>(kGraphDegree));
    head.u32(static_cast<std::uint32_t>(entries.size()));
    head.pad_to(kGraphHead);
    std::vector<std::uint32_t> padded(entries.begin(), entries.end());
    padded.resize(kMostEntries, kNoRow);
    BRAID_CHECK(sink.begin(kGraphSection));
    BRAID_CHECK(sink.write(head.view()));
    BRAID_CHECK(sink.write(std::as_bytes(std::span(padded))));
    return sink.write(std::as_bytes(edges));
}

}  // namespace braid::dense
