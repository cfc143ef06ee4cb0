// Every hit says where its content has the words that were searched for.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

/// The code points of `text`, each as a string.
std::vector<std::string> characters(const std::string& text) {
    std::vector<std::string> all;
    for (const char c : text) {
        if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) all.emplace_back();
        all.back() += c;
    }
    return all;
}

std::vector<std::string> marked(const Hit& hit) {
    const auto all = characters(hit.chunk.content);
    std::vector<std::string> words;
    for (const TextRange& range : hit.matches) {
        EXPECT_LT(range.begin, range.end);
        EXPECT_LE(range.end, all.size());
        std::string& word = words.emplace_back();
        for (std::size_t i = range.begin; i < range.end && i < all.size(); ++i) word += all[i];
    }
    return words;
}

class Matches : public ::testing::Test {
protected:
    Matches() {
        store.add("notes",
                  {chunk_of("a", "Der Fuchs \u2014 a Fox\u2019s tail; two foxes, one dog."),
                   chunk_of("b", "\U0001F98A runs with the dog")});
    }

    std::vector<std::string> marks(std::string query, const std::string& id, bool syntax = false) {
        Request request;
        request.query = std::move(query);
        request.query_syntax = syntax;
        request.collections = {"notes"};
        request.strategy = Strategy::Sparse;
        const auto answer = retriever.retrieve(request, {}, {});
        EXPECT_TRUE(answer) << answer.error().message;
        for (const Hit& hit : answer ? answer->hits : std::vector<Hit>()) {
            if (hit.chunk.chunk_id == id) return marked(hit);
        }
        ADD_FAILURE() << "no hit " << id;
        return {};
    }

    LocalStore store;
    Retriever retriever{store, fake_query_embedder(), application_options()};
};

using Words = std::vector<std::string>;

TEST_F(Matches, AreTheWordsOfTheQueryAsTheCollectionSeesThem) {
    EXPECT_EQ(marks("fox", "a"), (Words{"Fox\u2019s", "foxes"}));
    EXPECT_EQ(marks("running dogs", "b"), (Words{"runs", "dog"}));
    EXPECT_EQ(marks("\U0001F98A", "b"), (Words{"\U0001F98A"}));
}

TEST_F(Matches, AreLittleWordsOnlyIfTheyAreAllThereIs) {
    EXPECT_EQ(marks("the dog", "b"), Words{"dog"});
    EXPECT_EQ(marks("the", "b"), Words{"the"});
}

TEST_F(Matches, LeaveOutWhatTheQueryExcludes) {
    EXPECT_EQ(marks("dog -cat +fox", "a", true), (Words{"Fox\u2019s", "foxes", "dog"}));
    EXPECT_EQ(marks("(tail -runs) dog", "a", true), (Words{"tail", "dog"}));
}

TEST_F(Matches, AreWhatPatternsStoodFor) {
    EXPECT_EQ(marks("fuch*", "a", true), (Words{"Fuchs"}));
    EXPECT_EQ(marks("title:dog tail", "a", true), (Words{"tail"}));
}

TEST_F(Matches, AreNoneWhereOnlyOtherFieldsAreAskedFor) {
    Chunk titled = chunk_of("c", "A title with a dog in it.");
    titled.title = "Dog";
    store.add("notes", {titled});
    EXPECT_EQ(marks("title:dog", "c", true), Words());
    EXPECT_EQ(marks("title:dog -cat", "c", true), Words());
}

TEST_F(Matches, AreWhatATypoWasCorrectedTo) {
    EXPECT_EQ(marks("taill", "a"), (Words{"tail"}));
}

TEST_F(Matches, CanBeLeftOut) {
    Request request;
    request.query = "fox";
    request.collections = {"notes"};
    request.strategy = Strategy::Sparse;
    request.highlight = false;
    const auto answer = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->hits.size(), 1U);
    EXPECT_TRUE(answer->hits[0].matches.empty());
}

}  // namespace
}  // namespace braid::retrieval
