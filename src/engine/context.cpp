#include "braid/engine/context.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/engine/context_pieces.hpp"

namespace braid::engine {
namespace {

constexpr std::size_t kDifference = 2;  // tokens by which a sum may miss, besides one per piece

/// Collection, namespace and chunk.
using ChunkKey = std::tuple<std::string, std::string, std::string>;

std::size_t estimated_tokens(std::string_view text) {
    return (text.size() + 3) / 4;
}

class ContextMaker {
public:
    ContextMaker(const Answer& answer, const ContextOptions& options,
                 const NeighborSource& neighbors)
        : answer_(answer),
          options_(options),
          neighbors_(neighbors),
          count_(options.count_tokens ? options.count_tokens : estimated_tokens),
          ledger_(count_) {
        context_.query = answer.query;
        context_.budget = options.budget;
        context_.tokens_estimated = !options.count_tokens;
        context_.phrasings = answer.phrasings;
        context_.hypothetical_answer = answer.hypothetical_answer;
        context_.complete = answer.complete;
        context_.warnings = answer.warnings;
        context_.unused = answer.unused;
        context_.timings = answer.timings;
    }

    Result<Context> make() {
        for (const Hit& hit : answer_.hits) {
            BRAID_CHECK(look_at_clock());
            if (late_ || !try_add({&hit, hit.chunk, hit.rank})) ++context_.left_out;
        }
        if (options_.neighbors > 0) BRAID_CHECK(add_neighbors());
        lay_out();
        drop_excess();
        if (late_) {
            context_.complete = false;
            context_.warnings.push_back(
                "the deadline passed before every passage and neighbour was tried");
            return std::move(context_);
        }
        if (context_.left_out > 0 && context_.passages.empty()) {
            context_.warnings.push_back("no passage fits into " + std::to_string(options_.budget) +
                                        " tokens: the shortest of the " +
                                        std::to_string(answer_.hits.size()) + " found takes more");
        }
        return std::move(context_);
    }

private:
    /// Cancelled if nobody is waiting any more.
    Result<> look_at_clock() {
        if (options_.limits.stopped()) return core::check_limits(options_.limits);
        late_ = late_ || options_.limits.expired();
        return {};
    }

    /// Keeps the piece if the whole text, laid out with it, is within the budget. Far from the
    /// budget the sum of the parts decides, which costs no more than the piece; close to it, the
    /// text itself does.
    bool try_add(Piece piece) {
        const ChunkKey key{piece.hit->collection, piece.hit->namespace_, piece.chunk.chunk_id};
        if (chosen_.contains(key)) return true;
        ledger_.add(pieces_.emplace_back(std::move(piece)));
        const std::size_t unsure = kDifference + (pieces_.size() - measured_);
        bool fits = expected() + unsure <= options_.budget;
        if (!fits && expected() <= options_.budget + unsure) {
            lay_out();
            fits = context_.tokens <= options_.budget;
        }
        if (fits) {
            chosen_.insert(key);
        } else {
            drop_last();
        }
        return fits;
    }

    /// For the text with all pieces, judging by their sum.
    std::size_t expected() const {
        return static_cast<std::size_t>(std::max(
            std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(ledger_.total()) + difference_));
    }

    void drop_last() {
        ledger_.remove(pieces_.back());
        pieces_.pop_back();
        measured_ = std::min(measured_, pieces_.size());
    }

    /// A counter may find more in the whole than in its parts.
    void drop_excess() {
        while (context_.tokens > options_.budget && !pieces_.empty()) {
            const std::size_t enough = ledger_.total() * options_.budget / context_.tokens;
            do {
                if (pieces_.back().rank != 0) ++context_.left_out;
                drop_last();
            } while (!pieces_.empty() && ledger_.total() > enough);
            lay_out();
        }
    }

    Result<> add_neighbors() {
        const std::size_t hits = pieces_.size();
        for (std::size_t i = 0; i < hits; ++i) {
            const Piece& piece = pieces_[i];  // stays where it is while others are added
            if (!piece.chunk.chunk_index) continue;
            BRAID_CHECK(look_at_clock());
            if (late_) return {};
            auto found = neighbors_(*piece.hit, options_.neighbors);
            if (!found && found.error().code == ErrorCode::DeadlineExceeded) {
                late_ = true;
                return {};
            }
            BRAID_TRY(std::vector<Chunk> around, std::move(found));
            // Nearest first: what touches the hit is worth the most.
            std::ranges::stable_sort(around, {}, [&](const Chunk& chunk) {
                return std::abs(chunk.chunk_index.value_or(0) - *piece.chunk.chunk_index);
            });
            for (Chunk& chunk : around) {
                BRAID_CHECK(look_at_clock());
                if (late_) return {};
                try_add({piece.hit, std::move(chunk), 0});
            }
        }
        return {};
    }

    /// The pieces of each document, documents by their best hit, pieces by index.
    std::vector<std::vector<const Piece*>> by_document() const {
        std::vector<std::vector<const Piece*>> documents;
        std::map<DocumentKey, std::size_t> at;
        for (const Piece& piece : pieces_) {
            const auto [place, is_new] = at.try_emplace(document_of(piece), documents.size());
            if (is_new) documents.emplace_back();
            documents[place->second].push_back(&piece);
        }
        for (auto& pieces : documents) {
            std::ranges::stable_sort(pieces, {},
                                     [](const Piece* piece) { return place_of(*piece); });
        }
        return documents;
    }

    static void append(ContextPassage& passage, const Piece& piece) {
        const std::string& content = piece.chunk.content;
        if (passage.chunk_ids.empty()) {
            passage.text = content;
        } else {
            const std::size_t shared = overlap_of(passage.text, content);
            if (shared == 0) passage.text += '\n';
            passage.text += content.substr(shared);
        }
        passage.chunk_ids.push_back(piece.chunk.chunk_id);
        if (piece.rank != 0 && (passage.rank == 0 || piece.rank < passage.rank)) {
            passage.rank = piece.rank;
            passage.score = piece.hit->score;
        }
    }

    void lay_out() {
        context_.passages.clear();
        context_.text.clear();
        for (const auto& pieces : by_document()) {
            const Piece* before = nullptr;
            for (const Piece* piece : pieces) {
                if (!touches(before, *piece)) {
                    context_.passages.push_back(
                        start_passage(*piece, context_.passages.size() + 1));
                }
                append(context_.passages.back(), *piece);
                before = piece;
            }
        }
        for (ContextPassage& passage : context_.passages) {
            const std::string block = heading_of(passage) + passage.text + "\n";
            passage.tokens = count_(block);
            context_.text += (context_.text.empty() ? "" : "\n") + block;
        }
        context_.tokens = context_.text.empty() ? 0 : count_(context_.text);
        measured_ = pieces_.size();
        difference_ = static_cast<std::ptrdiff_t>(context_.tokens) -
                      static_cast<std::ptrdiff_t>(ledger_.total());
    }

    const Answer& answer_;
    const ContextOptions& options_;
    const NeighborSource& neighbors_;
    TokenLedger::Counter count_;
    TokenLedger ledger_;
    std::deque<Piece> pieces_;       // in the order chosen
    std::set<ChunkKey> chosen_;      // theirs
    std::size_t measured_ = 0;       // pieces of the text that was last laid out
    std::ptrdiff_t difference_ = 0;  // of its tokens from the ledger's
    bool late_ = false;
    Context context_;
};

}  // namespace

Result<Context> make_context(const Answer& answer, const ContextOptions& options,
                             const NeighborSource& neighbors) {
    if (options.budget < 1) {
        return invalid_argument("\"budget\" must be 1 token or more");
    }
    return ContextMaker(answer, options, neighbors).make();
}

}  // namespace braid::engine
