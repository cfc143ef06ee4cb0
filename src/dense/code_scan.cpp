#include "braid/dense/code_scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

namespace braid::dense {
namespace {

constexpr std::size_t kSampleBlocks = 64;
// With fewer allowed rows per block than this, looking at their whole codes is cheaper.
constexpr std::uint64_t kSparseBlock = 5;

void append_rows(std::uint64_t mask, std::size_t block, std::vector<std::uint32_t>& rows) {
    for (; mask != 0; mask &= mask - 1) {
        rows.push_back(static_cast<std::uint32_t>(block * kernels::kBlockVectors) +
                       static_cast<std::uint32_t>(std::countr_zero(mask)));
    }
}

}  // namespace

std::uint64_t count_allowed(Allowed allowed, std::uint64_t count) noexcept {
    if (allowed.empty()) return count;
    const std::uint64_t full = std::min<std::uint64_t>(allowed.size(), count / 64);
    std::uint64_t total = kernels::dense_kernels().count_bits(allowed.data(), full);
    if (full < allowed.size() && count % 64 != 0) {
        const std::uint64_t rest = (std::uint64_t{1} << count % 64) - 1;
        total += static_cast<std::uint64_t>(std::popcount(allowed[full] & rest));
    }
    return total;
}

std::uint64_t CodeView::present(std::size_t block, Allowed allowed) const noexcept {
    const std::uint64_t first = block * kernels::kBlockVectors;
    std::uint64_t mask = ~std::uint64_t{0};
    if (count - first < kernels::kBlockVectors) mask = (std::uint64_t{1} << (count - first)) - 1;
    if (!allowed.empty()) mask &= block < allowed.size() ? allowed[block] : 0;
    return mask;
}

std::vector<std::uint32_t> CodeScan::all_allowed() const {
    std::vector<std::uint32_t> rows;
    rows.reserve(allowed_count_);
    for (std::size_t b = 0; b < codes_.block_count(); ++b) {
        append_rows(codes_.present(b, allowed_), b, rows);
    }
    return rows;
}

float estimate_in(std::uint64_t key) noexcept {
    const auto bits = static_cast<std::uint32_t>(key >> 32);
    return std::bit_cast<float>((bits & 0x8000'0000U) != 0 ? bits & 0x7fff'ffffU : ~bits);
}

Candidates CodeScan::candidates(const ScanDepth& depth) const {
    return best_by_lines(survivors(depth.survivors), depth.rescored);
}

std::vector<std::uint32_t> CodeScan::survivors(std::size_t wanted) const {
    constexpr std::size_t kFewBlocks = 2 * kSampleBlocks;
    if (allowed_count_ <= wanted) return all_allowed();
    std::vector<std::uint32_t> blocks;
    blocks.reserve(codes_.block_count());
    for (std::size_t b = 0; b < codes_.block_count(); ++b) {
        if (codes_.present(b, allowed_) != 0) blocks.push_back(static_cast<std::uint32_t>(b));
    }
    if (allowed_count_ < kSparseBlock * blocks.size()) return all_allowed();
    if (blocks.size() > kFewBlocks) {
        // Slightly more than wanted, so that chance rarely yields far too few.
        const std::int16_t threshold = sampled_threshold(blocks, wanted + wanted / 4);
        const std::size_t too_many = 4 * wanted + 1024;
        std::vector<std::uint32_t> found = scan(blocks, threshold, too_many);
        if (found.size() >= wanted * 3 / 5 && found.size() < too_many) return found;
    }
    return exact_survivors(blocks, wanted);
}

std::int16_t CodeScan::sampled_threshold(std::span<const std::uint32_t> blocks,
                                         std::size_t wanted) const {
    constexpr int kShift = 4;
    std::array<std::uint16_t, std::size_t{1} << (16 - kShift)> histogram{};
    alignas(64) std::array<std::int16_t, kernels::kBlockVectors> estimates;
    std::size_t sampled = 0;
    for (std::size_t i = 0; i < kSampleBlocks; ++i) {
        const std::size_t block = blocks[i * blocks.size() / kSampleBlocks];
        const std::uint64_t present = codes_.present(block, allowed_);
        kernels::dense_kernels().block_estimates(
            query_.block, codes_.blocks + block * codes_.block_stride(), estimates.data());
        for (std::uint64_t rest = present; rest != 0; rest &= rest - 1) {
            const int estimate = estimates[static_cast<std::size_t>(std::countr_zero(rest))];
            ++histogram[static_cast<std::size_t>(estimate + 32768) >> kShift];
        }
        sampled += static_cast<std::size_t>(std::popcount(present));
    }
    const std::size_t rank = wanted * sampled / std::max<std::uint64_t>(allowed_count_, 1) + 1;
    std::size_t bin = histogram.size() - 1;
    for (std::size_t seen = histogram[bin]; seen < rank && bin > 0;) seen += histogram[--bin];
    return static_cast<std::int16_t>((static_cast<int>(bin) << kShift) - 32768);
}

std::vector<std::uint32_t> CodeScan::scan(std::span<const std::uint32_t> blocks,
                                          std::int16_t threshold, std::size_t enough) const {
    constexpr std::size_t kRun = 64;
    std::array<std::uint64_t, kRun> masks;
    std::vector<std::uint32_t> rows;
    rows.reserve(1024);
    for (std::size_t i = 0; i < blocks.size() && rows.size() < enough;) {
        std::size_t run = 1;
        while (run < kRun && i + run < blocks.size() && blocks[i + run] == blocks[i] + run) ++run;
        kernels::dense_kernels().scan_blocks(query_.block,
                                             codes_.blocks + blocks[i] * codes_.block_stride(), run,
                                             threshold, masks.data());
        for (std::size_t j = 0; j < run; ++j) {
            if (masks[j] == 0) continue;
            append_rows(masks[j] & codes_.present(blocks[i] + j, allowed_), blocks[i] + j, rows);
        }
        i += run;
    }
    return rows;
}

std::vector<std::uint32_t> CodeScan::exact_survivors(std::span<const std::uint32_t> blocks,
                                                     std::size_t wanted) const {
    std::vector<std::int16_t> estimates(blocks.size() * kernels::kBlockVectors);
    std::vector<std::uint32_t> histogram(1U << 16);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        std::int16_t* out = estimates.data() + i * kernels::kBlockVectors;
        kernels::dense_kernels().block_estimates(
            query_.block, codes_.blocks + blocks[i] * codes_.block_stride(), out);
        for (std::uint64_t rest = codes_.present(blocks[i], allowed_); rest != 0;
             rest &= rest - 1) {
            ++histogram[static_cast<std::size_t>(out[std::countr_zero(rest)] + 32768)];
        }
    }
    std::size_t bin = histogram.size() - 1;
    std::size_t above = 0;
    while (bin > 0 && above + histogram[bin] < wanted) above += histogram[bin--];
    std::size_t equals = wanted - above;  // rows with the estimate at the border
    std::vector<std::uint32_t> rows;
    rows.reserve(wanted);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const std::int16_t* out = estimates.data() + i * kernels::kBlockVectors;
        std::uint64_t chosen = 0;
        for (std::uint64_t rest = codes_.present(blocks[i], allowed_); rest != 0;
             rest &= rest - 1) {
            const auto place = static_cast<std::size_t>(out[std::countr_zero(rest)] + 32768);
            if (place < bin || (place == bin && equals == 0)) continue;
            if (place == bin) --equals;
            chosen |= rest & -rest;
        }
        append_rows(chosen, blocks[i], rows);
    }
    return rows;
}

Candidates CodeScan::best_by_lines(std::span<const std::uint32_t> rows, std::size_t count) const {
    std::vector<std::uint64_t> keys(rows.size());  // ties go to the smaller row
    kernels::dense_kernels().rank_lines(query_.line, codes_.lines, rows.data(), rows.size(), 0,
                                        keys.data());
    if (count < keys.size()) {
        std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count),
                         keys.end(), std::greater<>());
        keys.resize(count);
    }
    std::ranges::sort(keys, std::greater<>());
    Candidates best;
    best.rows.resize(keys.size());
    best.estimates.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        best.rows[i] = ~static_cast<std::uint32_t>(keys[i]);
        best.estimates[i] = estimate_in(keys[i]);
    }
    return best;
}

}  // namespace braid::dense
