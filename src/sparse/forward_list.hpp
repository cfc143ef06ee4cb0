#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "braid/sparse/index_format.hpp"
#include "braid/sparse/varint.hpp"

namespace braid::sparse {

/// How often a term occurs in each field of a row.
using FieldCounts = std::array<std::uint32_t, kMaxFields>;

/// Writes the terms of one row in increasing order of their numbers. A term that occurs once, in
/// the main field, takes its distance from the one before and nothing else.
class ForwardWriter {
public:
    ForwardWriter(Bytes& out, std::uint32_t fields, std::uint32_t main_field) noexcept
        : out_(&out), fields_(fields), main_field_(main_field) {}

    void add(std::uint32_t term, const std::uint32_t* counts) {
        std::uint32_t total = 0;
        std::uint8_t mask = 0;
        for (std::uint32_t f = 0; f < fields_; ++f) {
            if (counts[f] == 0) continue;
            mask = static_cast<std::uint8_t>(mask | 1U << f);
            total += counts[f] > 1 ? 2U : 1U;
        }
        const bool plain = total == 1 && counts[main_field_] == 1;
        put_varint(*out_, static_cast<std::uint64_t>(term - next_) << 1 | (plain ? 0U : 1U));
        next_ = term + 1;
        if (plain) return;
        if (fields_ > 1) out_->push_back(mask);
        for (std::uint32_t f = 0; f < fields_; ++f) {
            if (counts[f] != 0) put_varint(*out_, counts[f]);
        }
    }

private:
    Bytes* out_;
    std::uint32_t fields_;
    std::uint32_t main_field_;
    std::uint32_t next_ = 0;
};

/// Reads them back. Ends early, and says so, at bytes that no writer wrote.
class ForwardCursor {
public:
    ForwardCursor(std::span<const std::uint8_t> bytes, std::uint32_t fields,
                  std::uint32_t main_field) noexcept
        : at_(bytes.data()),
          end_(bytes.data() + bytes.size()),
          fields_(fields),
          main_field_(main_field) {}

    bool next() noexcept {
        std::uint64_t value = 0;
        if (at_ == end_) return false;
        if (!get_varint(at_, end_, value)) return stop();
        const std::uint64_t term = next_ + (value >> 1);
        if (term >= 0xFFFFFFFF) return stop();
        term_ = static_cast<std::uint32_t>(term);
        next_ = term + 1;
        plain_ = (value & 1) == 0;
        return plain_ || read_counts();
    }

    std::uint32_t term() const noexcept { return term_; }
    std::uint32_t count(std::uint32_t field) const noexcept {
        if (plain_) return field == main_field_ ? 1 : 0;
        return counts_[field];
    }
    bool broken() const noexcept { return broken_; }

private:
    bool stop() noexcept {
        broken_ = true;
        at_ = end_;
        return false;
    }

    bool read_counts() noexcept {
        std::uint32_t mask = 1;
        if (fields_ > 1) {
            if (at_ == end_) return stop();
            mask = *at_++;
        }
        if (mask == 0 || mask >> fields_ != 0) return stop();
        counts_.fill(0);
        for (; mask != 0; mask &= mask - 1) {
            std::uint64_t count = 0;
            if (!get_varint(at_, end_, count) || count == 0 || count > 0xFFFFFFFF) return stop();
            counts_[static_cast<std::size_t>(std::countr_zero(mask))] =
                static_cast<std::uint32_t>(count);
        }
        return true;
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
    std::uint32_t fields_;
    std::uint32_t main_field_;
    std::uint64_t next_ = 0;
    std::uint32_t term_ = 0;
    bool plain_ = true;
    bool broken_ = false;
    FieldCounts counts_{};
};

}  // namespace braid::sparse
