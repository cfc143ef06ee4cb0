#pragma once

#include <cstdint>
#include <span>

#include "braid/sparse/field_counts.hpp"

namespace braid::sparse {

/// Writes the terms of one row in increasing order of their numbers. A term that occurs once, in
/// the main field, takes only its distance from the previous one.
class ForwardWriter {
public:
    ForwardWriter(Bytes& out, std::uint32_t fields, std::uint32_t main_field) noexcept
        : out_(&out), fields_(fields), main_field_(main_field) {}

    void add(std::uint32_t term, const std::uint32_t* counts) {
        const bool plain = counts[main_field_] == 1 && total_of(counts, fields_) == 1;
        put_varint(*out_, static_cast<std::uint64_t>(term - next_) << 1 | (plain ? 0U : 1U));
        next_ = term + 1;
        if (!plain) put_counts(*out_, counts, fields_);
    }

private:
    Bytes* out_;
    std::uint32_t fields_;
    std::uint32_t main_field_;
    std::uint32_t next_ = 0;
};

/// Reads them back. Stops early, and says so, at bytes that no writer wrote.
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
        return plain_ || get_counts(at_, end_, fields_, counts_) || stop();
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
