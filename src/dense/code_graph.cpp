#include "braid/dense/code_graph.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
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

/// Marks a key of the pool whose row was walked from. Row numbers have 31 bits, which leaves one
/// free.
constexpr std::uint64_t kWalked = 1;

/// A key of rank_lines with room for kWalked.
std::uint64_t pool_key(std::uint64_t ranked) noexcept {
    return (ranked & ~std::uint64_t{0xffff'ffffU}) | (ranked << 1 & 0xffff'fffeU);
}

/// A rank_lines key such that those above it have a pool_key above this one.
std::uint64_t ranked_key(std::uint64_t key) noexcept {
    return (key & ~std::uint64_t{0xffff'ffffU}) | 0x8000'0000U | (key >> 1 & 0x7fff'ffffU);
}

std::uint32_t row_of(std::uint64_t key) noexcept {
    return ~static_cast<std::uint32_t>(key >> 1) & 0x7fff'ffffU;
}

/// A key below all keys of this estimate and better ones.
std::uint64_t floor_of(float estimate) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(estimate);
    return std::uint64_t{(bits & 0x8000'0000U) != 0 ? ~bits : bits | 0x8000'0000U} << 32;
}

/// The best rows so far, best first, and the first place where one not yet walked from may be.
class Pool {
public:
    Pool(std::vector<std::uint64_t>& keys, const WalkWidth& width)
        : keys_(keys),
          most_(std::max<std::size_t>(width.beam, 1)),
          near_(width.near),
          margin_(width.margin) {
        keys_.resize(most_ + 1);
    }

    /// The unit of the margin.
    void set_unit(float deviation) noexcept { margin_ *= deviation; }
    /// Updates how far from the best a row may be.
    void set_floor() noexcept {
        if (near_ != 0 && size_ >= near_)
            floor_ = floor_of(estimate_in(keys_[near_ - 1]) - margin_);
    }

    /// Ranked keys that are not above this cannot enter.
    std::uint64_t least() const noexcept {
        return size_ < most_ ? floor_ : std::max(floor_, ranked_key(keys_[most_ - 1]));
    }

    /// True if the row is likely to be walked from soon. Drops the last row if there are too many.
    bool offer(std::uint64_t key) noexcept {
        const std::size_t at = above(key);
        if (at == most_) return false;
        std::uint64_t* place = keys_.data() + at;
        std::memmove(place + 1, place, (size_ - at) * sizeof *place);
        *place = key;
        size_ = std::min(size_ + 1, most_);
        const bool soon = at <= next_ + 1;
        next_ = std::min(next_, at);
        return soon;
    }

    /// The place of the best key not walked from, from `place` on; size() if there is none.
    std::size_t waiting(std::size_t place) const noexcept {
        while (place < size_ && (keys_[place] & kWalked) != 0) ++place;
        return place;
    }
    std::size_t size() const noexcept { return size_; }
    std::size_t next() const noexcept { return next_; }
    std::uint32_t row(std::size_t place) const noexcept { return row_of(keys_[place]); }

    /// The best row not walked from, which is now marked as walked from; kNoRow if there is none.
    std::uint32_t take() noexcept {
        next_ = waiting(next_);
        if (next_ == size_ || keys_[next_] < floor_) return kNoRow;
        keys_[next_] |= kWalked;
        return row_of(keys_[next_++]);
    }

private:
    /// How many keys are above this one, without an unpredictable branch.
    std::size_t above(std::uint64_t key) const noexcept {
        const std::uint64_t* first = keys_.data();
        std::size_t left = size_;
        while (left > 1) {
            const std::size_t half = left / 2;
            first += half & -static_cast<std::size_t>(first[half - 1] > key);
            left -= half;
        }
        const auto at = static_cast<std::size_t>(first - keys_.data());
        return at + (left == 1 && *first > key ? 1 : 0);
    }

    std::vector<std::uint64_t>& keys_;
    std::size_t most_;
    std::size_t near_;
    float margin_;
    std::uint64_t floor_ = 0;
    std::size_t size_ = 0;
    std::size_t next_ = 0;
};

void fetch_list(const GraphView& graph, std::uint32_t row) noexcept {
    const auto* list = reinterpret_cast<const char*>(graph.neighbours(row).data());
    for (std::size_t byte = 0; byte < 4 * graph.degree; byte += 64) {
        __builtin_prefetch(list + byte);
    }
}

/// Appends rows that were not visited before to `rows`, and prefetches their codes. No branch
/// depends on which rows those are: it would be unpredictable.
void gather(std::span<const std::uint32_t> from, const CodeView& codes, GraphScratch& scratch) {
    std::vector<std::uint32_t>& rows = scratch.rows;
    const std::size_t before = rows.size();
    std::size_t count = before;
    rows.resize(before + from.size());
    for (const std::uint32_t row : from) {
        if (row >= codes.count) {
            if (row == kNoRow) break;
            continue;
        }
        std::uint64_t& word = scratch.visited[row / 64];
        const std::uint64_t bit = std::uint64_t{1} << row % 64;
        rows[count] = row;
        count += (word & bit) == 0 ? 1 : 0;
        word |= bit;
    }
    rows.resize(count);
    for (const std::uint32_t row : std::span(rows).subspan(before)) {
        __builtin_prefetch(codes.lines + std::size_t{row} * kernels::kLineBytes);
    }
}

/// The keys of the gathered rows that are above `least`.
std::span<std::uint64_t> rank(const CodeView& codes, const CodeQuery& query, std::uint64_t least,
                              GraphScratch& scratch) {
    const std::vector<std::uint32_t>& rows = scratch.rows;
    scratch.keys.resize(std::max(scratch.keys.size(), rows.size()));
    const std::size_t count = kernels::dense_kernels().rank_lines(
        query.line, codes.lines, rows.data(), rows.size(), least, scratch.keys.data());
    return std::span(scratch.keys).first(count);
}

float deviation_of(std::span<const std::uint64_t> keys) noexcept {
    double sum = 0;
    double squares = 0;
    for (const std::uint64_t key : keys) {
        const double estimate{estimate_in(key)};
        sum += estimate;
        squares += estimate * estimate;
    }
    const auto n = static_cast<double>(std::max<std::size_t>(keys.size(), 1));
    return static_cast<float>(std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n))));
}

void start(const GraphView& graph, const CodeView& codes, const CodeQuery& query, Pool& pool,
           GraphScratch& scratch) {
    gather(graph.entries, codes, scratch);
    const auto keys = rank(codes, query, 0, scratch);
    pool.set_unit(deviation_of(keys));
    const std::size_t count = std::min(kStarts, keys.size());
    std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count), keys.end(),
                      std::greater<>());
    for (std::size_t i = 0; i < count; ++i) pool.offer(pool_key(keys[i]));
    for (std::size_t i = count; i < keys.size(); ++i) {  // these may be met again
        const std::uint32_t row = row_of(pool_key(keys[i]));
        scratch.visited[row / 64] &= ~(std::uint64_t{1} << row % 64);
    }
}

}  // namespace

std::span<const std::uint32_t> walk(const GraphView& graph, const CodeView& codes,
                                    const CodeQuery& query, const WalkWidth& width,
                                    GraphScratch& scratch) {
    constexpr std::size_t kTogether = 2;  // nodes whose neighbours are fetched at once
    scratch.visited.assign((codes.count + 63) / 64, 0);
    scratch.rows.clear();
    Pool pool(scratch.pool, width);
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
        pool.set_floor();
        for (std::size_t i = 0, place = pool.waiting(pool.next()); i < kTogether; ++i) {
            if (place >= pool.size()) break;
            fetch_list(graph, pool.row(place));
            place = pool.waiting(place + 1);
        }
        for (const std::uint64_t ranked : rank(codes, query, pool.least(), scratch)) {
            const std::uint64_t key = pool_key(ranked);
            if (pool.offer(key)) fetch_list(graph, row_of(key));
        }
    }
    scratch.rows.resize(pool.size());
    for (std::size_t i = 0; i < pool.size(); ++i) scratch.rows[i] = pool.row(i);
    return scratch.rows;
}

std::span<const float> estimates_of_walk(GraphScratch& scratch) {
    scratch.estimates.resize(scratch.rows.size());
    for (std::size_t i = 0; i < scratch.rows.size(); ++i) {
        scratch.estimates[i] = estimate_in(scratch.pool[i]);
    }
    return scratch.estimates;
}

Result<CodeGraph> CodeGraph::open(const store::SectionSource& source, const VectorsMeta& meta) {
    CodeGraph graph;
    BRAID_TRY(graph.section_, source.section(kGraphSection));
    BRAID_TRY(const auto head, graph.section_.bytes(0, kGraphHead));
    store::ByteReader reader(head, kGraphSection);
    BRAID_TRY(const auto magic, reader.u32("the magic number"));
    if (magic != kGraphMagic) return reader.corrupt("this is not a graph");
    BRAID_TRY(const auto version, reader.u32("the version"));
    if (version != kGraphVersion) {
        return fail(ErrorCode::Unsupported, "a graph of format version " + std::to_string(version));
    }
    BRAID_TRY(graph.count_, reader.u64("the number of rows"));
    BRAID_TRY(const auto transform, reader.u64("the id of the transform"));
    BRAID_TRY(const auto degree, reader.u32("the degree"));
    BRAID_TRY(graph.entry_count_, reader.u32("the number of entries"));
    if (degree != kGraphDegree || graph.entry_count_ > kMostEntries) {
        return reader.corrupt("an impossible degree or number of entries");
    }
    if (graph.count_ != meta.count || transform != meta.transform_id) {
        return fail(ErrorCode::Conflict, "the graph was built for other vectors");
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
