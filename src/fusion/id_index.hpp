#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace braid::fusion {

/// Finds things by their ids: open addressing, for one allocation instead of one for each. It keeps
/// their numbers; what they are, and their ids, is the caller's.
class IdIndex {
public:
    static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

    /// For no more than so many.
    explicit IdIndex(std::size_t most)
        : slots_(std::bit_ceil(2 * most + 1)), mask_(slots_.size() - 1) {}

    /// The number of the thing with this id; `fresh` if there was none, which it then has.
    /// `id_of(number)` gives the ids of those that were added.
    template <class IdOf>
    std::uint32_t add(std::string_view id, std::uint32_t fresh, const IdOf& id_of) {
        const std::size_t hash = std::hash<std::string_view>{}(id);
        Slot& slot = slot_of(id, hash, id_of);
        if (slot.number == kNone) slot = {tag_of(hash), fresh};
        return slot.number;
    }
    /// kNone if there is none.
    template <class IdOf>
    std::uint32_t find(std::string_view id, const IdOf& id_of) {
        return slot_of(id, std::hash<std::string_view>{}(id), id_of).number;
    }

private:
    struct Slot {
        std::uint32_t tag = 0;  // of the hash
        std::uint32_t number = kNone;
    };

    static std::uint32_t tag_of(std::size_t hash) noexcept {
        return static_cast<std::uint32_t>(hash >> 32U);
    }
    /// Where it is, or would be put.
    template <class IdOf>
    Slot& slot_of(std::string_view id, std::size_t hash, const IdOf& id_of) {
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.number == kNone) return slot;
            if (slot.tag == tag_of(hash) && id_of(slot.number) == id) return slot;
        }
    }

    std::vector<Slot> slots_;
    std::size_t mask_;
};

}  // namespace braid::fusion
