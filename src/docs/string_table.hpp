#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/sections.hpp"

namespace braid::docs {

/// Strings in ascending byte order, each once, numbered from 0; each is stored as what it does not
/// share with the previous one (docs/formats/documents.md).
class StringTableBuilder {
public:
    /// InvalidArgument if it does not come after the last one.
    Result<> add(std::string_view text);
    std::uint64_t size() const noexcept { return count_; }

    void write(store::ByteWriter& out) const;
    Result<> write(store::SectionSink& sink, std::string_view name) const;

private:
    std::uint64_t count_ = 0;
    std::vector<std::uint64_t> offsets_;  // of each group of strings, in data_
    store::ByteWriter data_;
    std::string last_;
};

/// The same for strings too many to hold: all are shown to `measure`, then all again to `write`.
/// Holds half a byte per string.
class StringTableWriter {
public:
    /// InvalidArgument if it does not come after the last one.
    Result<> measure(std::string_view text);
    std::uint64_t size() const noexcept { return measured_; }
    /// Of the whole table.
    std::uint64_t bytes() const noexcept;

    /// Appends to the current section: the head before the first string, `text`, and what is left
    /// after the last.
    Result<> begin(store::SectionSink& sink);
    Result<> write(store::SectionSink& sink, std::string_view text);
    Result<> finish(store::SectionSink& sink);

private:
    std::uint64_t measured_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t data_bytes_ = 0;
    std::vector<std::uint64_t> offsets_;
    std::string last_;
    store::ByteWriter buffer_;
};

/// Reads them back. Borrows from the section's source. Safe for concurrent use.
class StringTable {
public:
    StringTable() = default;
    static Result<StringTable> open(const store::Section& section);

    std::uint64_t size() const noexcept { return count_; }
    /// Corruption if there is no such string, or its bytes are damaged.
    Result<std::string> at(std::uint64_t index) const;
    /// Prefetches many strings that are read next, in two rounds: their places, then the strings.
    void prefetch_place(std::uint64_t index) const noexcept;
    void prefetch(std::uint64_t index) const noexcept;
    /// The first string that is not less than `text`; size() if there is none.
    Result<std::uint64_t> lower_bound(std::string_view text) const;
    /// Its number, if it is there.
    Result<std::optional<std::uint64_t>> find(std::string_view text) const;

    /// Calls `visit(number, text)` for each string from `first` to before `last`, in order. `visit`
    /// returns a Result<>; a failure ends the walk.
    template <class Visit>
    Result<> each(std::uint64_t first, std::uint64_t last, const Visit& visit) const {
        Walk walk;
        for (std::uint64_t i = first; i < last; ++i) {
            BRAID_CHECK(step(walk, i));
            BRAID_CHECK(visit(i, std::string_view(walk.text)));
        }
        return {};
    }

private:
    friend class StringStream;

    struct Walk {
        std::uint64_t next = ~std::uint64_t{0};  // the string that `rest` begins with
        store::ByteReader rest{{}};
        std::string text;
    };

    /// Makes `text` string number `index`; cheap if that is the one after the previous.
    Result<> step(Walk& walk, std::uint64_t index) const;
    Result<store::ByteReader> group(std::uint64_t number) const;
    /// Where lower_bound() is, and whether the string is there.
    struct Bound {
        std::uint64_t number = 0;
        bool equal = false;
    };
    Result<Bound> bound_of(std::string_view text) const;
    Result<bool> begins_at_most(std::uint64_t number, std::string_view text) const;

    store::Section offsets_;
    store::Section data_;
    std::uint64_t count_ = 0;
};

/// The strings of a table one by one, in order. The table must outlive it.
class StringStream {
public:
    explicit StringStream(const StringTable& table) noexcept : table_(&table) {}

    /// False at the end.
    Result<bool> next() {
        if (next_ == table_->size()) return false;
        BRAID_CHECK(table_->step(walk_, next_++));
        return true;
    }
    /// The current string, and its number.
    std::string_view text() const noexcept { return walk_.text; }
    std::uint64_t number() const noexcept { return next_ - 1; }

private:
    const StringTable* table_;
    StringTable::Walk walk_;
    std::uint64_t next_ = 0;
};

}  // namespace braid::docs
