#include "braid/engine/context.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "braid/core/limits.hpp"

namespace braid::engine {
namespace {

constexpr std::size_t kMinOverlap = 20;    // bytes; shorter ones may be chance
constexpr std::size_t kMaxOverlap = 4096;  // bytes

/// A chunk that was chosen, and the hit it is or belongs to.
struct Piece {
    const Hit* hit;        // whose document it is part of
    Chunk chunk;           //
    std::size_t rank = 0;  // 0: a neighbour
};

/// Bytes at the end of `a` that `b` begins with, as chunks cut with an overlap have them.
std::size_t overlap_of(std::string_view a, std::string_view b) {
    const std::size_t most = std::min({a.size(), b.size(), kMaxOverlap});
    for (std::size_t size = most; size >= kMinOverlap; --size) {
        if (a.substr(a.size() - size) == b.substr(0, size)) return size;
    }
    return 0;
}

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

/// The line over a passage.
std::string heading_of(const ContextPassage& passage) {
    std::string line = passage.marker;
    if (passage.title) line += " " + *passage.title;
    if (passage.section_title && passage.section_title != passage.title) {
        line += (passage.title ? " › " : " ") + *passage.section_title;
    }
    std::ranges::replace(line, '\n', ' ');
    return line + " (" + passage.source + ")\n";
}

class ContextMaker {
public:
    ContextMaker(const Answer& answer, const ContextOptions& options,
                 const NeighborSource& neighbors)
        : answer_(answer), options_(options), neighbors_(neighbors) {
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
        if (late_) {
            context_.complete = false;
            context_.warnings.push_back(
                "the deadline came before every passage and neighbour could be tried");
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
    std::size_t count(std::string_view text) const {
        return options_.count_tokens ? options_.count_tokens(text) : (text.size() + 3) / 4;
    }

    /// Cancelled if nobody waits any more.
    Result<> look_at_clock() {
        if (options_.limits.stopped()) return core::check_limits(options_.limits);
        late_ = late_ || options_.limits.expired();
        return {};
    }

    /// Whether it would be part of a passage that is there, and perhaps share text with it.
    bool joins_another(const Piece& piece) const {
        return std::ranges::any_of(pieces_, [&](const Piece& other) {
            return other.hit->collection == piece.hit->collection &&
                   other.hit->namespace_ == piece.hit->namespace_ &&
                   other.chunk.document_id == piece.chunk.document_id &&
                   (touches(&other, &piece) || touches(&piece, &other));
        });
    }

    /// Keeps the piece if the whole text, laid out with it, is within the budget.
    bool try_add(Piece piece) {
        const auto same = [&](const Piece& other) {
            return other.hit->collection == piece.hit->collection &&
                   other.hit->namespace_ == piece.hit->namespace_ &&
                   other.chunk.chunk_id == piece.chunk.chunk_id;
        };
        if (std::ranges::any_of(pieces_, same)) return true;
        // What it must cost at least; spares laying out texts that cannot fit.
        const std::size_t own = count(piece.chunk.content);
        const std::size_t room = options_.budget - tokens_;
        if (own > options_.budget || (own > room && !joins_another(piece))) return false;
        pieces_.push_back(std::move(piece));
        lay_out();
        if (context_.tokens <= options_.budget) {
            tokens_ = context_.tokens;
            return true;
        }
        pieces_.pop_back();
        return false;
    }

    Result<> add_neighbors() {
        const std::vector<Piece> hits = pieces_;
        for (const Piece& piece : hits) {
            if (!piece.chunk.chunk_index) continue;
            BRAID_CHECK(look_at_clock());
            if (late_) return {};
            auto found = neighbors_(*piece.hit, options_.neighbors);
            if (!found && found.error().code == ErrorCode::DeadlineExceeded) {
                late_ = true;
                return {};
            }
            BRAID_TRY(std::vector<Chunk> around, std::move(found));
            // Nearest first: what touches the hit is worth most.
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
        std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t> at;
        for (const Piece& piece : pieces_) {
            const auto [place, is_new] = at.try_emplace(
                {piece.hit->collection, piece.hit->namespace_, piece.chunk.document_id},
                documents.size());
            if (is_new) documents.emplace_back();
            documents[place->second].push_back(&piece);
        }
        for (auto& pieces : documents) {
            std::ranges::stable_sort(pieces, [](const Piece* a, const Piece* b) {
                return a->chunk.chunk_index.value_or(INT64_MAX) <
                       b->chunk.chunk_index.value_or(INT64_MAX);
            });
        }
        return documents;
    }

    static bool touches(const Piece* before, const Piece* piece) {
        return before != nullptr && before->chunk.chunk_index && piece->chunk.chunk_index &&
               *before->chunk.chunk_index + 1 == *piece->chunk.chunk_index;
    }

    ContextPassage start_passage(const Piece& piece) const {
        ContextPassage passage;
        passage.marker = "[" + std::to_string(context_.passages.size() + 1) + "]";
        passage.collection = piece.hit->collection;
        passage.document_id = piece.chunk.document_id;
        passage.title = piece.chunk.title;
        passage.section_title = piece.chunk.section_title;
        passage.source = source_of(piece.chunk);
        passage.trust = text_of(piece.chunk.metadata, "trust");
        if (passage.trust.empty()) passage.trust = "untrusted";
        return passage;
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
                if (!touches(before, piece)) context_.passages.push_back(start_passage(*piece));
                append(context_.passages.back(), *piece);
                before = piece;
            }
        }
        for (ContextPassage& passage : context_.passages) {
            const std::string block = heading_of(passage) + passage.text + "\n";
            passage.tokens = count(block);
            context_.text += (context_.text.empty() ? "" : "\n") + block;
        }
        context_.tokens = context_.text.empty() ? 0 : count(context_.text);
    }

    const Answer& answer_;
    const ContextOptions& options_;
    const NeighborSource& neighbors_;
    std::vector<Piece> pieces_;
    std::size_t tokens_ = 0;  // of the text that the pieces make
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
