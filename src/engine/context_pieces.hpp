#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "braid/answer.hpp"
#include "braid/types.hpp"

namespace braid::engine {

/// A chosen chunk, and the hit that it is or belongs to.
struct Piece {
    const Hit* hit;        // whose document it is part of
    Chunk chunk;           //
    std::size_t rank = 0;  // 0: a neighbour
};

/// Collection, namespace and document; views into the piece.
using DocumentKey = std::tuple<std::string_view, std::string_view, std::string_view>;
DocumentKey document_of(const Piece& piece);

/// Its position in its document; pieces without an index come last.
std::int64_t place_of(const Piece& piece);

/// Whether the piece directly follows the one before it, if there is one.
bool touches(const Piece* before, const Piece& piece);

/// Bytes at the end of `a` with which `b` begins, as in chunks cut with an overlap.
std::size_t overlap_of(std::string_view a, std::string_view b);

/// A passage that will begin with the piece, still without text.
ContextPassage start_passage(const Piece& piece, std::size_t number);

/// The line above a passage.
std::string heading_of(const ContextPassage& passage);

/// What a text of many pieces costs in tokens, kept up to date piece by piece: the sum of its
/// parts, from which the text counted as a whole may differ by about one token per part.
class TokenLedger {
public:
    using Counter = std::function<std::size_t(std::string_view)>;

    /// The counter must outlive the ledger.
    explicit TokenLedger(const Counter& count)
        : count_(count), markers_(count("")), total_(markers_) {}

    std::size_t total() const { return total_; }

    /// The piece must stay where it is while it is part of the sum. Counts it and the one after it.
    void add(const Piece& piece);
    void remove(const Piece& piece);

private:
    struct Entry {
        const Piece* piece;
        std::size_t cost = 0;
    };
    using Document = std::vector<Entry>;  // by place

    /// What the entry costs after the one before it.
    void price(Document& document, Document::iterator entry);

    const Counter& count_;
    std::size_t markers_;  // tokens that every text has, whatever it holds
    std::size_t total_;
    std::map<DocumentKey, Document> documents_;
};

}  // namespace braid::engine
