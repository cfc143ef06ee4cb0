#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "braid/core/edit_automaton.hpp"
#include "braid/sparse/term_dictionary.hpp"

namespace braid::sparse {
namespace {

/// What all terms of a block begin with, as far as its own key and the next one tell.
class BlockBeginning {
public:
    BlockBeginning(std::uint64_t key, std::uint64_t next) noexcept {
        const std::uint64_t big_endian = __builtin_bswap64(key);
        std::memcpy(bytes_.data(), &big_endian, bytes_.size());
        const std::size_t shared = static_cast<std::size_t>(std::countl_zero(key ^ next)) / 8;
        // Keys of short terms are filled up with zeros.
        const auto* const end = std::find(bytes_.begin(), bytes_.begin() + shared, '\0');
        size_ = static_cast<std::size_t>(end - bytes_.begin());
    }
    std::string_view text() const noexcept { return {bytes_.data(), size_}; }

private:
    std::array<char, 8> bytes_{};
    std::size_t size_ = 0;
};

/// Whether two keys begin with the same bytes; all of them do with none.
bool same_beginning(std::uint64_t a, std::uint64_t b, std::size_t bytes) noexcept {
    return bytes == 0 || (a ^ b) >> (64 - 8 * bytes) == 0;
}

}  // namespace

Result<> TermDictionary::each_alike(std::string_view term, std::size_t distance,
                                    std::size_t exact_prefix, const AlikeVisitor& visitor) const {
    constexpr std::size_t npos = std::string_view::npos;
    if (terms_ == 0) return {};
    const std::string_view prefix = term.substr(0, exact_prefix);
    BRAID_TRY(const Arrays at, arrays());
    BRAID_TRY(std::uint32_t number, block_of(at, prefix));
    const auto key = [&](std::uint32_t place) { return load<std::uint64_t>(at.keys, place); };
    core::EditAutomaton automaton(term, distance);
    std::string before;  // what the automaton has read begins it
    for (; number < blocks(); ++number) {
        // Of the last block nothing is known.
        const std::uint64_t next = number + 1 < blocks() ? key(number + 1) : ~key(number);
        const BlockBeginning beginning(key(number), next);
        automaton.shrink(shared_bytes(before, beginning.text()));
        before = beginning.text();
        const std::string_view compared = prefix.substr(0, before.size());
        if (before.substr(0, compared.size()) > compared) return {};
        std::size_t hopeless = automaton.grow(before);
        if (hopeless != npos) {
            const std::uint64_t first = key(number);
            while (number + 2 < blocks() && same_beginning(first, key(number + 2), hopeless)) {
                ++number;
            }
            continue;
        }
        BRAID_TRY(TermBlockCursor cursor, block(at, number));
        for (bool first = true; cursor.next(); first = false) {
            const std::size_t shared = first ? before.size() : cursor.shared();
            if (hopeless != npos && shared >= hopeless) continue;
            automaton.shrink(shared);
            before = cursor.term();
            hopeless = automaton.grow(before);
            if (!before.starts_with(prefix)) {
                if (before > prefix) return {};
                continue;
            }
            if (hopeless != npos || automaton.distance() > distance) continue;
            if (!visitor(before, cursor.entry(), automaton.distance())) return {};
        }
        if (cursor.broken()) return corrupt_index("a block of terms cannot be read");
    }
    return {};
}

}  // namespace braid::sparse
