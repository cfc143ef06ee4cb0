#include "braid/retrieval/stages.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "retrieval/stage_shelf.hpp"

namespace braid::retrieval {
namespace {

using namespace on_a_shelf;

TEST(Stages, BoostTheLastHeadingWhateverItsCase) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.8).section_title = "Guide > OVERVIEW";
    shelf.put("c", 0.7).section_title = "Overview > Details";
    shelf.put("d", 0.6).section_title = "\u00c9TUDE";
    const auto answer = shelf.ask({{"boost_section_matches", {}}});
    EXPECT_EQ(ids_shown(answer), (Ids{"b", "a", "c", "d"}));
    const Receipt& receipt = answer->hits[0].receipt;
    ASSERT_EQ(receipt.stages.size(), 1U);
    EXPECT_EQ(receipt.stages[0].operation, "multiply");
    EXPECT_EQ(receipt.stages[0].value, 1.2);
    EXPECT_EQ(receipt.score, receipt.fused * 1.2);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(answer->hits[i].receipt.stages.empty());
    expect_sound_receipts(*answer);
    const auto own =
        shelf.ask({{"boost_section_matches", {{"sections", Array{"\u00e9tude"}}, {"factor", 2}}}});
    EXPECT_EQ(ids_shown(own).front(), "d");
}

TEST(Stages, LeaveNegativeScoresToTheSectionBoostAlone) {
    Shelf shelf;
    shelf.put("a", -0.5).section_title = "summary";
    const auto answer = shelf.ask({{"boost_section_matches", {}}});
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->hits.at(0).receipt.stages.empty());
}

TEST(Stages, PushRecencyIntoTheLegs) {
    Shelf shelf;
    for (int i = 0; i < 60; ++i) {  // more than the depth: an old chunk must not take a place
        shelf.put("old" + std::to_string(i), 0.9).created_at = Timestamp{kNow.micros - 40 * kDay};
    }
    shelf.put("new", 0.2).created_at = Timestamp{kNow.micros - 29 * kDay};
    shelf.put("edge", 0.1).created_at = Timestamp{kNow.micros - 30 * kDay};
    shelf.put("undated", 0.3);
    shelf.put("named", 0.15).metadata.set("created_at", "2100-01-01T00:00:00Z");
    EXPECT_EQ(ids_shown(shelf.ask({{"filter_by_recency", {}}})), (Ids{"new", "named"}));
    EXPECT_EQ(ids_shown(shelf.ask({{"filter_by_recency", {{"keep_undated", true}}}})),
              (Ids{"undated", "new", "named"}));
    EXPECT_EQ(ids_shown(shelf.ask({{"filter_by_recency", {{"days", 31}}}})),
              (Ids{"new", "named", "edge"}));
}

TEST(Stages, DecayByAge) {
    Shelf shelf;
    shelf.put("old", 0.9).created_at = Timestamp{kNow.micros - 20 * kDay};
    shelf.put("new", 0.8).created_at = Timestamp{kNow.micros + kDay};
    shelf.put("undated", 0.5);
    const auto answer = shelf.ask({{"decay_by_age", {{"half_life_days", 10}}}});
    EXPECT_EQ(ids_shown(answer), (Ids{"new", "undated", "old"}));
    EXPECT_EQ(answer->hits[2].receipt.stages.at(0).value, 0.25);
    EXPECT_EQ(*answer->hits[2].receipt.stages[0].detail.find("age_days"), Value(20.0));
    EXPECT_EQ(answer->hits[0].receipt.stages.at(0).value, 1.0);
    expect_sound_receipts(*answer);
    const auto floored =
        shelf.ask({{"decay_by_age", {{"half_life_days", 1}, {"offset_days", 5}, {"floor", 0.5}}}});
    EXPECT_EQ(floored->hits.back().receipt.stages.at(0).value, 0.5);
}

TEST(Stages, BoostHitsThatMatchAFilter) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.8).metadata.set("category", "guide");
    shelf.put("c", -0.5).metadata.set("category", "guide");
    const Object parameters{{"filter", Object{{"category", "guide"}}}, {"factor", 2}};
    const auto answer = shelf.ask({{"boost_fields", parameters}});
    EXPECT_EQ(ids_shown(answer), (Ids{"b", "a", "c"}));
    EXPECT_EQ(answer->hits[2].receipt.stages.at(0).operation, "divide");
    EXPECT_GT(answer->hits[2].score, answer->hits[2].receipt.fused);
    expect_sound_receipts(*answer);
}

TEST(Stages, DiversifyByMarginalRelevance) {
    Shelf shelf;
    const std::vector<float> twin = shelf.put("a", 0.9).vector;
    shelf.put("b", 0.89).vector = twin;
    shelf.put("c", 0.7);
    shelf.put("d", 0.6);
    EXPECT_EQ(ids_shown(shelf.ask({})), (Ids{"a", "b", "c", "d"}));
    const auto answer = shelf.ask({{"mmr", {{"lambda", 0.2}}}});
    EXPECT_EQ(ids_shown(answer), (Ids{"a", "d", "c", "b"}));
    expect_sound_receipts(*answer);
    for (const Hit& hit : answer->hits) {
        const Object& detail = hit.receipt.stages.at(0).detail;
        EXPECT_EQ(hit.score, 0.2 * detail.find("relevance")->as_double() -
                                 (1 - 0.2) * detail.find("similarity")->as_double());
        EXPECT_TRUE(hit.chunk.vector.empty());
    }
    EXPECT_EQ(ids_shown(shelf.ask({{"mmr", {{"lambda", 1}}}})), (Ids{"a", "b", "c", "d"}));
    const auto some = shelf.ask({{"mmr", {{"lambda", 0.2}, {"candidates", 3}}}});
    EXPECT_EQ(ids_shown(some), (Ids{"a", "c", "b", "d"}));
    EXPECT_TRUE(some->hits[3].receipt.stages.empty());
}

TEST(Stages, SkipDiversityWithoutVectorsAndSaySo) {
    LocalStore store;
    store.add("default", {chunk_of("a", "foxes"), chunk_of("b", "foxes")}, "none");
    Request request;
    request.query = "foxes";
    request.strategy = Strategy::Sparse;
    request.stages = {{"mmr", {}}, {"min_score", {{"value", 0}}}};
    const auto answer =
        Retriever(store, fake_query_embedder(), application_options()).retrieve(request, {}, {});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->hits.size(), 2U);
    EXPECT_FALSE(answer->complete);
    ASSERT_EQ(answer->warnings.size(), 1U);
    EXPECT_NE(answer->warnings[0].find("\"mmr\" failed and was skipped"), std::string::npos);
    EXPECT_EQ(answer->hits[0].receipt.stages.size(), 1U);
}

TEST(Stages, CutByScore) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.875);
    shelf.put("c", 0.5);
    shelf.put("d", 0.25);
    const auto absolute = shelf.ask({{"min_score", {{"value", 0.5}}}});
    EXPECT_EQ(ids_shown(absolute), (Ids{"a", "b", "c"}));
    EXPECT_EQ(absolute->hits[2].receipt.stages.at(0).operation, "keep");
    expect_sound_receipts(*absolute);
    EXPECT_EQ(ids_shown(shelf.ask({{"relative_score", {{"fraction", 0.6}}}})), (Ids{"a", "b"}));
    const auto gap = shelf.ask({{"largest_gap", {}}});
    EXPECT_EQ(ids_shown(gap), (Ids{"a", "b"}));
    expect_sound_receipts(*gap);
    EXPECT_EQ(ids_shown(shelf.ask({{"largest_gap", {{"min_hits", 3}}}})), (Ids{"a", "b", "c"}));
    EXPECT_EQ(ids_shown(shelf.ask({{"largest_gap", {{"min_hits", 9}}}})),
              (Ids{"a", "b", "c", "d"}));
}

TEST(Stages, LookNoDeeperOnceSomethingWasCut) {
    Shelf shelf;
    for (int i = 0; i < 40; ++i) shelf.put("c" + std::to_string(10 + i), 0.9 - 0.01 * i);
    shelf.store.remember = true;
    const auto shallow = [](Request& request) {
        request.dense_top_k = 10;
        request.top_k = 30;
    };
    EXPECT_EQ(ids_shown(shelf.ask({{"min_score", {{"value", 0.85}}}}, {}, shallow)).size(), 6U);
    EXPECT_EQ(shelf.store.searched.size(), 1U);
    EXPECT_EQ(ids_shown(shelf.ask({{"relative_score", {{"fraction", 0.1}}}}, {}, shallow)).size(),
              30U);
    EXPECT_GT(shelf.store.searched.size(), 2U);
}

TEST(Stages, RunInTheOrderTheyAreGiven) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.8).section_title = "summary";
    const StageChoice cut{"min_score", {{"value", 0.85}}};
    const StageChoice boost{"boost_section_matches", {}};
    EXPECT_EQ(ids_shown(shelf.ask({cut, boost})), (Ids{"a"}));
    EXPECT_EQ(ids_shown(shelf.ask({boost, cut})), (Ids{"b", "a"}));
}

TEST(Stages, ComeAfterTheThreshold) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.8).section_title = "summary";
    EXPECT_EQ(ids_shown(shelf.ask({{"boost_section_matches", {}}}, {},
                                  [](Request& request) { request.score_threshold = 0.85; })),
              (Ids{"a"}));
}

TEST(Stages, CollapseEqualContentUnderTheBestAndNameTheRest) {
    Shelf shelf;
    shelf.put("a", 0.9);
    shelf.put("b", 0.8).content = "text of a";
    shelf.put("c", 0.7);
    shelf.put("d", 0.6).content = "text of a";
    shelf.put("e", 0.5).content = "text of c";
    EXPECT_EQ(ids_shown(shelf.ask({})), (Ids{"a", "b", "c", "d", "e"}));
    const auto answer = shelf.ask({{"collapse_duplicates", {}}});
    EXPECT_EQ(ids_shown(answer), (Ids{"a", "c"}));
    ASSERT_EQ(answer->hits[0].receipt.stages.size(), 1U);
    const ReceiptStage& stage = answer->hits[0].receipt.stages[0];
    EXPECT_EQ(stage.operation, "keep");
    EXPECT_EQ(stage.detail, (Object{{"duplicates", Array{"b", "d"}}}));
    EXPECT_EQ(answer->hits[0].score, answer->hits[0].receipt.fused);
    expect_sound_receipts(*answer);
    // Found deeper than the one that stays: left out all the same.
    const auto deeper = shelf.ask({{"collapse_duplicates", {}}}, {}, [](Request& request) {
        request.dense_top_k = 1;
        request.top_k = 10;
    });
    EXPECT_EQ(ids_shown(deeper), (Ids{"a", "c"}));
}

TEST(Stages, CollapseNearlyEqualContentIfTold) {
    const std::string text =
        "the quick brown fox jumps over the lazy dog and then it sleeps by the river";
    Shelf shelf;
    Chunk& first = shelf.put("a", 0.9);
    first.content = text;
    first.document_id = "x";
    Chunk& second = shelf.put("b", 0.8);
    second.content = text + " again";
    second.document_id = "y";
    Chunk& third = shelf.put("c", 0.7);
    third.content = text + " now";
    third.document_id = "x";
    shelf.put("d", 0.6).content = "the lazy dog sleeps by the river and the fox jumps over it";
    EXPECT_EQ(ids_shown(shelf.ask({{"collapse_duplicates", {}}})), (Ids{"a", "b", "c", "d"}));
    EXPECT_EQ(ids_shown(shelf.ask({{"collapse_duplicates", {{"similarity", 0.8}}}})),
              (Ids{"a", "d"}));
    const auto answer =
        shelf.ask({{"collapse_duplicates", {{"similarity", 0.8}, {"within", "document"}}}});
    EXPECT_EQ(ids_shown(answer), (Ids{"a", "b", "d"}));
    EXPECT_EQ(answer->hits[0].receipt.stages[0].detail, (Object{{"duplicates", Array{"c"}}}));
    expect_sound_receipts(*answer);
    EXPECT_FALSE(shelf.ask({{"collapse_duplicates", {{"within", "page"}}}}));
    EXPECT_FALSE(shelf.ask({{"collapse_duplicates", {{"similarity", 0.1}}}}));
}

}  // namespace
}  // namespace braid::retrieval
