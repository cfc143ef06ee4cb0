#include "braid/engine/context_pieces.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace braid::engine {
namespace {

constexpr std::size_t kMinOverlap = 20;    // bytes; shorter ones may be chance
constexpr std::size_t kMaxOverlap = 4096;  // bytes
constexpr std::size_t kSomeNumber = 100;   // of a passage, where its own is not known yet

std::string text_of(const Object& metadata, std::string_view key) {
    const Value* const value = metadata.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

std::string source_of(const Chunk& chunk) {
    for (const std::string_view key : {"source", "url"}) {
        std::string text = text_of(chunk.metadata, key);
        if (!text.empty()) return text;
    }
    return chunk.document_id;
}

}  // namespace

DocumentKey document_of(const Piece& piece) {
    return {piece.hit->collection, piece.hit->namespace_, piece.chunk.document_id};
}

std::int64_t place_of(const Piece& piece) {
    return piece.chunk.chunk_index.value_or(INT64_MAX);
}

bool touches(const Piece* before, const Piece& piece) {
    if (before == nullptr || !before->chunk.chunk_index || !piece.chunk.chunk_index) return false;
    const std::int64_t first = *before->chunk.chunk_index;
    return first < *piece.chunk.chunk_index && first + 1 == *piece.chunk.chunk_index;
}

std::size_t overlap_of(std::string_view a, std::string_view b) {
    const std::size_t most = std::min({a.size(), b.size(), kMaxOverlap});
    for (std::size_t size = most; size >= kMinOverlap; --size) {
        if (a.substr(a.size() - size) == b.substr(0, size)) return size;
    }
    return 0;
}

ContextPassage start_passage(const Piece& piece, std::size_t number) {
    ContextPassage passage;
    passage.marker = "[" + std::to_string(number) + "]";
    passage.collection = piece.hit->collection;
    passage.document_id = piece.chunk.document_id;
    passage.title = piece.chunk.title;
    passage.section_title = piece.chunk.section_title;
    passage.source = source_of(piece.chunk);
    passage.trust = text_of(piece.chunk.metadata, "trust");
    if (passage.trust.empty()) passage.trust = "untrusted";
    return passage;
}

std::string heading_of(const ContextPassage& passage) {
    std::string line = passage.marker;
    if (passage.title) line += " " + *passage.title;
    if (passage.section_title && passage.section_title != passage.title) {
        line += (passage.title ? " › " : " ") + *passage.section_title;
    }
    std::ranges::replace(line, '\n', ' ');
    return line + " (" + passage.source + ")\n";
}

void TokenLedger::add(const Piece& piece) {
    Document& document = documents_[document_of(piece)];
    const auto after = std::ranges::upper_bound(
        document, place_of(piece), {}, [](const Entry& entry) { return place_of(*entry.piece); });
    const auto entry = document.insert(after, {&piece});
    price(document, entry);
    price(document, std::next(entry));
}

void TokenLedger::remove(const Piece& piece) {
    const auto found = documents_.find(document_of(piece));
    Document& document = found->second;
    const auto entry = std::ranges::find(document, &piece, &Entry::piece);
    total_ -= entry->cost;
    price(document, document.erase(entry));
    if (document.empty()) documents_.erase(found);  // its key may be a view into the piece
}

void TokenLedger::price(Document& document, Document::iterator entry) {
    if (entry == document.end()) return;
    const Piece& piece = *entry->piece;
    const Piece* const before = entry == document.begin() ? nullptr : std::prev(entry)->piece;
    std::string text;
    if (touches(before, piece)) {
        const std::size_t shared = overlap_of(before->chunk.content, piece.chunk.content);
        text = (shared == 0 ? "\n" : "") + piece.chunk.content.substr(shared);
    } else {
        text = heading_of(start_passage(piece, kSomeNumber)) + piece.chunk.content + "\n\n";
    }
    const std::size_t tokens = count_(text);
    total_ -= entry->cost;
    entry->cost = tokens - std::min(tokens, markers_);
    total_ += entry->cost;
}

}  // namespace braid::engine
