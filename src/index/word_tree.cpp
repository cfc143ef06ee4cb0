#include "braid/index/word_tree.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "braid/sparse/term_dictionary.hpp"

namespace braid::index {
namespace {

using Kind = QueryClause::Kind;
using Occur = QueryClause::Occur;

/// Calls `use(leaf)` for each leaf, in order.
template <class Use>
void each_leaf(const TreeClause& clause, const Use& use) {
    if (clause.leaf) use(*clause.leaf);
    for (const TreeClause& inner : clause.clauses) each_leaf(inner, use);
}

/// Terms by position, each once.
TreeLeaf leaf_of(const std::vector<text::Token>& tokens) {
    TreeLeaf leaf;
    for (const text::Token& token : tokens) {
        const std::uint32_t offset = token.position - tokens.front().position;
        if (leaf.offsets.empty() || leaf.offsets.back() != offset) {
            leaf.offsets.push_back(offset);
            leaf.places.emplace_back();
        }
        auto& place = leaf.places.back();
        if (std::ranges::find(place, token.term) == place.end()) place.push_back(token.term);
    }
    return leaf;
}

class TreeMaker {
public:
    TreeMaker(const Schema& schema, const text::Analyzer& analyzer)
        : schema_(schema), analyzer_(analyzer) {}

    /// `function_words`: whether optional ones count.
    Result<TreeClause> make(const QueryClause& root, bool function_words) {
        function_words_ = function_words;
        TreeClause made;
        BRAID_CHECK(add_clauses(root, made));
        return made;
    }

private:
    Result<> add_clauses(const QueryClause& group, TreeClause& to) {
        for (const QueryClause& clause : group.clauses) {
            if (clause.kind != Kind::Group) {
                BRAID_CHECK(add_leaf(clause, to));
                continue;
            }
            TreeClause inner;
            inner.occur = clause.occur;
            BRAID_CHECK(add_clauses(clause, inner));
            if (!inner.clauses.empty()) to.clauses.push_back(std::move(inner));
        }
        return {};
    }

    Result<> add_leaf(const QueryClause& clause, TreeClause& to) {
        std::optional<std::uint32_t> field;
        if (!clause.field.empty()) {
            const auto found =
                std::ranges::find(schema_.text_fields, clause.field, &TextField::name);
            if (found == schema_.text_fields.end()) {
                return invalid_argument("there is no text field \"" + clause.field + "\"");
            }
            field = static_cast<std::uint32_t>(found - schema_.text_fields.begin());
        }
        const auto add = [&](TreeLeaf leaf, Occur occur, TreeClause& group) {
            leaf.field = field;
            leaf.boost = clause.boost;
            add_once({occur, std::move(leaf), {}}, group);
        };
        const bool pattern = clause.kind == Kind::Prefix || clause.kind == Kind::Fuzzy;
        if (pattern) {
            BRAID_TRY(auto leaf, pattern_of(clause));
            if (leaf) {
                add(*std::move(leaf), clause.occur, to);
                return {};
            }
        }
        const bool optional_word = clause.kind != Kind::Phrase && clause.occur == Occur::Optional;
        if (optional_word && !function_words_ && !field) {
            analyzer_.analyze_content(clause.text, tokens_);
        } else {
            analyzer_.analyze_query(clause.text, tokens_);
        }
        if (tokens_.empty()) return {};
        if (optional_word) {
            for (const text::Token& token : tokens_) {
                add(leaf_of({token}), Occur::Optional, to);
            }
            return {};
        }
        TreeLeaf leaf = leaf_of(tokens_);
        if (clause.kind == Kind::Phrase || leaf.places.size() == 1) {
            leaf.between = leaf.places.size() > 1 ? clause.distance : 0;
            add(std::move(leaf), clause.occur, to);
            return {};
        }
        TreeClause parts;
        parts.occur = clause.occur;
        for (auto& place : leaf.places) {
            TreeLeaf part;
            part.places.push_back(std::move(place));
            part.offsets.push_back(0);
            add(std::move(part), Occur::Must, parts);
        }
        to.clauses.push_back(std::move(parts));
        return {};
    }

    /// None: it is not a single word and must be searched for as others are.
    Result<std::optional<TreeLeaf>> pattern_of(const QueryClause& clause) {
        using None = std::optional<TreeLeaf>;
        if (!unstemmed_) {
            BRAID_TRY(unstemmed_, text::Analyzer::create(
                                      {.name = analyzer_.options().name, .language = "none"}));
        }
        const auto whole = [&](const text::Analyzer& analyzer) -> std::string {
            analyzer.analyze(clause.text, tokens_);
            if (tokens_.empty()) return "";
            const text::Token& first = tokens_.front();
            const bool all = std::ranges::all_of(tokens_, [&](const text::Token& token) {
                return token.begin >= first.begin && token.end <= first.end;
            });
            return all ? first.term : "";
        };
        TreeLeaf leaf;
        leaf.term = whole(analyzer_);
        leaf.pattern = clause.text;
        if (clause.kind == Kind::Prefix) {
            leaf.kind = TreeLeaf::Kind::Prefix;
            leaf.beginning = whole(*unstemmed_);
            leaf.pattern += '*';
            if (leaf.beginning.empty()) return None();
        } else {
            leaf.kind = TreeLeaf::Kind::Fuzzy;
            leaf.distance = clause.distance;
            leaf.pattern += '~' + std::to_string(clause.distance);
            if (leaf.term.empty()) return None();
        }
        return None(std::move(leaf));
    }

    /// A word that the group already has counts there as often as it is written.
    static void add_once(TreeClause clause, TreeClause& to) {
        const bool word = !clause.leaf->is_pattern() && clause.leaf->places.size() == 1;
        const auto same = [&](const TreeClause& other) {
            return other.leaf && !other.leaf->is_pattern() && other.occur != Occur::Not &&
                   other.leaf->places == clause.leaf->places &&
                   other.leaf->field == clause.leaf->field;
        };
        const auto found = std::ranges::find_if(to.clauses, same);
        if (!word || clause.occur == Occur::Not || found == to.clauses.end()) {
            to.clauses.push_back(std::move(clause));
            return;
        }
        found->leaf->boost += clause.leaf->boost;
        if (clause.occur == Occur::Must) found->occur = Occur::Must;
    }

    const Schema& schema_;
    const text::Analyzer& analyzer_;
    std::optional<text::Analyzer> unstemmed_;  // made when a pattern first needs it
    bool function_words_ = false;
    std::vector<text::Token> tokens_;
};

bool finds_anything(const TreeClause& group) {
    return std::ranges::any_of(group.clauses,
                               [](const TreeClause& one) { return one.occur != Occur::Not; });
}

}  // namespace

std::optional<std::uint32_t> TreeLeaf::difference(std::string_view other) const {
    if (kind == Kind::Prefix) {
        if (other.starts_with(beginning) || other == term) return 0;
        return std::nullopt;
    }
    const std::uint32_t found = sparse::term_distance(term, other, distance);
    return found <= distance ? std::optional(found) : std::nullopt;
}

std::vector<std::string> WordTree::terms() const {
    std::vector<std::string> all;
    std::unordered_set<std::string_view> known;
    each_leaf(root, [&](const TreeLeaf& leaf) {
        for (const auto& place : leaf.places) {
            for (const std::string& term : place) {
                if (known.insert(term).second) all.push_back(term);
            }
        }
    });
    return all;
}

std::vector<const TreeLeaf*> WordTree::patterns() const {
    std::vector<const TreeLeaf*> all;
    each_leaf(root, [&](const TreeLeaf& leaf) {
        if (leaf.is_pattern()) all.push_back(&leaf);
    });
    return all;
}

Result<std::shared_ptr<const WordTree>> analyze_tree(const QueryClause& clause,
                                                     const Schema& schema,
                                                     const text::Analyzer& analyzer) {
    TreeMaker maker(schema, analyzer);
    BRAID_TRY(TreeClause root, maker.make(clause, false));
    if (!finds_anything(root)) {
        BRAID_TRY(root, maker.make(clause, true));
    }
    return std::make_shared<const WordTree>(WordTree{std::move(root), schema, analyzer});
}

}  // namespace braid::index
