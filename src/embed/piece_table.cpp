#include "braid/embed/piece_table.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "braid/core/utf8.hpp"

namespace braid::embed {
namespace {

/// FNV-1a, byte by byte, so that every prefix of a text is hashed along the way.
constexpr std::uint64_t kHashStart = 0xcbf29ce484222325U;

std::uint64_t hash_further(std::uint64_t hash, char byte) noexcept {
    return (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
}

/// The low bits choose a place; FNV mixes upwards only.
std::uint64_t finished(std::uint64_t hash) noexcept {
    return hash ^ (hash >> 32U);
}

constexpr std::size_t kHashedAtOnce = 64;

}  // namespace

PieceTable::PieceTable(std::size_t pieces, std::size_t bytes)
    : slots_(std::bit_ceil(std::max<std::size_t>(2 * pieces, 2))) {
    text_.reserve(bytes);
}

const PieceTable::Slot* PieceTable::find(std::string_view piece, std::uint64_t hash) const {
    for (std::size_t at = place(hash); slots_[at].id >= 0; at = place(at + 1)) {
        const Slot& slot = slots_[at];
        if (slot.hash == static_cast<std::uint32_t>(hash) &&
            std::string_view(text_).substr(slot.begin, slot.size) == piece) {
            return &slot;
        }
    }
    return nullptr;
}

bool PieceTable::insert(std::string_view piece, std::int32_t id) {
    std::uint64_t hash = kHashStart;
    for (const char byte : piece) hash = hash_further(hash, byte);
    hash = finished(hash);
    if (find(piece, hash) != nullptr) return false;
    std::size_t at = place(hash);
    while (slots_[at].id >= 0) at = place(at + 1);
    slots_[at] = {.begin = static_cast<std::uint32_t>(text_.size()),
                  .size = static_cast<std::uint32_t>(piece.size()),
                  .hash = static_cast<std::uint32_t>(hash),
                  .id = id};
    text_ += piece;
    longest_ = std::max(longest_, piece.size());
    return true;
}

PieceTable::Match PieceTable::longest(std::string_view text) const {
    const std::size_t most = std::min(text.size(), longest_);
    std::array<std::uint64_t, kHashedAtOnce> few;
    std::vector<std::uint64_t> many;
    std::uint64_t* hashes = few.data();
    if (most > few.size()) {
        many.resize(most);
        hashes = many.data();
    }
    std::uint64_t hash = kHashStart;
    for (std::size_t i = 0; i < most; ++i) {
        hash = hash_further(hash, text[i]);
        hashes[i] = finished(hash);
    }
    for (std::size_t size = most; size > 0; --size) {
        if (size < text.size() && core::continues_character(text[size])) continue;
        if (const Slot* const found = find(text.substr(0, size), hashes[size - 1])) {
            return {.id = found->id, .size = size};
        }
    }
    return {};
}

}  // namespace braid::embed
