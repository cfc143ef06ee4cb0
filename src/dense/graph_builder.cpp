#include "braid/dense/graph_builder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>

#include "braid/core/parallel.hpp"
#include "braid/dense/subspace.hpp"
#include "braid/kernels/dense.hpp"

namespace braid::dense {
namespace {

constexpr std::size_t kEntries = 256;
constexpr std::size_t kFirst = 2048;  // rows that are compared with each other, all pairs
constexpr std::size_t kPiece = 64;    // rows a thread takes at a time

/// The rotated vectors as bytes, for distances between rows.
class RowDistances {
public:
    Result<> load(const VectorsReader& reader, const BuildControl& control) {
        m_ = reader.transform()->code_dimensions();
        const std::uint64_t count = reader.size();
        bytes_.resize(count * m_);
        units_.resize(count);
        squares_.resize(count);
        BRAID_CHECK(reader.transform()->load());
        std::atomic<bool> failed = false;
        const std::uint64_t pieces = (count + kPiece - 1) / kPiece;
        core::run_computing(pieces, [&](std::size_t piece) {
            std::vector<float> row(reader.meta().dimension);
            const std::uint64_t end = std::min(count, (piece + 1) * kPiece);
            for (std::uint64_t i = piece * kPiece; i < end; ++i) {
                if (control.stop.stop_requested()) return;
                if (!load_row(reader, static_cast<std::uint32_t>(i), row)) failed = true;
            }
        });
        if (failed) return fail(ErrorCode::Corruption, "vectors could not be read for the graph");
        return {};
    }

    float squared(std::uint32_t a, std::uint32_t b) const noexcept {
        const std::int32_t product = kernels::dense_kernels().dot_i8(
            bytes_.data() + std::size_t{a} * m_, bytes_.data() + std::size_t{b} * m_, m_);
        return squares_[a] + squares_[b] - 2 * units_[a] * units_[b] * static_cast<float>(product);
    }

    /// The row as it would come as a query.
    void copy(std::uint32_t row, std::span<float> to) const noexcept {
        for (std::size_t i = 0; i < m_; ++i) {
            to[i] = units_[row] * static_cast<float>(bytes_[std::size_t{row} * m_ + i]);
        }
    }

private:
    bool load_row(const VectorsReader& reader, std::uint32_t row, std::span<float> scratch) {
        const auto norm = reader.vectors().norm(row);
        if (!reader.vectors().copy_row(row, scratch) || !norm) return false;
        std::array<float, kernels::kCodeDimensions> projected{};
        const bool cosine = reader.meta().metric == Metric::Cosine;
        reader.transform()->project(scratch.data(), cosine ? static_cast<float>(1 / *norm) : 1,
                                    true, projected.data());
        float largest = 0;
        for (std::size_t i = 0; i < m_; ++i) largest = std::max(largest, std::abs(projected[i]));
        if (!(largest < 1e30F)) return false;
        const float unit = largest > 1e-30F ? largest / 127 : 1;
        std::int8_t* bytes = bytes_.data() + std::size_t{row} * m_;
        for (std::size_t i = 0; i < m_; ++i) {
            bytes[i] = static_cast<std::int8_t>(std::lrint(projected[i] / unit));
        }
        units_[row] = unit;
        squares_[row] =
            unit * unit * static_cast<float>(kernels::dense_kernels().dot_i8(bytes, bytes, m_));
        return true;
    }

    std::size_t m_ = 0;
    std::vector<std::int8_t> bytes_;
    std::vector<float> units_;
    std::vector<float> squares_;
};

struct Near {
    float distance;
    std::uint32_t row;

    friend bool operator<(const Near& a, const Near& b) noexcept {
        return a.distance != b.distance ? a.distance < b.distance : a.row < b.row;
    }
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
          edges_(codes.count * kGraphDegree, kNoRow),
          order_(codes.count) {
        std::iota(order_.begin(), order_.end(), 0U);
        SeededNumbers numbers(options.seed);
        for (std::size_t i = order_.size(); i > 1; --i) {
            std::swap(order_[i - 1], order_[numbers.next() % i]);
        }
    }

    Result<> run(store::SectionSink& sink) {
        BRAID_CHECK(distances_.load(reader_, control_));
        const std::size_t all = order_.size();
        for (std::size_t done = 0; done < all;) {
            if (control_.stop.stop_requested()) {
                return fail(ErrorCode::Cancelled, "building the graph was stopped");
            }
            const std::size_t size = done == 0 ? kFirst : std::max<std::size_t>(done / 25, 256);
            const auto batch = std::span(order_).subspan(done, std::min(size, all - done));
            find_edges(batch, done);
            link_back(batch);
            done += batch.size();
            if (control_.progress) {
                control_.progress(static_cast<double>(done) / static_cast<double>(all));
            }
        }
        return write_graph(reader_.meta(), entries(all), edges_, sink);
    }

private:
    std::span<const std::uint32_t> entries(std::size_t done) const {
        return std::span(order_).first(std::min(kEntries, done));
    }
    std::span<std::uint32_t> list(std::uint32_t row) {
        return std::span(edges_).subspan(std::size_t{row} * kGraphDegree, kGraphDegree);
    }

    /// Candidates of the row, from the graph as it was before its batch, or from the first batch.
    std::vector<Near> candidates(std::uint32_t row, std::span<const std::uint32_t> batch,
                                 std::size_t done, GraphScratch& scratch) const {
        std::vector<Near> near;
        if (done == 0) {
            for (const std::uint32_t other : batch) {
                if (other != row) near.push_back({distances_.squared(row, other), other});
            }
            const std::size_t kept = std::min(near.size(), options_.beam);
            std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(kept),
                              near.end());
            near.resize(kept);
            return near;
        }
        std::array<float, kernels::kCodeDimensions> projected{};
        distances_.copy(row, projected);
        const auto query = prepare_row(*reader_.transform(), projected);
        if (!query) return near;
        const GraphView graph{.entries = entries(done), .edges = edges_, .count = codes_.count};
        for (const std::uint32_t other : walk(graph, codes_, *query, options_.beam, scratch)) {
            near.push_back({distances_.squared(row, other), other});
        }
        std::sort(near.begin(), near.end());
        return near;
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

    /// Keeps of the candidates, nearest first, those to which no kept one is much nearer.
    void prune(std::span<const Near> near, std::span<std::uint32_t> kept) const {
        std::size_t count = 0;
        for (const Near& candidate : near) {
            if (count == kept.size()) break;
            const bool needless = std::any_of(
                kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count),
                [&](std::uint32_t other) {
                    return slack_ * distances_.squared(candidate.row, other) < candidate.distance;
                });
            if (!needless) kept[count++] = candidate.row;
        }
        std::fill(kept.begin() + static_cast<std::ptrdiff_t>(count), kept.end(), kNoRow);
    }

    void in_pieces(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work) {
        core::run_computing((count + kPiece - 1) / kPiece, [&](std::size_t piece) {
            if (control_.stop.stop_requested()) return;
            work(piece * kPiece, std::min(count, (piece + 1) * kPiece));
        });
    }

    void find_edges(std::span<const std::uint32_t> batch, std::size_t done) {
        std::vector<std::array<std::uint32_t, kGraphDegree>> found(batch.size());
        in_pieces(batch.size(), [&](std::size_t begin, std::size_t end) {
            GraphScratch scratch;
            for (std::size_t i = begin; i < end; ++i) {
                prune(candidates(batch[i], batch, done, scratch), found[i]);
            }
        });
        for (std::size_t i = 0; i < batch.size(); ++i) {
            std::ranges::copy(found[i], list(batch[i]).begin());
        }
    }

    /// Gives each row that the batch has edges to an edge back.
    void link_back(std::span<const std::uint32_t> batch) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> back;  // to, from
        for (const std::uint32_t row : batch) {
            for (const std::uint32_t other : list(row)) {
                if (other == kNoRow) break;
                back.emplace_back(other, row);
            }
        }
        std::ranges::sort(back);
        std::vector<std::size_t> starts;
        for (std::size_t i = 0; i < back.size(); ++i) {
            if (i == 0 || back[i].first != back[i - 1].first) starts.push_back(i);
        }
        in_pieces(starts.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t s = begin; s < end; ++s) {
                const std::size_t stop = s + 1 < starts.size() ? starts[s + 1] : back.size();
                add_back(std::span(back).subspan(starts[s], stop - starts[s]));
            }
        });
    }

    void add_back(std::span<const std::pair<std::uint32_t, std::uint32_t>> back) {
        const std::uint32_t row = back.front().first;
        const auto edges = list(row);
        auto end = static_cast<std::size_t>(std::ranges::find(edges, kNoRow) - edges.begin());
        std::vector<std::uint32_t> all(edges.begin(),
                                       edges.begin() + static_cast<std::ptrdiff_t>(end));
        for (const auto& [to, from] : back) {
            if (std::ranges::find(all, from) == all.end()) all.push_back(from);
        }
        if (all.size() <= kGraphDegree) {
            std::ranges::copy(all, edges.begin());
            return;
        }
        std::vector<Near> near;
        near.reserve(all.size());
        for (const std::uint32_t other : all)
            near.push_back({distances_.squared(row, other), other});
        std::sort(near.begin(), near.end());
        prune(near, edges);
    }

    const VectorsReader& reader_;
    const CodeView& codes_;
    const GraphOptions& options_;
    const BuildControl& control_;
    float slack_;
    RowDistances distances_;
    std::vector<std::uint32_t> edges_;
    std::vector<std::uint32_t> order_;
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
