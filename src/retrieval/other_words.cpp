#include "braid/retrieval/other_words.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "braid/llm/preprocess.hpp"

namespace braid::retrieval {

void OtherWords::ask(const std::shared_ptr<const QueryPreprocessor>& model, bool phrasings,
                     bool answer) {
    if (!phrasings && !answer) return;
    if (!model) {
        work_.answer.warnings.emplace_back(
            "no language model is configured: the plain query was searched");
        return;
    }
    patience_ = work_.limits;
    if (patience_.deadline) {
        // A model that heeds deadlines takes half of the time there is; a little more to say why.
        const auto now = Clock::now();
        patience_.deadline = now + (*patience_.deadline - now) * 6 / 10;
    }
    if (phrasings) phrasings_.emplace(send(model, true));
    if (answer) answer_.emplace(send(model, false));
}

core::Errand<OtherWords::Found> OtherWords::send(
    const std::shared_ptr<const QueryPreprocessor>& model, bool phrasings) {
    CallLimits asked = work_.limits;
    asked.bytes.reset();  // a model may hold them longer than the answer lives
    return work_.crew.send<Found>(
        std::move(asked),
        [model, phrasings, query = work_.request.query](const CallLimits& limits) -> Result<Found> {
            const auto start = Clock::now();
            llm::PreparedQuery prepared = llm::prepare_query(
                model.get(), query, {.expand = phrasings, .hyde = !phrasings}, limits);
            return Found{.variants = std::move(prepared.variants),
                         .dense_text = std::move(prepared.dense_text),
                         .hypothetical = prepared.hypothetical,
                         .warnings = std::move(prepared.warnings),
                         .time_ms = milliseconds_since(start)};
        });
}

OtherWords::Found OtherWords::take(std::optional<core::Errand<Found>>& errand,
                                   std::string_view instead) {
    const auto start = Clock::now();
    auto found = errand->wait(patience_);
    errand.reset();
    if (!found) {
        const std::string& query = work_.request.query;
        found = Found{
            .variants = {query},
            .dense_text = query,
            .warnings = {std::string(instead) + ": the language model: " + found.error().message},
            .time_ms = milliseconds_since(start)};
    }
    double& slowest = work_.answer.timings.preprocess_ms;  // both are asked at the same time
    slowest = std::max(slowest, found->time_ms);
    std::ranges::move(found->warnings, std::back_inserter(work_.answer.warnings));
    return *std::move(found);
}

void OtherWords::await_phrasings() {
    if (!phrasings_) return;
    work_.forms.variants =
        take(phrasings_, "the query was not expanded; the plain query was searched").variants;
}

void OtherWords::await_answer() {
    if (!answer_) return;
    Found found = take(answer_, "there is no hypothetical answer; the plain query was embedded");
    if (found.hypothetical) work_.forms.hypothetical_answer = std::move(found.dense_text);
}

}  // namespace braid::retrieval
