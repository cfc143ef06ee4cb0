#include "braid/ingest/chunker.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "braid/core/utf8.hpp"
#include "braid/ingest/markdown.hpp"

namespace braid::ingest {
namespace {

using Strings = std::vector<std::string>;

Strings contents(const std::vector<Chunk>& chunks) {
    Strings texts;
    for (const Chunk& chunk : chunks) texts.push_back(chunk.content);
    return texts;
}

std::size_t count_words(std::string_view text) {
    std::size_t words = 0;
    bool in_word = false;
    for (const char c : text) {
        const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        words += !space && !in_word;
        in_word = !space;
    }
    return words;
}

ChunkingOptions small(std::size_t max_tokens, std::size_t overlap = 0) {
    return {.max_tokens = max_tokens, .overlap_tokens = overlap, .count_tokens = count_words};
}

TEST(Markdown, TurnsHeadingsIntoSections) {
    const auto chunks = chunk_markdown("a.md",
                                       "# The Harbour\n\nIntro.\n\n## Overview\nOver.\n\n### Early "
                                       "years ##\nEarly.\n\n## Trade\nTrade.\n",
                                       {});
    ASSERT_EQ(chunks.size(), 4U);
    EXPECT_EQ(contents(chunks), (Strings{"Intro.", "Over.", "Early.", "Trade."}));
    EXPECT_EQ(chunks[0].title, "The Harbour");
    EXPECT_FALSE(chunks[0].section_title);
    EXPECT_EQ(chunks[1].section_title, "Overview");
    EXPECT_EQ(chunks[2].section_title, "Overview > Early years");
    EXPECT_EQ(chunks[3].section_title, "Trade");
    EXPECT_EQ(chunks[3].chunk_id, "a.md#3");
    EXPECT_EQ(chunks[3].chunk_index, 3);
    EXPECT_EQ(chunks[3].document_id, "a.md");
}

TEST(Markdown, KnowsUnderlinedHeadingsFencesAndFrontMatter) {
    const auto document = parse_markdown(
        "---\ntitle: \"From the front\"\ntags: x\n---\nSalt\n====\n\nText.\n\n```\n# no "
        "heading\n\nstill code\n```\n\nPart\n----\nMore.\n#hashtag is text\n");
    EXPECT_EQ(document.title, "From the front");
    ASSERT_EQ(document.sections.size(), 2U);
    EXPECT_EQ(document.sections[0].heading, "Salt");
    EXPECT_EQ(document.sections[0].blocks.size(), 2U);
    EXPECT_EQ(document.text_of(document.sections[0].blocks[1]),
              "```\n# no heading\n\nstill code\n```\n");
    EXPECT_EQ(document.sections[1].heading, "Salt > Part");
    const auto same = parse_markdown("---\ntitle: Salt\n---\n# Salt\n\nText.\n\n# Salt\n\nMore.\n");
    EXPECT_EQ(same.title, "Salt");
    EXPECT_EQ(same.sections[0].heading, std::nullopt);
    EXPECT_EQ(parse_markdown("---\ntitle: Only\n---\ntext").title, "Only");
    EXPECT_EQ(parse_markdown("---\nnever closed").sections.size(), 1U);
}

TEST(Chunker, KeepsParagraphsTogetherWhileTheyFit) {
    const auto chunks = chunk_plain("t", "", "one two three\n\nfour five\n\nsix seven", small(18));
    EXPECT_EQ(contents(chunks), (Strings{"one two three\n\nfour five\n\nsix seven"}));
}

TEST(Chunker, CutsBetweenSentencesAndRepeatsTheEnd) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += "Sentence " + std::to_string(i) + " has five words. ";
    const auto chunks = chunk_plain("t", "", text, small(20, 5));
    ASSERT_GT(chunks.size(), 3U);
    for (const Chunk& chunk : chunks) EXPECT_LE(count_words(chunk.content), 20U) << chunk.content;
    EXPECT_TRUE(chunks[1].content.starts_with("Sentence 3 has five words. Sentence 4"))
        << chunks[1].content;
}

TEST(Chunker, CutsALongWordBetweenCharacters) {
    ChunkingOptions options;
    options.max_tokens = 20;
    options.count_tokens = [](std::string_view text) { return text.size(); };
    std::string word;
    for (int i = 0; i < 50; ++i) word += "ü";
    std::string joined;
    for (const Chunk& chunk : chunk_plain("t", "", word, options)) {
        EXPECT_LE(chunk.content.size(), 20U);
        EXPECT_TRUE(core::is_valid_utf8(chunk.content));
        joined += chunk.content;
    }
    EXPECT_EQ(joined, word);
}

TEST(Chunker, GivesNothingForTextWithoutText) {
    EXPECT_TRUE(chunk_plain("t", "title", " \n\n \t\n", {}).empty());
    EXPECT_TRUE(chunk_markdown("t", "", {}).empty());
}

TEST(Chunker, AHeadingAloneIsAChunk) {
    const auto chunks = chunk_markdown("t", "# Only a title\n\n## And a section\n", {});
    ASSERT_EQ(chunks.size(), 1U);
    EXPECT_EQ(chunks[0].title, "Only a title");
    EXPECT_EQ(chunks[0].content, "And a section");
}

TEST(Chunker, LongTitlesAndHeadingsLeaveRoomForText) {
    const auto words = [](std::size_t count, const std::string& word) {
        std::string text;
        for (; count > 0; --count) text += (text.empty() ? "" : " ") + word;
        return text;
    };
    SourceDocument document;
    document.title = words(300, "t");
    document.text = words(2000, "w");
    document.sections.push_back(
        {words(40, "outer") + " > " + words(50, "h"), {{0, document.text.size(), 0}}, 0});
    const auto chunks = chunk_document("d", document, small(200));
    ASSERT_EQ(chunks.size(), 40U);
    for (const Chunk& chunk : chunks) {
        EXPECT_EQ(count_words(chunk.content), 50U);
        EXPECT_EQ(count_words(*chunk.title), 100U);
        EXPECT_EQ(*chunk.section_title, words(50, "h"));
    }
    // What is ordinary stays as it is, in small chunks, too.
    document.title = words(30, "t");
    const auto ordinary = chunk_document("d", document, small(16));
    EXPECT_EQ(*ordinary[0].title, words(30, "t"));
    EXPECT_EQ(*ordinary[0].section_title, words(50, "h"));
}

/// Whatever the text: valid UTF-8, within the budget, every word kept, in order.
TEST(Chunker, LosesNoWordOfRandomTexts) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const Strings parts{"word", "déjà", "。",    "漢字", ". ", "! ", " ",  "\n",
                            "\n\n", "a.b",  "```\n", "- x",  "\t", "ß",  "🦊", "end."};
        std::string text;
        for (unsigned i = 0; i < rng() % 400; ++i) text += parts[rng() % parts.size()];
        const auto chunks = chunk_plain("t", "", text, small(16 + rng() % 10));
        std::string all;
        for (const Chunk& chunk : chunks) {
            EXPECT_TRUE(core::is_valid_utf8(chunk.content));
            EXPECT_LE(count_words(chunk.content), 26U);
            all += chunk.content;
        }
        const auto squeezed = [](const std::string& from) {
            std::string out;
            for (const char c : from) {
                if (c != ' ' && c != '\n' && c != '\t') out += c;
            }
            return out;
        };
        EXPECT_EQ(squeezed(all), squeezed(text));
    }
}

TEST(Chunker, WhatIntroducesABlockStaysWithIt) {
    ChunkingOptions options = small(16);
    const auto chunks = chunk_plain("t", "",
                                    "one two three four five six seven eight nine ten\n\nThe "
                                    "options are:\n\n- alpha beta gamma "
                                    "delta\n- epsilon",
                                    options);
    ASSERT_EQ(chunks.size(), 2U);
    EXPECT_TRUE(chunks[1].content.starts_with("The options are:")) << chunks[1].content;
    const auto option = chunk_plain("t", "",
                                    "one two three four five six seven eight nine ten eleven "
                                    "twelve.\n\n--prune FILE\n\nRemoves what is gone from there.",
                                    options);
    ASSERT_EQ(option.size(), 2U);
    EXPECT_TRUE(option[1].content.starts_with("--prune FILE")) << option[1].content;
}

TEST(Chunker, PlacesAreThoseOfTheSource) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
        text +=
            "Sentence " + std::to_string(i) + " has a few words." + (i % 5 == 4 ? "\n\n" : "\n");
    }
    for (const ChunkingMethod method :
         {ChunkingMethod::Structure, ChunkingMethod::Sentences, ChunkingMethod::Fixed}) {
        ChunkingOptions options = small(30, 6);
        options.method = method;
        const auto chunks = chunk_plain("t", "", text, options);
        ASSERT_GT(chunks.size(), 5U);
        std::size_t before = 0;
        for (const Chunk& chunk : chunks) {
            EXPECT_LE(count_words(chunk.content), 30U);
            const auto begin = static_cast<std::size_t>(chunk.metadata.find(kOffsetKey)->as_int());
            const auto end = static_cast<std::size_t>(chunk.metadata.find(kEndOffsetKey)->as_int());
            const std::string fresh = text.substr(begin, end - begin);
            EXPECT_TRUE(chunk.content.ends_with(fresh.substr(fresh.rfind(' ') + 1)));
            EXPECT_GE(begin, before);
            before = end;
            const auto lines =
                std::count(text.begin(), text.begin() + static_cast<long>(begin), '\n');
            EXPECT_EQ(*chunk.metadata.find(kLineKey), Value(lines + 1));
        }
        EXPECT_EQ(before, text.find_last_not_of('\n') + 1);
    }
}

/// Counters round, each in its way; a chunk is as full as its whole text allows.
TEST(Chunker, FillsChunksByCountingThemWhole) {
    std::mt19937 random(3);
    std::string text;
    for (int i = 0; i < 4000; ++i) {
        text += std::string(1 + random() % 9, static_cast<char>('a' + random() % 26));
        text += i % 11 == 10 ? ". " : (i % 97 == 96 ? "\n\n" : " ");
    }
    const std::vector<std::function<std::size_t(std::string_view)>> counters = {
        {},
        [](std::string_view piece) { return piece.size() / 4; },
        [](std::string_view piece) { return (piece.size() + 2) / 3 + 2; }};
    for (const auto& counter : counters) {
        ChunkingOptions options = small(60, 0);
        options.count_tokens = counter;
        options.method = ChunkingMethod::Fixed;
        const auto count = [&](const std::string& chunk) {
            return counter ? counter(chunk) : estimate_tokens(chunk);
        };
        const auto chunks = chunk_plain("t", "", text, options);
        ASSERT_GT(chunks.size(), 10U);
        for (std::size_t i = 0; i + 1 < chunks.size(); ++i) {
            EXPECT_LE(count(chunks[i].content), 60U);
            const std::string& next = chunks[i + 1].content;
            const std::string more = chunks[i].content + " " + next.substr(0, next.find(' '));
            EXPECT_GT(count(more) + 2, 60U) << "chunk " << i << " has room for another word";
        }
    }
}

TEST(Chunker, TakesAHugeLineWithoutSpaces) {
    const std::string text(2'000'000, 'x');
    const auto chunks = chunk_plain("t", "", text, {});
    std::size_t total = 0;
    for (const Chunk& chunk : chunks) total += chunk.content.size();
    EXPECT_EQ(total, text.size());
}

}  // namespace
}  // namespace braid::ingest
