#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/sparse/field_counts.hpp"
#include "braid/store/sections.hpp"

namespace braid::sparse {

/// What a dictionary depends on of its index.
struct TermFormat {
    std::uint32_t version = kListsVersion;
    std::uint32_t fields = 1;
};

/// What the dictionary knows of one term.
struct TermEntry {
    std::uint32_t id = 0;  // version 3: 0 for the most frequent; version 4: in byte order
    std::uint32_t df = 0;  // rows that hold it
    /// For a term with one row: that row, and how often it has the term.
    std::uint32_t row = 0;
    std::uint32_t tf = 0;
    /// The same by field, as get_counts() reads it, in version 4; empty: once, in the main field.
    std::span<const std::uint8_t> counts;
    /// For any other: where its run or list lies in the postings section.
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

/// The first eight bytes as a number that sorts the same way.
inline std::uint64_t leading_bytes(std::string_view term) noexcept {
    std::uint64_t key = 0;
    if (term.empty()) return key;
    std::memcpy(&key, term.data(), std::min<std::size_t>(8, term.size()));
    return __builtin_bswap64(key);
}

/// How many bytes two texts begin with in common.
inline std::size_t shared_bytes(std::string_view a, std::string_view b) noexcept {
    const auto [in_a, in_b] = std::ranges::mismatch(a, b);
    return static_cast<std::size_t>(in_a - a.begin());
}

/// Collects terms in byte order, and writes them in blocks that share prefixes.
class TermDictionaryWriter {
public:
    explicit TermDictionaryWriter(const TermFormat& format) : format_(format) {}

    /// `entry.offset` is not stored: runs and lists lie one after another, lists at multiples of 4.
    /// Nor are ids in version 4, or those of single-row terms in version 3: they must be
    /// consecutive.
    void add(std::string_view term, const TermEntry& entry);
    Result<> finish(store::SectionSink& sink);

private:
    void put_single(const TermEntry& entry);

    TermFormat format_;
    Bytes text_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint64_t> text_offsets_;
    std::vector<std::uint64_t> posting_offsets_;
    std::vector<std::uint32_t> singles_before_;  // terms with one row, per block
    std::uint32_t singles_ = 0;
    std::uint32_t first_single_ = 0;  // the id of the first of them
    std::string last_;
    std::uint64_t posting_end_ = 0;
    std::uint32_t terms_ = 0;
};

/// Walks the entries of one block. A term stays valid until the next call.
class TermBlockCursor {
public:
    /// Where its postings begin, and the id of its first term (version 3: of its first term with
    /// one row).
    struct Begin {
        std::uint64_t postings = 0;
        std::uint32_t id = 0;
    };
    TermBlockCursor(std::span<const std::uint8_t> text, std::uint32_t terms, const Begin& begin,
                    const TermFormat& format) noexcept
        : format_(format),
          at_(text.data()),
          end_(text.data() + text.size()),
          left_(terms),
          posting_offset_(begin.postings),
          next_id_(begin.id) {}

    /// False at the end of the block, or where it is broken.
    bool next() noexcept;
    /// Moves to the entry of a term without spelling out the others: call it first, and only
    /// entry() afterwards. False if the block does not have it, or is broken.
    bool seek(std::string_view term) noexcept;
    std::string_view term() const noexcept { return {term_.data(), size_}; }
    /// Bytes this term shares with the previous one.
    std::size_t shared() const noexcept { return shared_; }
    const TermEntry& entry() const noexcept { return entry_; }
    bool broken() const noexcept { return broken_; }

private:
    bool read_place() noexcept;
    bool read_single() noexcept;
    bool stop() noexcept {
        broken_ = true;
        left_ = 0;
        return false;
    }

    TermFormat format_;
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    std::uint32_t left_;
    std::uint64_t posting_offset_;
    std::uint32_t next_id_;
    std::size_t size_ = 0;
    std::size_t shared_ = 0;
    bool broken_ = false;
    TermEntry entry_;
    std::array<char, 2 * (kMaxIndexTermBytes + 1)> term_;  // not filled: written before it is read
};

/// How many insertions, deletions and replacements of characters turn one term into the other;
/// anything above `most` is reported as most + 1.
std::uint32_t term_distance(std::string_view a, std::string_view b, std::uint32_t most);

/// Finds terms: exactly, by prefix, by edit distance. Safe for concurrent use.
class TermDictionary {
public:
    /// Checks sizes only.
    static Result<TermDictionary> open(const store::SectionSource& source, std::uint32_t terms,
                                       const TermFormat& format);

    std::uint32_t terms() const noexcept { return terms_; }
    Result<std::optional<TermEntry>> find(std::string_view term) const;

    /// In byte order; `visit` returns false to stop.
    using Visitor = std::function<bool(std::string_view term, const TermEntry& entry)>;
    Result<> each(const Visitor& visitor) const;
    Result<> each_with_prefix(std::string_view prefix, const Visitor& visitor) const;
    using NearVisitor =
        std::function<bool(std::string_view term, const TermEntry& entry, std::size_t distance)>;
    /// The terms within `distance` insertions, deletions and replacements of characters of `term`,
    /// with their distance. Reads only blocks that may hold one.
    Result<> each_near(std::string_view term, std::uint32_t distance,
                       const NearVisitor& visitor) const;
    /// The same for typing errors: counted in bytes, as core::edit_distance does, so a swap is one
    /// error; and only terms that share the first `exact_prefix` bytes. Requires what EditAutomaton
    /// does.
    Result<> each_alike(std::string_view term, std::size_t distance, std::size_t exact_prefix,
                        const NearVisitor& visitor) const;

private:
    friend class TermStream;
    /// The index of the blocks.
    struct Arrays {
        const std::uint8_t* keys = nullptr;
        const std::uint8_t* text_offsets = nullptr;
        const std::uint8_t* posting_offsets = nullptr;
        const std::uint8_t* singles = nullptr;  // of version 3
        bool narrow = false;                    // offsets have 4 bytes

        std::uint64_t text_offset(std::uint32_t number) const noexcept {
            return narrow ? load<std::uint32_t>(text_offsets, number)
                          : load<std::uint64_t>(text_offsets, number);
        }
        TermBlockCursor::Begin begin(std::uint32_t number) const noexcept {
            return {
                narrow ? load<std::uint32_t>(posting_offsets, number)
                       : load<std::uint64_t>(posting_offsets, number),
                singles == nullptr ? number * kBlockTerms : load<std::uint32_t>(singles, number)};
        }
    };
    std::uint32_t blocks() const noexcept { return (terms_ + kBlockTerms - 1) / kBlockTerms; }
    Result<Arrays> arrays() const;
    Result<TermBlockCursor> block(const Arrays& arrays, std::uint32_t number) const;
    Result<std::string> first_term(const Arrays& arrays, std::uint32_t number) const;
    /// Reads terms in byte order with `distances`, which remembers what it computed for their
    /// common prefixes; skips blocks that the common prefix of their terms rules out.
    template <class Distances>
    Result<> walk_near(Distances distances, std::size_t most, std::string_view prefix,
                       const NearVisitor& visitor) const;
    /// The last block whose first term is not after `term`, or the first block.
    Result<std::uint32_t> block_of(const Arrays& arrays, std::string_view term) const;

    store::Section text_;
    store::Section index_;
    std::uint32_t terms_ = 0;
    TermFormat format_;
};

/// The terms of a dictionary one by one, in byte order. The dictionary must outlive it.
class TermStream {
public:
    explicit TermStream(const TermDictionary& dictionary) noexcept : dictionary_(&dictionary) {}

    /// False at the end.
    Result<bool> next();
    std::string_view term() const noexcept { return cursor_.term(); }
    const TermEntry& entry() const noexcept { return cursor_.entry(); }

private:
    const TermDictionary* dictionary_;
    std::uint32_t block_ = 0;
    TermBlockCursor cursor_{{}, 0, {}, {}};
};

}  // namespace braid::sparse
