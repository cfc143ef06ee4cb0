#include "braid/cli/view/answer.hpp"

#include <algorithm>
#include <optional>

#include "braid/core/numbers.hpp"
#include "braid/core/utf8.hpp"
#include "braid/text/display_width.hpp"
#include "braid/text/highlight.hpp"
#include "braid/wire/answer_json.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kIndent = 4;
constexpr std::size_t kSnippetLines = 2;
constexpr std::size_t kMinTitle = 16;
constexpr std::size_t kSample = 400;  // code points that tell how wide a text is
constexpr std::size_t kSlack = 6;     // columns lost at the end of a line
constexpr std::string_view kDot = " · ";

/// Four decimals, more where those would hide the number.
std::string score_text(double score) {
    const double size = score < 0 ? -score : score;
    return core::fixed(score, size != 0 && size < 0.001 ? 7 : 4);
}

/// "dense #1 · sparse #4"; a collection's own list shows its legs in brackets.
// NOLINTNEXTLINE(misc-no-recursion): as deep as receipts nest, two levels
std::string found_by(const Receipt& receipt) {
    std::string text;
    for (const ReceiptSource& source : receipt.sources) {
        if (!text.empty()) text += kDot;
        text += plain(source.source);
        if (!source.filled) {
            // Receipts count from the list's rank base, people from one.
            const std::size_t first = receipt.rank_base == 0 ? 1 : 0;
            text += " #" + std::to_string(source.rank + first);
        }
        if (source.nested) text += " (" + found_by(*source.nested) + ")";
    }
    return text;
}

std::string heading(const Chunk& chunk) {
    std::string text = plain(chunk.title.value_or(""));
    const std::string section = plain(chunk.section_title.value_or(""));
    if (!section.empty()) text += (text.empty() ? "" : " › ") + section;
    return text.empty() ? plain(chunk.chunk_id) : text;
}

class AnswerView {
public:
    AnswerView(const Answer& answer, const AnswerViewOptions& options)
        : answer_(answer), options_(options), style_(options.style) {}

    std::vector<std::string> lines() {
        measure();
        for (const Hit& hit : answer_.hits) add_hit(hit);
        if (answer_.hits.empty()) lines_.push_back(no_hits());
        for (const Suggestion& suggestion : answer_.suggestions) {
            add_wrapped(style_.dim, "Instead of \"" + plain(suggestion.word) + "\": \"" +
                                        plain(suggestion.instead) + "\", in " +
                                        core::grouped(suggestion.chunks) +
                                        (suggestion.chunks == 1 ? " chunk." : " chunks."));
        }
        add_summary();
        return std::move(lines_);
    }

private:
    void measure() {
        std::size_t last_rank = 0;
        for (const Hit& hit : answer_.hits) {
            last_rank = std::max(last_rank, hit.rank);
            score_width_ = std::max(score_width_, score_text(hit.score).size());
            legs_width_ = std::max(legs_width_, text::display_width(found_by(hit.receipt)));
        }
        rank_width_ = std::max<std::size_t>(2, std::to_string(last_rank).size());
        const std::size_t taken = rank_width_ + 2 + 2 + score_width_ + 2 + legs_width_;
        legs_on_own_line_ = options_.width < taken + kMinTitle;
        const std::size_t beside = legs_on_own_line_ ? taken - legs_width_ - 2 : taken;
        title_width_ = options_.width > beside + kMinTitle ? options_.width - beside : kMinTitle;
    }

    std::string styled(std::string_view style, std::string_view text) const {
        return std::string(style) + std::string(text) + std::string(style_.reset);
    }

    void add_hit(const Hit& hit) {
        if (hit.rank > 1 && !lines_.empty()) lines_.emplace_back();
        const std::string legs = found_by(hit.receipt);
        std::string line =
            styled(style_.accent, padded_left(std::to_string(hit.rank), rank_width_)) + "  " +
            styled(style_.bold, padded(heading(hit.chunk), title_width_)) + "  " +
            padded_left(score_text(hit.score), score_width_);
        if (!legs_on_own_line_) line += "  " + styled(style_.dim, legs);
        lines_.push_back(line);
        if (legs_on_own_line_) add_indented(styled(style_.dim, clipped(legs, body_width())));
        add_snippet(hit);
        add_indented(styled(style_.dim, clipped(origin(hit), body_width())));
        if (options_.explain) add_receipt(hit.receipt);
        add_other_legs(hit);
    }

    /// Ranks in legs that its score is not based on.
    void add_other_legs(const Hit& hit) {
        for (const LegStanding& leg : hit.legs) {
            if (leg.source == "dense" ? hit.dense_score : hit.sparse_score) continue;
            const std::string place = leg.rank
                                          ? "rank " + core::grouped(*leg.rank) +
                                                ", below the depth of " + core::grouped(leg.depth)
                                          : "not found";
            add_indented(
                styled(style_.dim, clipped(leg.source + std::string(kDot) + place, body_width())));
        }
    }

    std::size_t body_width() const { return options_.width - kIndent; }

    void add_indented(const std::string& text) {
        lines_.push_back(std::string(kIndent, ' ') + text);
    }

    void add_snippet(const Hit& hit) {
        const std::string& content = hit.chunk.content;
        const std::size_t room = snippet_room(content);
        std::vector<Piece> pieces;
        const text::Snippet snippet = text::snippet_with(content, matches_of(hit), room);
        if (snippet.cut_before) pieces.push_back({"… ", false});
        std::size_t at = 0;
        for (const text::ByteRange& range : snippet.matches) {
            pieces.push_back({std::string(snippet.text.substr(at, range.begin - at)), false});
            pieces.push_back(
                {std::string(snippet.text.substr(range.begin, range.end - range.begin)), true});
            at = range.end;
        }
        pieces.push_back({std::string(snippet.text.substr(at)), false});
        if (snippet.cut_after) pieces.push_back({" …", false});
        for (const std::string& line : wrapped(pieces, body_width(), kSnippetLines, style_)) {
            add_indented(line);
        }
    }

    /// Code points that fill the lines of a snippet, minus what breaking between words costs.
    std::size_t snippet_room(const std::string& content) const {
        const std::string_view sample = core::first_code_points(content, kSample);
        const std::size_t points = std::max<std::size_t>(1, core::count_code_points(sample));
        const std::size_t columns = std::max(points, text::display_width(sample));
        return (body_width() - kSlack) * kSnippetLines * points / columns;
    }

    /// In bytes of its content. A server may have sent anything: ranges that are out of order are
    /// left out.
    static std::vector<text::ByteRange> matches_of(const Hit& hit) {
        std::vector<text::ByteRange> matches;
        std::string_view rest = hit.chunk.content;
        std::size_t points = 0;
        const auto skip_to = [&](std::size_t point) {
            rest.remove_prefix(core::first_code_points(rest, point - points).size());
            points = point;
            return static_cast<std::uint32_t>(hit.chunk.content.size() - rest.size());
        };
        for (const TextRange& range : hit.matches) {
            if (range.begin < points || range.end <= range.begin) continue;
            const std::uint32_t begin = skip_to(range.begin);
            const std::uint32_t end = skip_to(range.end);
            if (begin < end) matches.push_back({begin, end});
        }
        return matches;
    }

    /// "/notes/a.md:12", which an editor opens; "…/a.pdf, page 3". Empty for a chunk that
    /// was not cut from a file.
    static std::string place_in_file(const Chunk& chunk) {
        const Value* const source = chunk.metadata.find("source");
        const Value* const key = chunk.metadata.find("source_key");
        if (source == nullptr || !source->is_string() || key == nullptr) return {};
        const Value* const line = chunk.metadata.find("source_line");
        const Value* const page = chunk.metadata.find("source_page");
        std::string text = plain(source->as_string());
        if (line != nullptr && line->is_int()) return text + ":" + std::to_string(line->as_int());
        if (page != nullptr && page->is_int()) {
            return text + ", page " + std::to_string(page->as_int());
        }
        return text;
    }

    /// The id, and where it lives if that is not plain.
    static std::string origin(const Hit& hit) {
        std::string text = plain(hit.chunk.chunk_id);
        if (hit.collection != kDefaultCollection) text += std::string(kDot) + hit.collection;
        if (hit.namespace_ != kDefaultNamespace) text += std::string(kDot) + plain(hit.namespace_);
        const std::string place = place_in_file(hit.chunk);
        return place.empty() ? text : text + std::string(kDot) + place;
    }

    /// `dense  0.8312  #1  × 0.700  = 0.011475`, a line per source, then what followed.
    void add_receipt(const Receipt& receipt) {
        std::size_t name_width = 0;
        std::size_t score_width = 0;
        std::size_t rank_width = 0;
        for (const ReceiptSource& source : receipt.sources) {
            name_width = std::max(name_width, text::display_width(plain(source.source)));
            score_width = std::max(score_width, score_text(source.score).size());
            rank_width = std::max(rank_width, std::to_string(source.rank).size());
        }
        const auto right = [](const std::string& number, std::size_t width) {
            return std::string(width - std::min(width, number.size()), ' ') + number;
        };
        for (const ReceiptSource& source : receipt.sources) {
            std::string text = padded(plain(source.source), name_width) + "  " +
                               right(score_text(source.score), score_width);
            if (source.normalized) text += " → " + score_text(*source.normalized);
            if (!source.filled) text += "  rank " + right(std::to_string(source.rank), rank_width);
            text += "  × " + core::fixed(source.weight, 3) + "  = " +
                    core::fixed(source.contribution, 6);
            add_indented(styled(style_.dim, clipped(text, body_width())));
        }
        std::string text = receipt.method + " = " + core::fixed(receipt.fused, 6);
        for (const ReceiptStage& stage : receipt.stages) {
            text += std::string(kDot) + plain(stage.stage) + " " + stage.operation + " " +
                    core::fixed(stage.value, 3) + " = " + core::fixed(stage.score, 6);
        }
        add_indented(styled(style_.dim, clipped(text, body_width())));
    }

    std::string no_hits() const {
        return answer_.query.empty() ? "No hits."
                                     : "No hits for \"" + clipped(plain(answer_.query), 60) + "\".";
    }

    void add_summary() {
        if (!answer_.hits.empty()) lines_.emplace_back();
        const std::size_t hits = answer_.hits.size();
        std::string text = core::grouped(hits) + (hits == 1 ? " hit of " : " hits of ") +
                           core::grouped(answer_.total_candidates) +
                           (answer_.total_candidates == 1 ? " candidate" : " candidates");
        const Timings& timings = answer_.timings;
        text += std::string(kDot) + core::fixed(timings.total_ms, 1) + " ms (";
        std::string parts;
        for (const auto& [name, time] :
             {std::pair{"language model", timings.preprocess_ms},
              std::pair{"loading the model", timings.load_ms}, std::pair{"embed", timings.embed_ms},
              std::pair{"dense", timings.dense_ms}, std::pair{"sparse", timings.sparse_ms},
              std::pair{"fusion", timings.fusion_ms}}) {
            if (time < 0.05) continue;
            parts += (parts.empty() ? "" : ", ") + std::string(name) + " " + core::fixed(time, 1);
        }
        text = parts.empty() ? text.substr(0, text.size() - 2) : text + parts + ")";
        add_wrapped(style_.dim, text);
        add_other_words();
        add_shortfalls();
    }

    void add_other_words() {
        if (answer_.query_understood)
            add_wrapped(style_.dim, "Read as: " + *answer_.query_understood);
        for (const std::string& line :
             other_words_lines(answer_.phrasings, answer_.hypothetical_answer)) {
            add_wrapped(style_.dim, line);
        }
    }

    void add_shortfalls() {
        if (!answer_.complete) {
            add_wrapped(style_.warning, "! This answer is incomplete.");
            for (const SourceReport& report : answer_.sources) {
                if (report.error.empty()) continue;
                add_wrapped(style_.warning, "! " + std::string(report.source) + " search of \"" +
                                                report.collection + "\": " + report.error);
            }
        }
        for (const std::string& warning : answer_.warnings) {
            add_wrapped(style_.warning, "! " + warning);
        }
        const std::string unused = unused_line(answer_.unused);
        if (!unused.empty()) add_wrapped(style_.warning, "! " + unused);
    }

    void add_wrapped(std::string_view style, const std::string& text, std::size_t max_lines = 4) {
        for (const std::string& line :
             wrapped({{text, false}}, options_.width, max_lines, style_)) {
            lines_.push_back(styled(style, line));
        }
    }

    const Answer& answer_;
    const AnswerViewOptions& options_;
    const Style& style_;
    std::vector<std::string> lines_;
    std::size_t rank_width_ = 2;
    std::size_t score_width_ = 6;
    std::size_t legs_width_ = 0;
    std::size_t title_width_ = kMinTitle;
    bool legs_on_own_line_ = false;
};

}  // namespace

void print_answer_json(Output& out, const Answer& answer, const core::Vocabulary& vocabulary) {
    if (out.on_terminal()) {
        out.json(wire::answer_to_value(answer, vocabulary));
    } else {
        out.line(wire::print_answer(answer, vocabulary));
    }
}

std::vector<std::string> answer_lines(const Answer& answer, const AnswerViewOptions& options) {
    return AnswerView(answer, options).lines();
}

std::vector<std::string> other_words_lines(const std::vector<std::string>& phrasings,
                                           const std::optional<std::string>& hypothetical_answer) {
    std::vector<std::string> lines;
    std::string list;
    for (const std::string& phrasing : phrasings) {
        list += (list.empty() ? "\"" : ", \"") + plain(phrasing) + "\"";
    }
    if (!list.empty()) lines.push_back("Also searched: " + list);
    if (hypothetical_answer) {
        lines.push_back("Searched by meaning: \"" + plain(*hypothetical_answer) + "\"");
    }
    return lines;
}

std::string unused_line(const std::vector<std::string>& unused) {
    std::string names;
    for (const std::string& name : unused) names += (names.empty() ? "" : ", ") + name;
    return names.empty() ? names : "Not used here: " + names + ".";
}

}  // namespace braid::cli
