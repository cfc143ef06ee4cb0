// A question in a language that the model does not know leans on words.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

constexpr const char* kGerman = "wie ist das Wetter in den Bergen?";

class Languages : public ::testing::Test {
protected:
    Languages() {
        store.add("notes", {chunk_of("a", "das Wetter in den Bergen"), chunk_of("b", "a red fox"),
                            chunk_of("c", "weather in the hills")});
    }

    Answer ask(const Request& request, bool english = true) {
        RetrieverOptions options = application_options();
        if (english) options.english_embedders = {"fake"};
        auto answer =
            Retriever(store, fake_query_embedder(), std::move(options)).retrieve(request, {}, {});
        EXPECT_TRUE(answer) << answer.error().message;
        return answer.value_or(Answer{});
    }

    static Request request(std::string query) {
        Request out;
        out.query = std::move(query);
        out.collections = {"notes"};
        out.typos = false;
        return out;
    }

    static double dense_weight(const Answer& answer) {
        for (const Hit& hit : answer.hits) {
            for (const ReceiptSource& source : hit.receipt.sources) {
                if (source.source == "dense") return source.weight;
            }
        }
        return -1;
    }

    LocalStore store;
};

TEST_F(Languages, ThatTheModelDoesNotKnowLeanOnWordsAndTheAnswerSaysSo) {
    const Answer answer = ask(request(kGerman));
    ASSERT_EQ(answer.warnings.size(), 1U);
    EXPECT_NE(answer.warnings[0].find("German"), std::string::npos);
    EXPECT_DOUBLE_EQ(dense_weight(answer), 0.01) << "ranks do not say how poor a hit is";
    EXPECT_TRUE(answer.complete);
    Request automatic = request(kGerman);
    automatic.fusion.method = FusionMethod::Auto;
    const Answer chosen = ask(automatic);
    EXPECT_DOUBLE_EQ(dense_weight(chosen), 0.1);
    EXPECT_DOUBLE_EQ(chosen.hits.front().receipt.choice->highest, 0.1);
}

TEST_F(Languages, OfTheTextsCountWhereTheQuestionDoesNotTell) {
    Schema schema;
    schema.language = "german";
    schema.vectors.embedder = "fake";
    ASSERT_TRUE(store.create_collection("berge", schema));
    store.add("berge", {chunk_of("a", "Wetter Bergen"), chunk_of("b", "Fuchs")});
    Request names = request("Wetter Bergen");
    names.collections = {"berge"};
    const Answer answer = ask(names);
    ASSERT_EQ(answer.warnings.size(), 1U);
    EXPECT_NE(answer.warnings[0].find("analysed as German"), std::string::npos);
    EXPECT_DOUBLE_EQ(dense_weight(answer), 0.01);
    EXPECT_TRUE(ask(request("Wetter Bergen")).warnings.empty());
}

TEST_F(Languages, ThatItKnowsChangeNothing) {
    const Answer english = ask(request("what is the weather in the hills?"));
    EXPECT_TRUE(english.warnings.empty());
    EXPECT_DOUBLE_EQ(dense_weight(english), 0.7);
    const Answer many = ask(request(kGerman), false);
    EXPECT_TRUE(many.warnings.empty());
    EXPECT_DOUBLE_EQ(dense_weight(many), 0.7);
}

TEST_F(Languages, WeightsOfTheRequestStay) {
    Request own = request(kGerman);
    own.dense_weight = 0.6;
    const Answer answer = ask(own);
    EXPECT_DOUBLE_EQ(dense_weight(answer), 0.6);
    EXPECT_EQ(answer.warnings.size(), 1U);
    Request dense = request(kGerman);
    dense.strategy = Strategy::Dense;
    EXPECT_EQ(ask(dense).warnings.size(), 1U);
    Request sparse = request(kGerman);
    sparse.strategy = Strategy::Sparse;
    EXPECT_TRUE(ask(sparse).warnings.empty());
}

}  // namespace
}  // namespace braid::retrieval
