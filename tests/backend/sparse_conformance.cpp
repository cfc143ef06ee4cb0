#include <algorithm>

#include "backend/conformance.hpp"
#include "backend/random_data.hpp"

namespace braid::testing {
namespace {

struct Variant {
    std::string name;
    Schema schema;
};

std::vector<Variant> variants() {
    Schema weighted = words_schema();
    weighted.text_fields = {
        {"title", 2.5}, {"section_title", 0.3}, {"content", 1.0}, {"metadata.kind", 0.7}};
    Schema tuned = words_schema();
    tuned.bm25 = {.k1 = 0.9, .b = 0.4};
    Schema binary = words_schema();
    binary.bm25 = {.k1 = 0, .b = 0};
    Schema okapi = words_schema();
    okapi.bm25 = {.variant = Bm25Variant::Okapi, .k1 = 1.5, .b = 0.75, .epsilon = 0.25};
    Schema okapi_weighted = weighted;
    okapi_weighted.bm25 = okapi.bm25;
    return {{"lucene", words_schema()}, {"bm25f", weighted}, {"tuned", tuned},
            {"binary", binary},         {"okapi", okapi},    {"okapi_bm25f", okapi_weighted}};
}

TEST_P(BackendConformance, ScoresWordsAsTheFormulasSay) {
    for (const Variant& variant : variants()) {
        if (variant.schema.bm25.variant == Bm25Variant::Okapi && !GetParam().okapi) continue;
        create(variant.schema, variant.name);
        Model model = model_of(variant.schema);
        for (unsigned seed = 0; seed < 5; ++seed) {
            SCOPED_TRACE(::testing::Message() << variant.name << " seed " << seed);
            RandomData random(seed);
            const std::string space = "s" + std::to_string(seed);
            std::vector<Chunk> chunks;
            for (int i = 0; i < 40; ++i) {
                Chunk chunk = random.chunk(0);
                chunk.chunk_id += "-" + std::to_string(i);
                model.upsert(space, chunk);
                chunks.push_back(std::move(chunk));
            }
            put(chunks, space);
            for (int i = 0; i < 6; ++i) {
                ReadScope in_space = scope();
                in_space.namespace_ = space;
                if (i % 2 == 1) in_space.filter = random.filter();
                const Leg leg = words_leg(in_space, {random.words(1 + random.below(4))});
                SCOPED_TRACE(::testing::PrintToString(leg.phrasings));
                expect_list(leg, model);
            }
        }
    }
}

/// The same chunks in a collection that scores so by itself.
TEST_P(BackendConformance, AChoiceOfBm25ScoresAsACollectionThatHasIt) {
    if (!promised().bm25_choice) GTEST_SKIP() << "no choice of BM25 is promised";
    const std::vector<Bm25Choice> choices{
        {.k1 = 0.4, .b = {}, .text_fields = {}},
        {.k1 = {}, .b = 0.1, .text_fields = {{"title", 3}}},
        {.k1 = 2, .b = 1, .text_fields = {{"content", 0.25}, {"section_title", 7}}}};
    for (const Variant& variant : variants()) {
        if (variant.schema.bm25.variant == Bm25Variant::Okapi && !GetParam().okapi) continue;
        for (std::size_t c = 0; c < choices.size(); ++c) {
            SCOPED_TRACE(::testing::Message() << variant.name << " choice " << c);
            const std::string plain = variant.name + std::to_string(c);
            const std::string chosen = plain + "-chosen";
            RandomData random(static_cast<unsigned>(c));
            std::vector<Chunk> chunks;
            for (int i = 0; i < 60; ++i) {
                chunks.push_back(random.chunk(0));
                chunks.back().chunk_id += "-" + std::to_string(i);
            }
            create(variant.schema, plain);
            put(chunks);
            create(must(with_choice(variant.schema, choices[c])), chosen);
            put(chunks);
            const std::vector<std::string> both{plain, chosen};
            const ReaderPtr reader = must(backend().snapshot(both, {}));
            for (int i = 0; i < 12; ++i) {
                const std::string text = random.words(1 + random.below(4));
                Leg own;
                own.scope = scope_of(chosen, {});
                if (i % 3 == 1) own.scope.filter = random.filter();
                own.depth = 3 + random.below(60);
                own.phrasings = {must(reader->analyze(chosen, text))};
                if (i % 4 == 3 && promised().query_language) {
                    QueryClause clause{.kind = QueryClause::Kind::Group};
                    clause.clauses = {{.kind = QueryClause::Kind::Word, .text = text},
                                      {.kind = QueryClause::Kind::Phrase, .text = text}};
                    own.clause = std::make_shared<const QueryClause>(clause);
                }
                Leg asked = own;
                asked.scope.collection = plain;
                asked.bm25 = choices[c];
                SCOPED_TRACE(text);
                const LegResult expected = must(reader->search_leg(own));
                EXPECT_EQ(must(reader->search_leg(asked)).hits, expected.hits);
                const Ids ids = ids_of(expected);
                EXPECT_EQ(must(reader->score(asked, ids)), must(reader->score(own, ids)));
                if (promised().whole_ranking) {
                    EXPECT_EQ(must(reader->rank_of(asked, ids)), must(reader->rank_of(own, ids)));
                }
                EXPECT_EQ(must(reader->text_statistics(asked)).total_length,
                          must(reader->text_statistics(own)).total_length);
                if (expected.hits.size() < 2) continue;
                own.after = asked.after = expected.hits.front();
                EXPECT_EQ(must(reader->search_leg(asked)).hits, must(reader->search_leg(own)).hits);
            }
        }
    }
}

TEST_P(BackendConformance, AChoiceOfBm25NamesFieldsThatThereAre) {
    if (!promised().bm25_choice) GTEST_SKIP() << "no choice of BM25 is promised";
    create(words_schema());
    put({make_chunk("a", "fox")});
    Leg leg = words_leg(scope(), {"fox"});
    leg.bm25.text_fields = {{"titel", 2}};
    const auto found = now()->search_leg(leg);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(found.error().message.find("titel"), std::string::npos) << found.error().message;
}

TEST_P(BackendConformance, AnalyzesQueriesAsItAnalyzesText) {
    create(Schema{});
    put({make_chunk("a", "The cafés were RUNNING"), make_chunk("b", "nothing of the kind")});
    EXPECT_EQ(find_words("cafe run"), Ids{"a"});
    EXPECT_EQ(find_words("Café"), Ids{"a"});
}

TEST_P(BackendConformance, SearchesWordsLikeTheOnlyWhereAQueryHasNoOthers) {
    create(Schema{});
    put({make_chunk("a", "the keeper of the lamp"), make_chunk("b", "a harbour in the north")});
    EXPECT_EQ(find_words("the lamp"), Ids{"a"});
    EXPECT_EQ(find_words("the unicorn"), Ids{});
    EXPECT_EQ(find_words("of the"), (Ids{"a", "b"}));
}

TEST_P(BackendConformance, ARepeatedQueryWordCountsAgain) {
    create(words_schema());
    put({make_chunk("a", "fox and hound"), make_chunk("b", "cat")});
    const Ids ids{"a"};
    const auto score = [&](const std::string& query) {
        return *must(now()->score(words_leg(scope(), {query}), ids)).at(0);
    };
    if (promised().exact_lengths) {
        EXPECT_DOUBLE_EQ(score("fox fox fox"), 3 * score("fox"));
        EXPECT_DOUBLE_EQ(score("fox hound fox"), 2 * score("fox") + score("hound"));
    } else {  // of floats
        EXPECT_FLOAT_EQ(static_cast<float>(score("fox fox fox")),
                        static_cast<float>(3 * score("fox")));
        EXPECT_FLOAT_EQ(static_cast<float>(score("fox hound fox")),
                        static_cast<float>(2 * score("fox") + score("hound")));
    }
    EXPECT_EQ(score("unicorn"), 0.0);
    EXPECT_EQ(score(""), 0.0);
}

TEST_P(BackendConformance, QueryVariantsKeepTheBestScore) {
    create(words_schema());
    put({make_chunk("a", "red fox"), make_chunk("b", "blue whale"),
         make_chunk("c", "red whale sings"), make_chunk("d", "nothing")});
    const Ids ids{"a", "b", "c", "d"};
    const auto scores = [&](std::vector<std::string> texts) {
        return must(now()->score(words_leg(scope(), std::move(texts)), ids));
    };
    const auto red = scores({"red"});
    const auto whale = scores({"blue whale"});
    const auto both = scores({"red", "blue whale", "unicorn"});
    for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_EQ(both[i], std::max(red[i], whale[i])) << ids[i];
    }
    expect_matched(search(words_leg(scope(), {"red", "blue whale"})), 3);
    expect_matched(search(words_leg(scope(), {})), 0);
}

TEST_P(BackendConformance, DeletedAndReplacedChunksLeaveTheStatistics) {
    create(words_schema());
    Model model = model_of(words_schema());
    const auto write = [&](const Chunk& chunk) {
        put({chunk});
        model.upsert("default", chunk);
    };
    for (int i = 0; i < 30; ++i) write(make_chunk("x" + std::to_string(i), "word filler"));
    write(make_chunk("a", "word"));
    write(make_chunk("b", "filler filler"));
    for (int i = 0; i < 20; ++i) {
        erase(by_ids({"x" + std::to_string(i)}));
        model.remove("default", "x" + std::to_string(i));
    }
    for (int i = 20; i < 30; ++i) write(make_chunk("x" + std::to_string(i), "other words"));
    expect_list(words_leg(scope(), {"word filler other"}), model);
    if (promised().live_df) {
        EXPECT_EQ(must(now()->stats(scope())).terms, 4U);
    }
}

TEST_P(BackendConformance, OkapiScoresMayBeNegativeAndAreThenNotHits) {
    if (!GetParam().okapi) GTEST_SKIP() << "the backend does not score by Okapi";
    Schema schema = words_schema();
    schema.bm25 = {.variant = Bm25Variant::Okapi, .k1 = 1.5, .b = 0.75, .epsilon = 0.25};
    create(schema);
    Model model = model_of(schema);
    const std::vector<Chunk> chunks{make_chunk("a", "the cat"), make_chunk("b", "the the cat"),
                                    make_chunk("c", "the cat dog"), make_chunk("d", "dog")};
    for (const Chunk& chunk : chunks) model.upsert("default", chunk);
    put(chunks);
    const Leg leg = words_leg(scope(), {"the"});
    const Model::Scores expected = model.sparse(leg);
    ASSERT_LT(expected.at("a"), 0) << "the mean idf is negative here, as rank-bm25 has it";
    const Ids ids{"a", "b", "d"};
    const auto scores = must(now()->score(leg, ids));
    EXPECT_NEAR(present(scores.at(0)), expected.at("a"), 1e-12);
    EXPECT_NEAR(present(scores.at(1)), expected.at("b"), 1e-12);
    EXPECT_EQ(scores.at(2), 0.0);
    EXPECT_TRUE(search(leg).hits.empty());
    expect_matched(search(leg), 0);
    if (promised().whole_ranking) {
        EXPECT_EQ(must(now()->rank_of(leg, ids)).at(0), std::nullopt);
    }
}

TEST_P(BackendConformance, WeighsWordsByTheStatisticsALegBrings) {
    if (!promised().scoped_statistics) GTEST_SKIP() << "no scoped_statistics promised";
    for (const Bm25Variant variant : {Bm25Variant::Lucene, Bm25Variant::Okapi}) {
        SCOPED_TRACE(variant == Bm25Variant::Okapi ? "okapi" : "lucene");
        Schema schema = words_schema();
        schema.bm25.variant = variant;
        const std::string suffix = variant == Bm25Variant::Okapi ? "_okapi" : "_lucene";
        const std::vector<Chunk> left{make_chunk("a", "red fox red"), make_chunk("b", "the owl")};
        const std::vector<Chunk> right{make_chunk("c", "the red barn"), make_chunk("d", "the hill"),
                                       make_chunk("e", "the fox")};
        const auto fill = [&](const std::string& name, const std::vector<Chunk>& chunks) {
            ASSERT_TRUE(backend().create_collection(name + suffix, schema));
            ASSERT_TRUE(backend().upsert(name + suffix, "default", chunks, {}));
        };
        fill("left", left);
        fill("right", right);
        std::vector<Chunk> all = left;
        all.insert(all.end(), right.begin(), right.end());
        fill("both", all);
        const Ids names{"left" + suffix, "right" + suffix, "both" + suffix};
        const ReaderPtr snapshot = must(backend().snapshot(names, {}));
        const auto leg_in = [&](const std::string& name) {
            return words_leg({.collection = name + suffix}, {"red the", "fox"});
        };
        TextStatistics sum = must(snapshot->text_statistics(leg_in("left")));
        sum.add(must(snapshot->text_statistics(leg_in("right"))));
        const auto shared = std::make_shared<const TextStatistics>(sum);
        EXPECT_EQ(sum.chunks, 5U);
        EXPECT_EQ(sum.frequencies.at("red"), 2U);
        const Ids ids{"a", "b", "c", "d", "e"};
        const auto expected = must(snapshot->score(leg_in("both"), ids));
        for (const std::string name : {"left", "right"}) {
            Leg leg = leg_in(name);
            leg.statistics = shared;
            const auto scores = must(snapshot->score(leg, ids));
            for (std::size_t i = 0; i < ids.size(); ++i) {
                if (!scores[i]) continue;
                EXPECT_EQ(scores[i], expected[i]) << ids[i];
            }
            for (const LegHit& hit : must(snapshot->search_leg(leg)).hits) {
                const auto place = std::ranges::find(ids, hit.chunk_id) - ids.begin();
                EXPECT_EQ(hit.score, expected[static_cast<std::size_t>(place)]) << hit.chunk_id;
            }
        }
    }
}

TEST_P(BackendConformance, OneEmptyTextDoesNotDivideByZero) {
    create(words_schema());
    put({make_chunk("a", ""), make_chunk("b", " ")});
    EXPECT_TRUE(find_words("anything").empty());
    EXPECT_EQ(must(now()->stats(scope())).average_length, 0.0);
    EXPECT_TRUE(find_words("").empty());
    EXPECT_TRUE(find_words(std::string(100'000, ' ') + "\xff\xfe").empty());
}

}  // namespace
}  // namespace braid::testing
