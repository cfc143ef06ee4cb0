#include "braid/eval/trec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>

#include "braid/eval/lines.hpp"

namespace braid::eval {
namespace {

constexpr double kMaxRelevance = 1e6;

/// The whole of `field` as a number of type T; nullopt if it is none, or out of T's range.
template <class T>
std::optional<T> number(std::string_view field) {
    if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
    T value{};
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size()) return std::nullopt;
    return value;
}

/// One line of a run or of judgements, with the line's number.
template <class Item>
struct Entry {
    Item item;
    std::size_t line;
};

/// Collects the entries of a file by query, queries in order of appearance.
template <class Item>
class Grouping {
public:
    struct Group {
        std::string query;
        std::vector<Entry<Item>> entries;
    };

    void add(std::string_view query, Item item, std::size_t line) {
        // Lines of one query usually stand together.
        if (groups_.empty() || groups_[last_].query != query) {
            const auto [place, is_new] = places_.try_emplace(std::string(query), groups_.size());
            if (is_new) groups_.push_back({std::string(query), {}});
            last_ = place->second;
        }
        groups_[last_].entries.push_back({std::move(item), line});
    }

    /// Puts the entries of each query in order of document and line. Fails on the first line of the
    /// file that repeats a document.
    Result<> sort_by_document(const Lines& lines) {
        std::size_t repeated = std::numeric_limits<std::size_t>::max();
        std::string complaint;
        for (Group& group : groups_) {
            std::sort(group.entries.begin(), group.entries.end(), [](const auto& a, const auto& b) {
                const int order = a.item.document.compare(b.item.document);
                return order != 0 ? order < 0 : a.line < b.line;
            });
            for (std::size_t i = 1; i < group.entries.size(); ++i) {
                const Entry<Item>& first = group.entries[i - 1];
                const Entry<Item>& second = group.entries[i];
                if (first.item.document != second.item.document || second.line >= repeated)
                    continue;
                repeated = second.line;
                complaint = "document " + shown(second.item.document) + " of query " +
                            shown(group.query) + " is already on line " +
                            std::to_string(first.line);
            }
        }
        if (!complaint.empty()) return lines.complain_at(repeated, complaint);
        return {};
    }

    std::vector<Group>& groups() { return groups_; }

private:
    std::vector<Group> groups_;
    std::unordered_map<std::string, std::size_t> places_;
    std::size_t last_ = 0;
};

template <class Item>
std::vector<Item> items_of(std::vector<Entry<Item>>&& entries) {
    std::vector<Item> items;
    items.reserve(entries.size());
    for (Entry<Item>& entry : entries) items.push_back(std::move(entry.item));
    return items;
}

bool is_beir_header(std::string_view line) {
    constexpr std::array<std::string_view, 3> header{"query-id", "corpus-id", "score"};
    const std::vector<std::string_view> fields = split_fields(line);
    return std::equal(fields.begin(), fields.end(), header.begin(), header.end());
}

/// The query, the document and the relevance of a line of judgements.
Result<std::array<std::string_view, 3>> judgement_fields(std::string_view line, bool beir,
                                                         const Lines& lines) {
    const bool tabs = beir && line.find('\t') != std::string_view::npos;
    std::vector<std::string_view> fields = tabs ? split_at(line, '\t') : split_fields(line);
    for (std::string_view& field : fields) field = trimmed(field);
    const std::size_t expected = beir ? 3 : 4;
    if (fields.size() != expected) {
        const std::string form = beir ? "3 fields, \"query-id corpus-id score\""
                                      : "4 fields, \"query iteration document relevance\"";
        return lines.complain("expected " + form + ", found " + std::to_string(fields.size()));
    }
    if (fields.front().empty() || fields[expected - 2].empty()) {
        return lines.complain("an id is empty");
    }
    return std::array{fields.front(), fields[expected - 2], fields.back()};
}

/// The largest score below `score` whose distance the reader of `Real` numbers sees.
template <std::floating_point Real>
double next_below(double score) {
    return std::nextafter(static_cast<Real>(score), -std::numeric_limits<Real>::infinity());
}

/// `scores` falling strictly when read as numbers of type Real; see ScoreGap.
template <std::floating_point Real>
bool spread(std::span<double> scores) {
    constexpr double limit = std::numeric_limits<Real>::max();
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (i > 0 && !(static_cast<Real>(scores[i]) < static_cast<Real>(scores[i - 1]))) {
            scores[i] = next_below<Real>(scores[i - 1]);
        }
        if (!(std::abs(scores[i]) <= limit)) return false;
    }
    return true;
}

Result<std::vector<double>> scores_to_write(const RankedList& list, ScoreGap gap) {
    std::vector<double> scores;
    scores.reserve(list.hits.size());
    for (const ScoredDocument& hit : list.hits) {
        if (!std::isfinite(hit.score)) {
            return invalid_argument("the score of document " + shown(hit.document) + " of query " +
                                    shown(list.query) + " is not finite");
        }
        if (!scores.empty() && hit.score > scores.back()) {
            return invalid_argument("the hits of query " + shown(list.query) +
                                    " are not in order of score");
        }
        scores.push_back(hit.score);
    }
    const bool fits = gap == ScoreGap::None ||
                      (gap == ScoreGap::Double && spread<double>(scores)) ||
                      (gap == ScoreGap::Single && spread<float>(scores));
    if (!fits) {
        return invalid_argument("the scores of query " + shown(list.query) +
                                " are too large to be kept apart");
    }
    return scores;
}

void append_number(std::string& out, double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

}  // namespace

std::unordered_map<std::string_view, const RankedList*> lists_by_query(const Run& run) {
    std::unordered_map<std::string_view, const RankedList*> lists;
    for (const RankedList& list : run.lists) lists.emplace(list.query, &list);
    return lists;
}

Result<Run> parse_run(std::string_view text, std::string_view source) {
    Run run;
    Grouping<ScoredDocument> grouping;
    Lines lines(text, source);
    while (true) {
        BRAID_TRY(const std::optional<std::string_view> line, lines.next());
        if (!line) break;
        const std::vector<std::string_view> fields = split_fields(*line);
        if (fields.size() != 6) {
            return lines.complain(
                "expected 6 fields, \"query Q0 document rank score tag\", found " +
                std::to_string(fields.size()));
        }
        if (!number<std::int64_t>(fields[3])) {
            return lines.complain("the rank " + shown(fields[3]) + " is not an integer");
        }
        const std::optional<double> score = number<double>(fields[4]);
        if (!score || !std::isfinite(*score)) {
            return lines.complain("the score " + shown(fields[4]) + " is not a finite number");
        }
        if (run.name.empty()) run.name = fields[5];
        grouping.add(fields[0], {std::string(fields[2]), *score}, lines.number());
    }
    BRAID_CHECK(grouping.sort_by_document(lines));
    for (auto& group : grouping.groups()) {
        RankedList& list =
            run.lists.emplace_back(std::move(group.query), items_of(std::move(group.entries)));
        std::stable_sort(list.hits.begin(), list.hits.end(),
                         [](const auto& a, const auto& b) { return a.score > b.score; });
    }
    return run;
}

Result<Run> read_run(const std::string& path) {
    BRAID_TRY(const std::string text, read_file(path));
    return parse_run(text, path);
}

Result<Qrels> parse_qrels(std::string_view text, std::string_view source) {
    Grouping<Judgement> grouping;
    Lines lines(text, source);
    BRAID_TRY(std::optional<std::string_view> line, lines.next());
    const bool beir = line && is_beir_header(*line);
    if (beir) {
        BRAID_TRY(line, lines.next());
    }
    while (line) {
        BRAID_TRY(const auto fields, judgement_fields(*line, beir, lines));
        const std::optional<std::int32_t> relevance = number<std::int32_t>(fields[2]);
        if (!relevance || std::abs(static_cast<double>(*relevance)) > kMaxRelevance) {
            return lines.complain("the relevance " + shown(fields[2]) +
                                  " is not an integer from -1000000 to 1000000");
        }
        grouping.add(fields[0], {std::string(fields[1]), *relevance}, lines.number());
        BRAID_TRY(line, lines.next());
    }
    BRAID_CHECK(grouping.sort_by_document(lines));
    Qrels qrels;
    for (auto& group : grouping.groups()) {
        qrels.queries.push_back({std::move(group.query), items_of(std::move(group.entries))});
    }
    if (qrels.queries.empty()) {
        return invalid_argument(std::string(source) + ": there is no judgement");
    }
    return qrels;
}

Result<Qrels> read_qrels(const std::string& path) {
    BRAID_TRY(const std::string text, read_file(path));
    return parse_qrels(text, path);
}

Result<std::string> write_run(const Run& run, ScoreGap gap) {
    const std::string_view tag = run.name.empty() ? "braid" : std::string_view(run.name);
    const auto unwritable = [](std::string_view what, std::string_view id) {
        return invalid_argument(std::string(what) + " " + shown(id) +
                                " is empty or holds white space, which a TREC "
                                "run cannot express");
    };
    if (!is_word(tag)) return unwritable("the run name", tag);
    std::string out;
    for (const RankedList& list : run.lists) {
        if (!is_word(list.query)) return unwritable("the query id", list.query);
        BRAID_TRY(const std::vector<double> scores, scores_to_write(list, gap));
        for (std::size_t i = 0; i < list.hits.size(); ++i) {
            const std::string& document = list.hits[i].document;
            if (!is_word(document)) return unwritable("the document id", document);
            out.append(list.query).append(" Q0 ").append(document).append(" ");
            out.append(std::to_string(i + 1)).append(" ");
            append_number(out, scores[i]);
            out.append(" ").append(tag).append("\n");
        }
    }
    return out;
}

}  // namespace braid::eval
