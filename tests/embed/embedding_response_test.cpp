#include "braid/embed/embedding_response.hpp"

#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "embed/base64.hpp"

namespace braid::embed {
namespace {

using Vectors = std::vector<std::vector<float>>;

std::string item(const std::string& index, const std::string& embedding) {
    return R"({"object":"embedding","index":)" + index + R"(,"embedding":)" + embedding + "}";
}

std::string answer(const std::string& items) {
    return R"({"object":"list","data":[)" + items + R"(],"model":"m","usage":{"total_tokens":3}})";
}

TEST(EmbeddingResponse, OrdersByIndexAndReadsBothForms) {
    const std::string body = answer(item("1", "[0.5,-2,1e-3]") + "," +
                                    item("0", "\"" + base64_of({1.0F, 2.5F, -0.0F}) + "\""));
    const auto vectors = parse_embedding_response(body, 2, 3);
    ASSERT_TRUE(vectors) << vectors.error().message;
    EXPECT_EQ(*vectors, (Vectors{{1.0F, 2.5F, -0.0F}, {0.5F, -2.0F, 1e-3F}}));
}

TEST(EmbeddingResponse, AcceptsBase64OfEveryLengthWithAndWithoutPadding) {
    std::mt19937 random(3);
    for (std::size_t dimension = 1; dimension < 20; ++dimension) {
        std::vector<float> vector(dimension);
        for (float& x : vector) x = static_cast<float>(random()) / 1e9F - 2;
        std::string text = base64_of(vector);
        for (int form = 0; form < 2; ++form) {
            const auto vectors =
                parse_embedding_response(answer(item("0", "\"" + text + "\"")), 1, dimension);
            ASSERT_TRUE(vectors) << vectors.error().message;
            EXPECT_EQ(vectors->front(), vector);
            while (text.ends_with('=')) text.pop_back();
        }
    }
}

TEST(EmbeddingResponse, LearnsTheDimensionButInsistsOnOne) {
    EXPECT_TRUE(
        parse_embedding_response(answer(item("0", "[1,2]") + "," + item("1", "[3,4]")), 2, 0));
    EXPECT_FALSE(
        parse_embedding_response(answer(item("0", "[1,2]") + "," + item("1", "[3]")), 2, 0));
}

TEST(EmbeddingResponse, RefusesLies) {
    const std::string nan = base64_of({std::numeric_limits<float>::quiet_NaN(), 1.0F});
    const std::string infinite = base64_of({1.0F, std::numeric_limits<float>::infinity()});
    const std::string good = item("0", "[1,2]");
    const std::vector<std::string> lies{
        std::string(),
        std::string("null"),
        std::string("[]"),
        std::string("{}"),
        std::string(R"({"data":{}})"),
        answer(""),
        answer(good),
        answer(good + "," + good),
        answer(good + "," + item("2", "[1,2]")),
        answer(good + "," + item("-1", "[1,2]")),
        answer(good + "," + item("\"1\"", "[1,2]")),
        answer(good + "," + item("1.5", "[1,2]")),
        answer(good + "," + item("null", "[1,2]")),
        answer(good + R"(,{"embedding":[1,2]})"),
        answer(good + R"(,{"index":1})"),
        answer(good + "," + item("1", "[1]")),
        answer(good + "," + item("1", "[1,2,3]")),
        answer(good + "," + item("1", "[]")),
        answer(good + "," + item("1", "[1,null]")),
        answer(good + "," + item("1", "[1,\"2\"]")),
        answer(good + "," + item("1", "[1,1e39]")),
        answer(good + "," + item("1", "[1,NaN]")),
        answer(good + "," + item("1", "{}")),
        answer(good + "," + item("1", "\"\"")),
        answer(good + "," + item("1", "\"" + nan + "\"")),
        answer(good + "," + item("1", "\"" + infinite + "\"")),
        answer(good + "," + item("1", "\"AAAA\"")),
        answer(good + "," + item("1", "\"A\"")),
        answer(good + "," + item("1", "\"====\"")),
        answer(good + "," + item("1", "\"AAAAAAAAAA!=\"")),
        answer(good + "," + item("1", "[1,2]") + "," + item("2", "[1,2]"))};
    for (const std::string& body : lies) {
        SCOPED_TRACE(body);
        const auto vectors = parse_embedding_response(body, 2, 2);
        ASSERT_FALSE(vectors);
        EXPECT_EQ(vectors.error().code, ErrorCode::Corruption);
    }
}

TEST(EmbeddingResponse, RefusesEveryTruncation) {
    const std::string body = answer(item("0", "\"" + base64_of({1.0F, 2.0F}) + "\""));
    for (std::size_t size = 0; size < body.size(); ++size) {
        ASSERT_FALSE(parse_embedding_response(body.substr(0, size), 1, 2)) << size;
    }
    EXPECT_TRUE(parse_embedding_response(body, 1, 2));
}

TEST(EmbeddingResponse, SurvivesFlippedBytes) {
    const std::string whole =
        answer(item("0", "\"" + base64_of({1.0F, 2.0F}) + "\"") + "," + item("1", "[0.25,0.5]"));
    for (unsigned seed = 0; seed < 5000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 random(seed);
        std::string body = whole;
        for (int flips = 0; flips < 2; ++flips) {
            body[random() % body.size()] = static_cast<char>(random() & 255U);
        }
        if (const auto vectors = parse_embedding_response(body, 2, 2)) {
            EXPECT_EQ(vectors->size(), 2U);
        }
    }
}

}  // namespace
}  // namespace braid::embed
