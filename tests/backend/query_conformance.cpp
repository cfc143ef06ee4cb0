#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/conformance.hpp"

namespace braid::testing {

void QueryConformance::SetUp() {
    if (!promised().query_language) GTEST_SKIP() << "no query language is promised";
}

Leg QueryConformance::leg_of(std::vector<QueryClause> clauses, Principal principal) const {
    Leg leg{.kind = LegKind::Sparse, .scope = scope(std::move(principal)), .depth = 1000};
    leg.clause = std::make_shared<const QueryClause>(
        QueryClause{.kind = QueryClause::Kind::Group, .clauses = std::move(clauses)});
    return leg;
}

Ids QueryConformance::found(std::vector<QueryClause> clauses, Principal principal) const {
    Ids ids = ids_of(search(leg_of(std::move(clauses), std::move(principal))));
    std::ranges::sort(ids);
    return ids;
}

void QueryConformance::fill() {
    create(Schema{});
    Chunk titled = make_chunk("d", "Nothing but an owl.");
    titled.title = "Red foxes";
    put({make_chunk("a", "A red fox hunts at dusk."), make_chunk("b", "The fox, brown and red."),
         make_chunk("c", "call getUserName with kebab-case"), titled,
         make_chunk("e", "red barn, red door, old fox"), make_chunk("f", "hunters hunted foks")});
}

namespace {

using Kind = QueryClause::Kind;
using Occur = QueryClause::Occur;

QueryClause word(std::string text, Occur occur = Occur::Optional) {
    return {.kind = Kind::Word, .occur = occur, .text = std::move(text)};
}
QueryClause phrase(std::string text, std::uint32_t distance = 0) {
    return {.kind = Kind::Phrase, .text = std::move(text), .distance = distance};
}
QueryClause prefix(std::string text) {
    return {.kind = Kind::Prefix, .text = std::move(text)};
}
QueryClause fuzzy(std::string text, std::uint32_t distance) {
    return {.kind = Kind::Fuzzy, .text = std::move(text), .distance = distance};
}
QueryClause as(QueryClause clause, Occur occur) {
    clause.occur = occur;
    return clause;
}
QueryClause in(QueryClause clause, std::string field) {
    clause.field = std::move(field);
    return clause;
}
QueryClause group(std::vector<QueryClause> clauses, Occur occur = Occur::Optional) {
    return {.kind = Kind::Group, .occur = occur, .clauses = std::move(clauses)};
}

TEST_P(QueryConformance, WordsMayMustAndMustNotBeThere) {
    fill();
    EXPECT_EQ(found({word("fox"), word("owl")}), (Ids{"a", "b", "d", "e"}));
    EXPECT_EQ(found({word("fox", Occur::Must), word("owl")}), (Ids{"a", "b", "d", "e"}));
    EXPECT_EQ(found({word("fox", Occur::Must), word("owl", Occur::Must)}), Ids{"d"});
    EXPECT_EQ(found({word("fox"), word("brown", Occur::Not)}), (Ids{"a", "d", "e"}));
    EXPECT_EQ(found({word("Foxes", Occur::Must), word("the")}), (Ids{"a", "b", "d", "e"}));
    EXPECT_EQ(found({word("brown", Occur::Not)}), Ids{});
    EXPECT_EQ(found({word("unicorn", Occur::Must), word("fox")}), Ids{});
    EXPECT_EQ(found({word("unicorn", Occur::Not), word("owl")}), Ids{"d"});
    EXPECT_EQ(found({}), Ids{});
}

TEST_P(QueryConformance, GroupsAreNested) {
    fill();
    const auto either = group({word("dusk"), word("door")}, Occur::Must);
    EXPECT_EQ(found({word("red"), either}), (Ids{"a", "e"}));
    const auto both = group({word("red", Occur::Must), word("door", Occur::Must)}, Occur::Not);
    EXPECT_EQ(found({word("fox"), both}), (Ids{"a", "b", "d"}));
    EXPECT_EQ(found({group({word("red", Occur::Not)}), word("owl")}), Ids{"d"});
}

TEST_P(QueryConformance, PhrasesStandInOrderOrNearEachOther) {
    fill();
    EXPECT_EQ(found({phrase("red fox")}), (Ids{"a", "d"}));
    EXPECT_EQ(found({phrase("fox red")}), Ids{});
    EXPECT_EQ(found({phrase("red fox", 1)}), (Ids{"a", "d"}));
    EXPECT_EQ(found({phrase("red fox", 2)}), (Ids{"a", "b", "d", "e"}));
    EXPECT_EQ(found({phrase("fox red", 2)}), (Ids{"a", "b", "d", "e"}));
    EXPECT_EQ(found({phrase("red red", 1)}), Ids{"e"});
    EXPECT_EQ(found({phrase("red red red", 10)}), Ids{});
    EXPECT_EQ(found({phrase("the fox")}), Ids{"b"});
    EXPECT_EQ(found({word("fox"), as(phrase("red fox"), Occur::Not)}), (Ids{"b", "e"}));
    EXPECT_EQ(found({phrase("foxes owl", 100)}), Ids{}) << "fields are read apart";
}

TEST_P(QueryConformance, CompoundsAreFoundByTheirParts) {
    fill();
    EXPECT_EQ(found({word("getUserName", Occur::Must)}), Ids{"c"});
    EXPECT_EQ(found({phrase("call get user name with")}), Ids{"c"});
    EXPECT_EQ(found({phrase("getUserName with")}), Ids{"c"});
    EXPECT_EQ(found({phrase("getUserName kebab")}), Ids{});
    EXPECT_EQ(found({phrase("user name with kebab")}), Ids{"c"});
    EXPECT_EQ(found({phrase("user kebab")}), Ids{});
}

TEST_P(QueryConformance, FieldsAreSearchedAlone) {
    fill();
    EXPECT_EQ(found({in(word("fox"), "title")}), Ids{"d"});
    EXPECT_EQ(found({in(word("fox"), "content")}), (Ids{"a", "b", "e"}));
    EXPECT_EQ(found({in(phrase("red fox"), "title")}), Ids{"d"});
    EXPECT_EQ(found({in(phrase("fox red", 1), "title")}), Ids{"d"});
    EXPECT_EQ(found({in(phrase("red fox"), "content")}), Ids{"a"});
    EXPECT_EQ(found({in(prefix("fo"), "title")}), Ids{"d"});
    EXPECT_EQ(found({in(fuzzy("fix", 1), "title")}), Ids{"d"});
    EXPECT_EQ(found({word("owl"), as(in(word("fox"), "title"), Occur::Not)}), Ids{});
    const auto wrong = now()->search_leg(leg_of({in(word("fox"), "titel")}));
    expect_error(wrong, ErrorCode::InvalidArgument, "titel");
}

TEST_P(QueryConformance, PatternsStandForWords) {
    fill();
    EXPECT_EQ(found({prefix("hunt")}), (Ids{"a", "f"}));
    EXPECT_EQ(found({prefix("fo")}), (Ids{"a", "b", "d", "e", "f"}));
    EXPECT_EQ(found({prefix("zzz")}), Ids{});
    EXPECT_EQ(found({fuzzy("doar", 1)}), Ids{"e"});
    EXPECT_EQ(found({fuzzy("xoor", 1)}), Ids{"e"});
    EXPECT_EQ(found({fuzzy("xoar", 2)}), Ids{"e"}) << "the first letter, too";
    EXPECT_EQ(found({fuzzy("bod", 2)}), (Ids{"a", "b", "d", "e", "f"}));
    EXPECT_EQ(found({fuzzy("zz", 1)}), Ids{});
    EXPECT_EQ(found({fuzzy("foks", 2)}), (Ids{"a", "b", "d", "e", "f"}));
    EXPECT_EQ(found({as(fuzzy("fax", 1), Occur::Must), word("owl", Occur::Must)}), Ids{"d"});
    EXPECT_EQ(found({prefix("fo"), as(prefix("hunt"), Occur::Not)}), (Ids{"b", "d", "e"}));
    const LegResult result = search(leg_of({prefix("fo")}));
    ASSERT_EQ(result.patterns.size(), 1U);
    EXPECT_EQ(result.patterns[0].pattern, "fo*");
    EXPECT_EQ(result.patterns[0].words, (std::vector<std::string>{"fox", "fok"}));
    EXPECT_EQ(result.patterns[0].matching, 2U);
}

TEST_P(QueryConformance, PatternsDoNotShowWhatIsHidden) {
    create(Schema{});
    Chunk secret = make_chunk("secret", "foxtrot huntress fixes");
    secret.sensitivity = "sensitive";
    put({make_chunk("a", "fox"), secret});
    const Principal guest = reader("normal");
    EXPECT_EQ(found({prefix("fo")}, guest), Ids{"a"});
    for (const QueryClause& one : {prefix("fo"), fuzzy("fix", 2), prefix("hunt")}) {
        const LegResult seen = search(leg_of({one}, guest));
        ASSERT_EQ(seen.patterns.size(), 1U);
        for (const std::string& term : seen.patterns[0].words) EXPECT_EQ(term, "fox");
        EXPECT_LE(seen.patterns[0].matching, 1U);
    }
    EXPECT_EQ(found({prefix("fo")}), (Ids{"a", "secret"}));
    // Nor do words that are offered for misspelt ones.
    EXPECT_EQ(must(now()->suggest(scope(guest), "foxtrott", 5)), std::vector<Suggestion>{});
    const auto offered = must(now()->suggest(scope(), "foxtrott", 5));
    ASSERT_EQ(offered.size(), 1U);
    EXPECT_EQ(offered[0], (Suggestion{"foxtrott", "foxtrot", 1}));
}

TEST_P(QueryConformance, SayWhichWordsNobodyHas) {
    create(words_schema());
    std::vector<Chunk> chunks;
    for (int i = 0; i < 20; ++i) {
        chunks.push_back(make_chunk("c" + std::to_string(i), i % 2 == 0 ? "fox owl" : "fox"));
    }
    chunks.push_back(make_chunk("z", "fox badger"));
    chunks.back().sensitivity = "sensitive";
    put(chunks);
    Leg leg = words_leg(scope(), {"fox owl unicorn badger dragon"}, 1000);
    const auto absent = [&] {
        auto words = search(leg).absent;
        EXPECT_TRUE(words.has_value());
        if (words) std::ranges::sort(*words);
        return words.value_or(Ids{});
    };
    EXPECT_EQ(absent(), (Ids{"dragon", "unicorn"}));
    leg.depth = 3;
    EXPECT_EQ(absent(), (Ids{"dragon", "unicorn"}));
    leg.scope.filter = Filter::compare(Filter::Op::Eq, "chunk_id", "c1");
    EXPECT_EQ(absent(), (Ids{"dragon", "unicorn"})) << "whatever the filter";
    leg.scope.filter.reset();
    leg.scope.principal = reader("normal");
    EXPECT_EQ(absent(), (Ids{"badger", "dragon", "unicorn"}));
    leg.scope.namespace_ = "other";
    EXPECT_EQ(absent().size(), 5U);
}

TEST_P(QueryConformance, OffersWordsThatMayHaveBeenMeant) {
    create(Schema{});
    put({make_chunk("a", "The river runs to the harbour, hunting for größe."),
         make_chunk("b", "A River again"), make_chunk("c", "identification")});
    const auto offered = [&](const std::string& text) {
        Ids words;
        for (const Suggestion& one : must(now()->suggest(scope(), text, 3)))
            words.push_back(one.instead);
        return words;
    };
    EXPECT_EQ(offered("rivr"), Ids{"river"});
    EXPECT_EQ(offered("huntign"), Ids{"hunting"});
    EXPECT_EQ(offered("harbur"), Ids{"harbour"});
    EXPECT_EQ(offered("gröse"), Ids{"größe"});
    EXPECT_EQ(offered("identifiction"), Ids{"identification"});
    EXPECT_EQ(offered("river"), Ids{}) << "there is such a word";
    EXPECT_EQ(offered("zzzzzzzz"), Ids{});
    EXPECT_EQ(offered(""), Ids{});
    EXPECT_EQ(must(now()->suggest(scope(), "rivr", 3)).at(0).chunks, 2U);
}

TEST_P(QueryConformance, ScoresNamedChunksAndGoesOnBelowAHit) {
    fill();
    Leg leg = leg_of(
        {as(prefix("fo"), Occur::Must), word("red"), phrase("red fox"), word("dusk", Occur::Not)});
    const LegResult all = search(leg);
    ASSERT_EQ(all.hits.size(), 4U);
    expect_matched(all, 4);
    const Ids ids = ids_of(all);
    const auto scores = must(now()->score(leg, ids));
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(scores[i], all.hits[i].score) << ids[i];
    const Ids others{"a", "c", "nobody"};
    const auto none = must(now()->score(leg, others));
    EXPECT_EQ(none[0], 0.0);
    EXPECT_EQ(none[1], 0.0);
    EXPECT_EQ(none[2], std::nullopt);
    leg.depth = 1;
    Ids joined;
    const ReaderPtr snapshot = now();
    for (std::size_t i = 0; i < 6; ++i) {
        const LegResult page = must(snapshot->search_leg(leg));
        if (page.hits.empty()) break;
        joined.push_back(page.hits.front().chunk_id);
        leg.after = page.hits.front();
    }
    EXPECT_EQ(joined, ids);
}

TEST_P(QueryConformance, ABoostWeighs) {
    create(words_schema());
    put({make_chunk("a", "fox"), make_chunk("b", "owl")});
    QueryClause heavy = word("owl");
    heavy.boost = 3;
    const Ids ids{"a", "b"};
    const auto plain = must(now()->score(leg_of({word("fox"), word("owl")}), ids));
    const auto raised = must(now()->score(leg_of({word("fox"), heavy}), ids));
    EXPECT_EQ(plain[0], raised[0]);
    EXPECT_FLOAT_EQ(static_cast<float>(*raised[1]), static_cast<float>(3 * *plain[1]));
}

}  // namespace
}  // namespace braid::testing
