#include "braid/dense/graph_builder.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>

#include "braid/core/parallel.hpp"
#include "braid/dense/row_distances.hpp"
#include "braid/dense/subspace.hpp"
#include "braid/kernels/dense.hpp"
#include "braid/store/scratch.hpp"

namespace braid::dense {
namespace {

constexpr std::size_t kEntries = 256;
constexpr std::size_t kFirst = 2048;         // rows compared with each other, all pairs
constexpr std::size_t kRowsAtOnce = 64;      // rows a thread takes at a time
constexpr std::size_t kLargestBatch = 8192;  // the reverse edges of a batch are listed in memory
// Places in a list while the graph grows: some to spare, so that lists are pruned only now and
// then.
constexpr std::size_t kRoom = 64;

/// Hands out memory as long as the options allow, and scratch files after that.
class ScratchSource {
public:
    explicit ScratchSource(const GraphOptions& options)
        : directory_(options.scratch), left_(options.memory_bytes) {}

    Result<std::unique_ptr<store::Scratch>> take(std::uint64_t size) {
        if (size > left_ && directory_ != nullptr) return directory_->scratch(size);
        left_ -= std::min(size, left_);
        return store::scratch_in_memory(size);
    }

private:
    store::Directory* directory_;
    std::uint64_t left_;
};

/// Memory reused by one row after another.
struct BuildScratch {
    GraphScratch walk;
    std::vector<Near> near;
    std::vector<std::uint32_t> rows;
    RowDistances::Scratch pruning;
};

class Builder {
public:
    Builder(const VectorsReader& reader, const CodeView& codes, const GraphOptions& options,
            const BuildControl& control)
        : reader_(reader),
          codes_(codes),
          options_(options),
          control_(control),
          slack_(static_cast<float>(options.slack * options.slack)),
          order_(codes.count),
          places_(codes.count) {
        std::iota(order_.begin(), order_.end(), 0U);
        SeededNumbers numbers(options.seed);
        for (std::size_t i = order_.size(); i > 1; --i) {
            std::swap(order_[i - 1], order_[numbers.next() % i]);
        }
    }

    Result<> run(store::SectionSink& sink) {
        ScratchSource memory(options_);
        // Allocated first, because edges are written all the time.
        BRAID_TRY(const auto space, memory.take(codes_.count * kRoom * sizeof(std::uint32_t)));
        edges_ = {reinterpret_cast<std::uint32_t*>(space->bytes().data()), codes_.count * kRoom};
        std::ranges::fill(edges_, kNoRow);
        BRAID_TRY(auto room, memory.take(RowDistances::bytes_for(reader_)));
        BRAID_CHECK(distances_.load(reader_, std::move(room), control_));
        const std::size_t all = order_.size();
        for (std::size_t done = 0; done < all;) {
            BRAID_CHECK(go_on());
            const std::size_t size =
                done == 0 ? kFirst : std::clamp<std::size_t>(done / 25, 256, kLargestBatch);
            const auto batch = std::span(order_).subspan(done, std::min(size, all - done));
            find_places(batch);
            find_edges(batch, done);
            link_back(batch);
            done += batch.size();
            if (control_.progress) {
                control_.progress(static_cast<double>(done) / static_cast<double>(all));
            }
        }
        close_up();
        BRAID_CHECK(go_on());
        BRAID_CHECK(space->intact());
        BRAID_CHECK(distances_.intact());
        return write_graph(reader_.meta(), entries(all), edges_, sink);
    }

private:
    Result<> go_on() const {
        if (!control_.stop.stop_requested()) return {};
        return fail(ErrorCode::Cancelled, "building the graph was stopped");
    }
    std::span<const std::uint32_t> entries(std::size_t done) const {
        return std::span(order_).first(std::min(kEntries, done));
    }
    std::span<std::uint32_t> list(std::uint32_t row) {
        return std::span(edges_).subspan(std::size_t{row} * kRoom, kRoom);
    }

    /// Which two entries a row is nearest to. Rows of one place meet much the same lists, codes and
    /// distances: where they are worked at one after the other, these are still in the cache.
    void find_places(std::span<const std::uint32_t> batch) {
        const auto places = entries(order_.size());
        in_pieces(batch.size(), [&](std::size_t begin, std::size_t end) {
            BuildScratch scratch;
            for (std::size_t i = begin; i < end; ++i) {
                scratch.near.clear();
                distances_.measure(batch[i], places, scratch.near);
                const auto nearest = std::min_element(scratch.near.begin(), scratch.near.end());
                const auto at = nearest - scratch.near.begin();
                nearest->distance = std::numeric_limits<float>::infinity();
                const auto next = std::min_element(scratch.near.begin(), scratch.near.end());
                places_[batch[i]] =
                    static_cast<std::uint32_t>(at << 16 | (next - scratch.near.begin()));
            }
        });
    }

    /// Candidates for the row, from the graph as it was before its batch, or from the first batch.
    void find_candidates(std::uint32_t row, std::span<const std::uint32_t> batch, std::size_t done,
                         BuildScratch& scratch) const {
        std::vector<Near>& near = scratch.near;
        near.clear();
        if (done == 0) {
            distances_.measure(row, batch, near);
            std::erase_if(near, [&](const Near& other) { return other.row == row; });
            const std::size_t kept = std::min(near.size(), options_.beam);
            std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(kept),
                              near.end());
            near.resize(kept);
            return;
        }
        std::array<float, kernels::kCodeDimensions> projected{};
        distances_.copy(row, projected);
        const auto query = prepare_row(*reader_.transform(), projected);
        if (!query) return;
        const GraphView graph{
            .entries = entries(done), .edges = edges_, .count = codes_.count, .degree = kRoom};
        distances_.measure(row, walk(graph, codes_, *query, {.beam = options_.beam}, scratch.walk),
                           near);
        std::sort(near.begin(), near.end());
    }

    static std::optional<CodeQuery> prepare_row(const Transform& transform,
                                                std::span<float> projected) {
        const std::size_t m = transform.code_dimensions();
        if (transform.metric() != Metric::Euclidean) {
            const auto mean = transform.projected_mean();
            for (std::size_t i = 0; i < m; ++i) projected[i] += mean[i];
        }
        return prepare_projected(transform, projected.first(m));
    }

    /// Of the candidates, nearest first, keeps those to which no kept one is much nearer.
    void prune(BuildScratch& scratch, std::span<std::uint32_t> kept) const {
        const std::size_t count = distances_.prune(scratch.near, slack_, scratch.pruning, kept);
        std::ranges::fill(kept.subspan(count), kNoRow);
    }

    void in_pieces(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work) {
        core::run_computing((count + kRowsAtOnce - 1) / kRowsAtOnce, [&](std::size_t piece) {
            if (control_.stop.stop_requested()) return;
            work(piece * kRowsAtOnce, std::min(count, (piece + 1) * kRowsAtOnce));
        });
    }

    void find_edges(std::span<const std::uint32_t> batch, std::size_t done) {
        std::vector<std::array<std::uint32_t, kGraphDegree>> found(batch.size());
        std::vector<std::uint32_t> order(batch.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return places_[batch[i]]; });
        in_pieces(batch.size(), [&](std::size_t begin, std::size_t end) {
            BuildScratch scratch;
            for (const std::uint32_t i : std::span(order).subspan(begin, end - begin)) {
                find_candidates(batch[i], batch, done, scratch);
                prune(scratch, found[i]);
            }
        });
        for (std::size_t i = 0; i < batch.size(); ++i) {
            std::ranges::copy(found[i], list(batch[i]).begin());
        }
    }

    /// Adds the reverse of each edge of the batch.
    void link_back(std::span<const std::uint32_t> batch) {
        struct Edge {
            std::uint32_t place;  // of the row that it goes to
            std::uint32_t to;
            std::uint32_t from;
        };
        std::vector<Edge> edges;
        for (const std::uint32_t row : batch) {
            for (const std::uint32_t other : list(row)) {
                if (other == kNoRow) break;
                edges.push_back({places_[other], other, row});
            }
        }
        std::ranges::stable_sort(edges, [](const Edge& a, const Edge& b) {
            return a.place != b.place ? a.place < b.place : a.to < b.to;
        });
        std::vector<std::size_t> starts;
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if (i == 0 || edges[i].to != edges[i - 1].to) starts.push_back(i);
        }
        starts.push_back(edges.size());
        in_pieces(starts.size() - 1, [&](std::size_t begin, std::size_t end) {
            BuildScratch scratch;
            std::vector<std::uint32_t> from;
            for (std::size_t i = begin; i < end; ++i) {
                from.clear();
                for (std::size_t e = starts[i]; e < starts[i + 1]; ++e) {
                    from.push_back(edges[e].from);
                }
                add_back(edges[starts[i]].to, from, scratch);
            }
        });
    }

    void add_back(std::uint32_t row, std::span<const std::uint32_t> back, BuildScratch& scratch) {
        const auto edges = list(row);
        const auto end = std::ranges::find(edges, kNoRow);
        std::vector<std::uint32_t>& all = scratch.rows;
        all.assign(edges.begin(), end);
        for (const std::uint32_t from : back) {
            if (std::find(edges.begin(), end, from) == end) all.push_back(from);
        }
        if (all.size() <= kRoom) {
            std::ranges::copy(all, edges.begin());
        } else {
            prune_all(row, scratch);
        }
    }

    /// Prunes scratch.rows to what fits the row's list in the finished graph.
    void prune_all(std::uint32_t row, BuildScratch& scratch) {
        scratch.near.clear();
        distances_.measure(row, scratch.rows, scratch.near);
        std::sort(scratch.near.begin(), scratch.near.end());
        prune(scratch, list(row).first(kGraphDegree));
        std::ranges::fill(list(row).subspan(kGraphDegree), kNoRow);
    }

    /// Cuts every list to the length that is written.
    void close_up() {
        in_pieces(codes_.count, [&](std::size_t begin, std::size_t end) {
            BuildScratch scratch;
            for (auto row = static_cast<std::uint32_t>(begin); row < end; ++row) {
                const auto edges = list(row);
                if (edges[kGraphDegree] == kNoRow) continue;
                scratch.rows.assign(edges.begin(), std::ranges::find(edges, kNoRow));
                prune_all(row, scratch);
            }
        });
        for (std::size_t row = 1; row < codes_.count; ++row) {
            std::copy_n(edges_.begin() + static_cast<std::ptrdiff_t>(row * kRoom), kGraphDegree,
                        edges_.begin() + static_cast<std::ptrdiff_t>(row * kGraphDegree));
        }
        edges_ = edges_.first(codes_.count * kGraphDegree);
    }

    const VectorsReader& reader_;
    const CodeView& codes_;
    const GraphOptions& options_;
    const BuildControl& control_;
    float slack_;
    RowDistances distances_;
    std::span<std::uint32_t> edges_;  // kRoom of each row, at the end kGraphDegree
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> places_;  // of each row that has one, see find_places
};

}  // namespace

Result<> build_graph(const VectorsReader& reader, store::SectionSink& sink,
                     const GraphOptions& options, const BuildControl& control) {
    if (reader.transform() == nullptr || reader.size() >= (std::uint64_t{1} << 31)) {
        return invalid_argument("a graph needs vectors with codes, and fewer than 2^31");
    }
    BRAID_TRY(const CodeView codes, reader.codes());
    return Builder(reader, codes, options, control).run(sink);
}

}  // namespace braid::dense
