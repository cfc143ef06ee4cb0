// What a language model's words do to a search: phrasings to the sparse legs, HyDE to the dense
// ones.

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "core/present.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

class FakeModel final : public QueryPreprocessor {
public:
    Result<std::vector<std::string>> expand(std::string_view, const CallLimits&) const override {
        ++calls;
        if (broken) return fail(ErrorCode::Unavailable, "the model is down");
        return std::vector<std::string>{"vulpine predator", "owl"};
    }
    Result<std::string> hypothetical_answer(std::string_view, const CallLimits&) const override {
        ++calls;
        if (broken) return fail(ErrorCode::Unavailable, "the model is down");
        return std::string("owls hunt at night");
    }
    bool broken = false;
    mutable std::atomic<int> calls = 0;
};

class Preprocess : public ::testing::Test {
protected:
    Preprocess() : model(std::make_shared<FakeModel>()) {
        store.add("default",
                  {chunk_of("fox", "the fox hunts at dusk"), chunk_of("owl", "the owl is a bird"),
                   chunk_of("oak", "an oak is a tree")});
        store.remember = true;
    }

    Result<Answer> ask(const Request& request, bool with_model = true) {
        RetrieverOptions options = application_options();
        if (with_model) options.preprocessor = model;
        options.hypothesis_embedder = [this](const Schema&, std::string_view text,
                                             const CallLimits&) -> Result<QueryVector> {
            hypotheses.emplace_back(text);
            return QueryVector{fake_embed(text), false, {}};
        };
        const Retriever retriever(store, fake_query_embedder(), options);
        return retriever.retrieve(request, {}, {});
    }

    using Phrasings = std::vector<std::vector<std::string>>;

    /// The phrasings of the first sparse leg.
    Phrasings texts_searched() const {
        for (const Leg& leg : store.searched) {
            if (leg.kind == LegKind::Sparse) return leg.phrasings;
        }
        return {};
    }
    /// Texts in the terms of the collection.
    Phrasings analyzed(const std::vector<std::string>& texts) const {
        const auto snapshot = store.snapshot(std::vector<std::string>{"default"}, {});
        Phrasings out;
        for (const std::string& text : texts) out.push_back(*(*snapshot)->analyze("default", text));
        return out;
    }

    LocalStore store;
    std::shared_ptr<FakeModel> model;
    std::vector<std::string> hypotheses;
};

Request fox() {
    Request request;
    request.query = "fox";
    return request;
}

bool has_warning(const Answer& answer, const std::string& words) {
    return std::ranges::any_of(answer.warnings, [&](const std::string& warning) {
        return warning.find(words) != std::string::npos;
    });
}

TEST_F(Preprocess, PhrasingsAreSearchedByWordsBesideTheQuery) {
    Request request = fox();
    request.expand_query = true;
    request.strategy = Strategy::Sparse;
    const auto answer = ask(request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(texts_searched(), analyzed({"fox", "vulpine predator", "owl"}));
    EXPECT_EQ(answer->hits.size(), 2U);
    EXPECT_TRUE(answer->warnings.empty());
    EXPECT_EQ(answer->query, "fox");
    EXPECT_EQ(answer->phrasings, (std::vector<std::string>{"vulpine predator", "owl"}));
}

TEST_F(Preprocess, AHypotheticalAnswerIsEmbeddedInsteadOfTheQuery) {
    Request request = fox();
    request.use_hyde = true;
    const auto answer = ask(request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(hypotheses, std::vector<std::string>{"owls hunt at night"});
    EXPECT_EQ(texts_searched(), analyzed({"fox"}));  // words stay the user's
    EXPECT_EQ(answer->hypothetical_answer, "owls hunt at night");
    EXPECT_TRUE(answer->phrasings.empty());
}

TEST_F(Preprocess, WhatExplainsAnAnswerIsMeasuredWithWhatTheAnswerUsed) {
    RetrieverOptions options = application_options();
    options.preprocessor = model;
    const Retriever retriever(store, fake_query_embedder(), options);
    Request request = fox();
    request.expand_query = true;
    request.use_hyde = true;
    request.top_k = 1;
    const auto answer = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(answer) << answer.error().message;
    model->calls = 0;
    for (const std::string id : {"fox", "owl", "oak"}) {
        const auto why = retriever.why_not(request, id, {}, {});
        ASSERT_TRUE(why) << why.error().message;
        const Explanation& explanation = why->explanation;
        ASSERT_TRUE(explanation.hit || id == "oak");
        ASSERT_EQ(explanation.legs.size(), 2U);
        const LegStanding& dense = explanation.legs.front();
        const LegStanding& sparse = explanation.legs.back();
        if (explanation.hit) {  // the same scores as in its receipt
            EXPECT_EQ(dense.score, explanation.hit->dense_score);
            EXPECT_EQ(sparse.rank.has_value(), explanation.hit->sparse_score.has_value());
        }
        EXPECT_EQ(sparse.rank.has_value(), id != "oak");  // "owl" by a phrasing only
    }
    EXPECT_EQ(model->calls, 6);  // each inquiry asks once: its variations search the same words
}

TEST_F(Preprocess, AVectorOfTheCallersWinsOverTheHypotheticalAnswer) {
    Request request = fox();
    request.use_hyde = true;
    request.query_embedding = fake_embed("fox");
    ASSERT_TRUE(ask(request));
    EXPECT_TRUE(hypotheses.empty());
    EXPECT_EQ(model->calls, 0);
}

TEST_F(Preprocess, ABrokenModelLeavesThePlainQueryAndAWarning) {
    model->broken = true;
    const auto plain = ask(fox());
    Request request = fox();
    request.expand_query = true;
    request.use_hyde = true;
    const auto answer = ask(request);
    ASSERT_TRUE(plain && answer);
    EXPECT_EQ(answer->hits, plain->hits);
    EXPECT_TRUE(has_warning(*answer, "the model is down"));
}

TEST_F(Preprocess, WithoutAModelThePlainQueryRunsWithAWarning) {
    Request request = fox();
    request.expand_query = true;
    const auto answer = ask(request, false);
    ASSERT_TRUE(answer);
    EXPECT_TRUE(has_warning(*answer, "no language model is configured"));
    EXPECT_EQ(texts_searched(), analyzed({"fox"}));
}

TEST_F(Preprocess, OnlyWhatALegNeedsIsAskedFor) {
    Request request = fox();
    request.expand_query = true;
    request.use_hyde = true;
    request.strategy = Strategy::Dense;
    ASSERT_TRUE(ask(request));
    EXPECT_EQ(model->calls, 1);
}

TEST_F(Preprocess, LaterPagesSearchTheSamePhrasings) {
    RetrieverOptions options = application_options();
    options.preprocessor = model;
    const Retriever retriever(store, fake_query_embedder(), options);
    Request request = fox();
    request.expand_query = true;
    request.strategy = Strategy::Sparse;
    request.top_k = 1;
    const auto first = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(first && first->cursor);
    store.searched.clear();
    model->broken = true;
    Request next;
    next.cursor = present(first->cursor);
    const auto second = retriever.retrieve(next, {}, {});
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(texts_searched(), analyzed({"fox", "vulpine predator", "owl"}));
    EXPECT_TRUE(second->warnings.empty());
    EXPECT_EQ(second->phrasings, first->phrasings);
}

}  // namespace
}  // namespace braid::retrieval
