// Texts and queries that nobody would write by hand: they cost time and memory in proportion to
// their size, and change nothing for others.

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/local/backend.hpp"
#include "braid/store/memory_directory.hpp"

namespace braid::testing {
namespace {

/// With positions and without.
class BadWords : public ::testing::TestWithParam<bool> {
protected:
    BadWords() : root_(store::make_memory_directory()) {
        local::LocalOptions options;
        options.flush_rows = 2;
        options.flush_on_close_rows = 1;
        options.compaction = {.enabled = false, .background = false};
        options_ = options;
        open();
        Schema schema;
        schema.positions = GetParam();
        must(backend_->create_collection("c", schema));
        add("plain", "a red fox");
    }

    void open() {
        backend_.reset();
        backend_ =
            must(local::open_local_backend(must(root_->subdirectory("db")), options_)).backend;
    }
    void add(const std::string& id, std::string text) {
        must(backend_->upsert("c", "default", {make_chunk(id, std::move(text))}, {}));
        dynamic_cast<local::LocalBackend&>(*backend_).run_due_compactions();
    }
    std::vector<std::string> find(const std::string& query) {
        const std::vector<std::string> names{"c"};
        const ReaderPtr snapshot = must(backend_->snapshot(names, {}));
        Leg leg{.kind = LegKind::Sparse, .scope = scope_of("c")};
        leg.phrasings.push_back(must(snapshot->analyze("c", query)));
        return ids_of(snapshot, leg);
    }
    std::vector<std::string> find_phrase(const std::string& text) {
        const std::vector<std::string> names{"c"};
        const ReaderPtr snapshot = must(backend_->snapshot(names, {}));
        Leg leg{.kind = LegKind::Sparse, .scope = scope_of("c")};
        QueryClause root{.kind = QueryClause::Kind::Group};
        root.clauses.push_back({.kind = QueryClause::Kind::Phrase, .text = text});
        leg.clause = std::make_shared<const QueryClause>(std::move(root));
        return ids_of(snapshot, leg);
    }
    static std::vector<std::string> ids_of(const ReaderPtr& snapshot, const Leg& leg) {
        std::vector<std::string> ids;
        for (const LegHit& hit : must(snapshot->search_leg(leg)).hits) ids.push_back(hit.chunk_id);
        return ids;
    }
    void expect_whole() {
        open();
        EXPECT_EQ(must(backend_->check({})).problems, std::vector<std::string>());
        EXPECT_EQ(find("fox").front(), "plain");
    }

private:
    std::unique_ptr<store::Directory> root_;
    local::LocalOptions options_;
    std::unique_ptr<Backend> backend_;
};

using Ids = std::vector<std::string>;

TEST_P(BadWords, ATokenWithoutEndIsCut) {
    add("long", std::string(16 << 20, 'x') + " owl");
    expect_whole();
    EXPECT_EQ(find(std::string(300, 'x')), Ids{"long"}) << "by its first 255 bytes";
    EXPECT_EQ(find("owl"), Ids{"long"});
}

TEST_P(BadWords, ManyDistinctTerms) {
    std::string text;
    for (int i = 0; i < 70'000; ++i) text += "t" + std::to_string(i) + " ";
    add("many", text);
    add("other", "t5 t69999");
    expect_whole();
    EXPECT_EQ(find("t69999"), (Ids{"other", "many"}));
    EXPECT_EQ(find_phrase("t69998 t69999"), Ids{"many"});
    EXPECT_EQ(find_phrase("t69999 t69998"), Ids{});
}

TEST_P(BadWords, EmptyTexts) {
    for (const std::string text : {"", " ", "\n\t", "...", "\u200B"}) {
        add("empty" + std::to_string(text.size()), text);
    }
    expect_whole();
    EXPECT_EQ(find(""), Ids{});
    EXPECT_EQ(find("..."), Ids{});
}

TEST_P(BadWords, AQueryOfAHundredThousandWords) {
    add("other", "w77777 and w3");
    std::string query = "fox";
    for (int i = 0; i < 100'000; ++i) query += " w" + std::to_string(i);
    EXPECT_EQ(find(query), (Ids{"other", "plain"}));
    expect_whole();
}

TEST_P(BadWords, APhraseLongerThanAnyText) {
    add("short", "wolf wolf wolf owl");
    add("alternating", "wolf owl wolf owl wolf");
    for (int i = 0; i < 100; ++i) add("filler" + std::to_string(i), "a wolf, an owl");
    std::string phrase;
    for (int i = 0; i < 20'000; ++i) phrase += "wolf owl ";
    EXPECT_EQ(find_phrase(phrase), Ids{});
    EXPECT_EQ(find_phrase("wolf wolf"), Ids{"short"});
    EXPECT_EQ(find_phrase("wolf owl wolf"), Ids{"alternating"});
    EXPECT_EQ(find_phrase("wolf owl wolf owl wolf"), Ids{"alternating"});
    EXPECT_EQ(find_phrase("wolf owl wolf owl wolf owl"), Ids{});
    expect_whole();
}

TEST_P(BadWords, StrangeCharactersSeparateOrJoinAsTheyShould) {
    add("control", std::string("wolf\x01owl\x7f") + '\0' + "bat");
    add("rtl", "\u202Eשלום עולם\u202C مرحبا");
    add("emoji", "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽");
    expect_whole();
    EXPECT_EQ(find("bat"), Ids{"control"});
    EXPECT_EQ(find("שלום"), Ids{"rtl"});
    EXPECT_EQ(find("مرحبا"), Ids{"rtl"});
    EXPECT_EQ(find("👍🏽"), Ids{"emoji"});
    EXPECT_EQ(find_phrase("שלום עולם"), Ids{"rtl"});
    EXPECT_EQ(find_phrase("wolf owl bat"), Ids{"control"});
}

INSTANTIATE_TEST_SUITE_P(Positions, BadWords, ::testing::Bool());

}  // namespace
}  // namespace braid::testing
