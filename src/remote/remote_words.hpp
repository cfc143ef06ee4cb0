#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/index/suggest.hpp"
#include "braid/index/word_tree.hpp"
#include "braid/remote/tree_query.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::remote {

/// Which words the visible chunks of a namespace hold, by the field "words".
class RemoteWords final : public index::Words {
public:
    /// Sends a search of the collection.
    using Ask = std::function<Result<Value>(Object body)>;

    /// `visible`: the clauses that say what may be seen.
    RemoteWords(Ask ask, Array visible) : ask_(std::move(ask)), visible_(std::move(visible)) {}

    /// Of the collection's nearest terms, 1,000 at most.
    Result<> near(std::string_view term, const Nearness& nearness,
                  const Visit& visit) const override;
    /// Looks for all that are not known yet at once.
    Result<> expect(std::span<const std::string> terms) const override;
    Result<Seen> seen(std::string_view term) const override;
    Result<Chunk> chunk(const std::string& id) const override;

    /// What the tree's patterns stand for, in the order of tree.patterns().
    Result<std::vector<PatternTerms>> expand(const index::WordTree& tree) const;

private:
    Object over_visible(Object aggregations) const;

    Ask ask_;
    Array visible_;
    mutable std::map<std::string, Seen, std::less<>> seen_;
    mutable std::map<std::string, Chunk> chunks_;
};

}  // namespace braid::remote
