#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "braid/core/errand.hpp"
#include "braid/embedder.hpp"
#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// Other words for the query, by a language model: phrasings, which the sparse legs wait for, and a
/// hypothetical answer, which only the dense ones wait for. A model that takes more than its share
/// of the time there is goes unheard, and the plain query is searched.
class OtherWords {
public:
    explicit OtherWords(Work& work) : work_(work) {}

    /// Asks for what is wanted, and returns at once. Without a model: a warning.
    void ask(const std::shared_ptr<const QueryPreprocessor>& model, bool phrasings, bool answer);

    /// Adds the phrasings to the work's variants.
    void await_phrasings();

    bool answer_pending() const { return answer_.has_value(); }
    /// Makes the answer the work's dense text.
    void await_answer();

private:
    struct Found {
        std::vector<std::string> variants;
        std::string dense_text;
        bool hypothetical = false;
        std::vector<std::string> warnings;
        double time_ms = 0;
    };

    core::Errand<Found> send(const std::shared_ptr<const QueryPreprocessor>& model, bool phrasings);
    /// What the model found; plain, with a warning that starts with `instead`, if it is too slow.
    Found take(std::optional<core::Errand<Found>>& errand, std::string_view instead);

    Work& work_;
    CallLimits patience_;  // with the model
    std::optional<core::Errand<Found>> phrasings_;
    std::optional<core::Errand<Found>> answer_;
};

}  // namespace braid::retrieval
