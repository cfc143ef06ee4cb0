#include "braid/engine/context.hpp"

#include <chrono>
#include <random>
#include <stop_token>
#include <string>

#include <gtest/gtest.h>

namespace braid::engine {
namespace {

Hit hit_of(const std::string& document, std::int64_t index, const std::string& text,
           std::size_t rank) {
    Hit hit;
    hit.collection = "wiki";
    hit.namespace_ = "default";
    hit.chunk.chunk_id = document + "#" + std::to_string(index);
    hit.chunk.document_id = document;
    hit.chunk.chunk_index = index;
    hit.chunk.content = text;
    hit.rank = rank;
    hit.score = 1.0 / static_cast<double>(rank);
    return hit;
}

/// Words are tokens.
std::size_t words(std::string_view text) {
    std::size_t count = 0;
    bool inside = false;
    for (const char c : text) {
        const bool space = c == ' ' || c == '\n';
        if (!space && !inside) ++count;
        inside = !space;
    }
    return count;
}

ContextOptions budget(std::size_t tokens) {
    ContextOptions options;
    options.budget = tokens;
    options.count_tokens = words;
    return options;
}

Result<std::vector<Chunk>> nobody(const Hit&, std::size_t) {
    return std::vector<Chunk>();
}

Answer answer_of(std::vector<Hit> hits) {
    Answer answer;
    answer.query = "q";
    answer.hits = std::move(hits);
    return answer;
}

TEST(Context, PutsPassagesUnderMarkersInDocumentOrder) {
    const Answer answer = answer_of({hit_of("b", 4, "late words", 1), hit_of("a", 0, "other", 2),
                                     hit_of("b", 1, "early words", 3)});
    const auto context = make_context(answer, budget(100), nobody);
    ASSERT_TRUE(context);
    EXPECT_EQ(context->text, "[1] (b)\nearly words\n\n[2] (b)\nlate words\n\n[3] (a)\nother\n");
    ASSERT_EQ(context->passages.size(), 3U);
    EXPECT_EQ(context->passages[0].rank, 3U);
    EXPECT_EQ(context->passages[1].rank, 1U);
    EXPECT_EQ(context->passages[0].trust, "untrusted");
    EXPECT_EQ(context->tokens, words(context->text));
    EXPECT_EQ(context->left_out, 0U);
}

TEST(Context, JoinsChunksThatFollowEachOtherWithTheirOverlapOnce) {
    const std::string shared = "a sentence that both chunks hold.";
    const Answer answer = answer_of({hit_of("b", 2, shared + " And more.", 1),
                                     hit_of("b", 1, "First comes this, then " + shared, 2),
                                     hit_of("b", 3, "Without overlap.", 3)});
    const auto context = make_context(answer, budget(100), nobody);
    ASSERT_TRUE(context);
    ASSERT_EQ(context->passages.size(), 1U);
    EXPECT_EQ(context->passages[0].text,
              "First comes this, then " + shared + " And more.\nWithout overlap.");
    EXPECT_EQ(context->passages[0].chunk_ids, (std::vector<std::string>{"b#1", "b#2", "b#3"}));
    EXPECT_EQ(context->passages[0].rank, 1U);
}

TEST(Context, PassesOverWhatDoesNotFitAndSaysSo) {
    const Answer answer = answer_of(
        {hit_of("a", 0, "one two three four five six seven eight", 1), hit_of("b", 0, "short", 2)});
    const auto context = make_context(answer, budget(5), nobody);
    ASSERT_TRUE(context);
    ASSERT_EQ(context->passages.size(), 1U);
    EXPECT_EQ(context->passages[0].document_id, "b");
    EXPECT_EQ(context->left_out, 1U);
    const auto nothing = make_context(answer, budget(2), nobody);
    ASSERT_TRUE(nothing);
    EXPECT_EQ(nothing->text, "");
    EXPECT_EQ(nothing->tokens, 0U);
    EXPECT_EQ(nothing->warnings.size(), 1U);
}

TEST(Context, AddsNeighborsAfterAllHitsWhileThereIsRoom) {
    const Answer answer = answer_of({hit_of("a", 5, "middle", 1), hit_of("b", 0, "other", 2)});
    const auto around = [](const Hit& hit, std::size_t count) -> Result<std::vector<Chunk>> {
        std::vector<Chunk> chunks;
        const auto index = *hit.chunk.chunk_index;
        const auto n = static_cast<std::int64_t>(count);
        for (std::int64_t i = std::max<std::int64_t>(0, index - n); i <= index + n; ++i) {
            chunks.push_back(hit_of(hit.chunk.document_id, i, "text" + std::to_string(i), 1).chunk);
        }
        return chunks;
    };
    ContextOptions options = budget(8);
    options.neighbors = 2;
    const auto context = make_context(answer, options, around);
    ASSERT_TRUE(context);
    // Six tokens for the hits; the two nearest neighbours of the first one fill the rest.
    EXPECT_EQ(context->text, "[1] (a)\ntext4\nmiddle\ntext6\n\n[2] (b)\nother\n");
    EXPECT_EQ(context->tokens, 8U);
}

TEST(Context, NamesTitleSectionSourceAndTrust) {
    Hit hit = hit_of("a", 0, "text", 1);
    hit.chunk.title = "Foxes";
    hit.chunk.section_title = "Diet\nand prey";
    hit.chunk.metadata.set("source", "https://example.org/foxes");
    hit.chunk.metadata.set("trust", "reviewed");
    const auto context = make_context(answer_of({hit}), budget(50), nobody);
    ASSERT_TRUE(context);
    EXPECT_EQ(context->text, "[1] Foxes › Diet and prey (https://example.org/foxes)\ntext\n");
    EXPECT_EQ(context->passages[0].trust, "reviewed");
}

TEST(Context, NeverExceedsTheBudget) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        std::vector<Hit> hits;
        const std::size_t count = random() % 20;
        for (std::size_t i = 0; i < count; ++i) {
            std::string text;
            for (std::size_t w = 0; w <= random() % 30; ++w) text += "w" + std::to_string(w) + " ";
            hits.push_back(hit_of("d" + std::to_string(random() % 4), static_cast<std::int64_t>(i),
                                  text, i + 1));
        }
        ContextOptions options = budget(1 + random() % 100);
        if (random() % 2 == 0) options.count_tokens = nullptr;
        const auto context = make_context(answer_of(hits), options, nobody);
        ASSERT_TRUE(context);
        EXPECT_LE(context->tokens, options.budget);
        EXPECT_EQ(context->tokens_estimated, !options.count_tokens);
        std::size_t chunks = 0;
        for (const ContextPassage& passage : context->passages) chunks += passage.chunk_ids.size();
        EXPECT_EQ(chunks + context->left_out, count);
    }
}

TEST(Context, AtTheDeadlineItIsWhatThereIsAndSaysSo) {
    const Answer answer = answer_of({hit_of("a", 5, "one two", 1), hit_of("b", 5, "three", 2)});
    ContextOptions late = budget(100);
    late.neighbors = 1;
    late.limits.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
    const auto slow = [&](const Hit&, std::size_t) -> Result<std::vector<Chunk>> {
        return fail(ErrorCode::DeadlineExceeded, "the deadline passed");
    };
    const auto hits_only = make_context(answer, late, slow);
    ASSERT_TRUE(hits_only) << hits_only.error().message;
    EXPECT_EQ(hits_only->passages.size(), 2U);
    EXPECT_FALSE(hits_only->complete);
    ASSERT_EQ(hits_only->warnings.size(), 1U);
    EXPECT_NE(hits_only->warnings.front().find("deadline"), std::string::npos);

    late.limits.deadline = std::chrono::steady_clock::now() - std::chrono::hours(1);
    const auto nothing = make_context(answer, late, nobody);
    ASSERT_TRUE(nothing) << nothing.error().message;
    EXPECT_EQ(nothing->left_out, 2U);
    EXPECT_FALSE(nothing->complete);

    std::stop_source gone;
    gone.request_stop();
    late.limits.stop = gone.get_token();
    const auto cancelled = make_context(answer, late, nobody);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, ErrorCode::Cancelled);
}

TEST(Context, WhatCannotFitIsNotLaidOut) {
    std::vector<Hit> hits;
    for (std::size_t i = 0; i < 20; ++i) {
        hits.push_back(hit_of("d" + std::to_string(i), 100, "one two three four", i + 1));
    }
    const auto around = [](const Hit& hit, std::size_t count) -> Result<std::vector<Chunk>> {
        std::vector<Chunk> chunks;
        for (std::size_t i = 100 - count; i <= 100 + count; ++i) {
            chunks.push_back(hit_of(hit.chunk.document_id, static_cast<std::int64_t>(i),
                                    "five six seven eight", 1)
                                 .chunk);
        }
        return chunks;
    };
    std::size_t layouts = 0;
    ContextOptions options = budget(20 * 6 + 1);  // the hits, and no more
    options.neighbors = 20;
    options.count_tokens = [&](std::string_view text) {
        layouts += text.starts_with("[1]") && text.find("[20]") != std::string_view::npos ? 1 : 0;
        return words(text);
    };
    const auto context = make_context(answer_of(std::move(hits)), options, around);
    ASSERT_TRUE(context);
    EXPECT_EQ(context->passages.size(), 20U);
    EXPECT_LE(layouts, 20U * 2U + 2U) << "only for the two neighbours that touch each hit";
}

TEST(Context, AThousandHitsAreLaidOutAFewTimes) {
    std::vector<Hit> hits;
    for (std::size_t i = 0; i < 1000; ++i) {
        std::string text;
        for (std::size_t word = 0; word < 20 + i % 30; ++word) {
            text += std::to_string(i) + "-" + std::to_string(word) + " ";
        }
        hits.push_back(
            hit_of("d" + std::to_string(i % 100), static_cast<std::int64_t>(i / 100), text, i + 1));
    }
    for (const std::size_t tokens : {1'000'000U, 20'000U}) {
        std::size_t counted = 0;
        ContextOptions options = budget(tokens);
        options.count_tokens = [&](std::string_view text) {
            counted += text.size();
            return words(text);
        };
        const auto context = make_context(answer_of(hits), options, nobody);
        ASSERT_TRUE(context);
        EXPECT_LE(context->tokens, tokens);
        EXPECT_GT(context->tokens, tokens == 20'000U ? 19'950U : 34'000U);
        EXPECT_LE(counted, 30 * context->text.size()) << "for a budget of " << tokens;
    }
}

TEST(Context, WhoeverFindsMoreInTheWholeThanInItsPartsIsHeard) {
    std::vector<Hit> hits;
    for (std::size_t i = 0; i < 50; ++i) {
        hits.push_back(hit_of("d" + std::to_string(i), 0, "one two three", i + 1));
    }
    ContextOptions options = budget(200);
    options.count_tokens = [](std::string_view text) { return words(text) * words(text) / 20; };
    const auto context = make_context(answer_of(hits), options, nobody);
    ASSERT_TRUE(context);
    EXPECT_LE(context->tokens, 200U);
    EXPECT_EQ(context->passages.size() + context->left_out, 50U);
    EXPECT_FALSE(context->passages.empty());
}

TEST(Context, SaysWhatTheAnswerItIsMadeOfSays) {
    Answer answer = answer_of({hit_of("a", 0, "one", 1)});
    answer.phrasings = {"other words"};
    answer.hypothetical_answer = "an answer";
    answer.warnings = {"a leg was down"};
    answer.unused = {"max_hops"};
    answer.complete = false;
    const auto context = make_context(answer, budget(100), nobody);
    ASSERT_TRUE(context);
    EXPECT_EQ(context->phrasings, answer.phrasings);
    EXPECT_EQ(context->hypothetical_answer, answer.hypothetical_answer);
    EXPECT_EQ(context->warnings, answer.warnings);
    EXPECT_EQ(context->unused, answer.unused);
    EXPECT_FALSE(context->complete);
}

TEST(Context, ABudgetOfNothingIsAnError) {
    EXPECT_FALSE(make_context(answer_of({}), budget(0), nobody));
}

}  // namespace
}  // namespace braid::engine
