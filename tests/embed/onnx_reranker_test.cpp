#include "braid/embed/onnx_reranker.hpp"

#include <array>
#include <chrono>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "braid/embed/model_file.hpp"
#include "core/temporary_folder.hpp"
#include "embed/tiny_reranker.hpp"

namespace braid::embed {
namespace {

class OnnxRerankerTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto tokenizer = locator.find("minilm/tokenizer.json");
        if (!tokenizer) GTEST_SKIP() << tokenizer.error().message;
        const auto runtime = locator.find("runtime/libonnxruntime.so.1.31.1");
        if (!runtime) GTEST_SKIP() << runtime.error().message;
        options.files.tokenizer = *tokenizer;
        options.files.model = place.write("reranker.onnx", tiny_reranker().bytes());
    }

    Result<std::shared_ptr<const OnnxReranker>> load() const {
        return OnnxReranker::load(options, locator);
    }

    /// What tiny_reranker() gives a passage of which `most` tokens are read.
    float expected(std::string_view passage,
                   std::size_t most = std::numeric_limits<std::size_t>::max()) const {
        const auto file = read_model_file(options.files.tokenizer, "");
        const auto tokenizer = WordPiece::parse(file->text());
        const auto ids = tokenizer->encode(passage, most)->ids;
        return static_cast<float>(std::accumulate(ids.begin() + 1, ids.end(), std::int64_t{0}));
    }

    ModelLocator locator = ModelLocator::standard();
    braid::testing::TemporaryFolder place;
    OnnxRerankerOptions options;
};

TEST_F(OnnxRerankerTest, ReadsQueryAndPassageAsAPair) {
    const auto reranker = load();
    ASSERT_TRUE(reranker) << reranker.error().message;
    const std::array<std::string_view, 4> passages{"foxes hunt at dusk", "", "fox",
                                                   "der Fuchs jagt"};
    const auto scores = (*reranker)->score("when do foxes hunt?", passages, {});
    ASSERT_TRUE(scores) << scores.error().message;
    for (std::size_t i = 0; i < passages.size(); ++i) {
        EXPECT_EQ((*scores)[i], expected(passages[i])) << passages[i];
    }
    EXPECT_TRUE((*reranker)->score("q", {}, {})->empty());
}

TEST_F(OnnxRerankerTest, CutsThePassageToWhatTheQueryLeaves) {
    options.token_limit = 16;
    const auto reranker = load();
    ASSERT_TRUE(reranker);
    std::string words;
    for (int i = 0; i < 100; ++i) words += "fox ";
    const std::string_view passage = words;
    // [CLS] fox [SEP] leaves 13 tokens, the last of them [SEP].
    EXPECT_EQ((*reranker)->score("fox", std::span(&passage, 1), {})->front(),
              expected(passage, 14));
    // A long query takes half of them.
    EXPECT_EQ((*reranker)->score(words, std::span(&passage, 1), {})->front(), expected(passage, 9));
}

TEST_F(OnnxRerankerTest, StopsWhenTold) {
    const auto reranker = load();
    ASSERT_TRUE(reranker);
    const std::vector<std::string_view> passages(50, "fox");
    CallLimits late;
    late.deadline = std::chrono::steady_clock::now();
    EXPECT_EQ((*reranker)->score("q", passages, late).error().code, ErrorCode::DeadlineExceeded);
    EXPECT_EQ((*reranker)->score("\xff", passages, {}).error().code, ErrorCode::InvalidArgument);
}

TEST_F(OnnxRerankerTest, RefusesModelsThatGiveNoScore) {
    options.files.model = place.write("two.onnx", tiny_reranker(2).bytes());
    const auto two = load();
    ASSERT_FALSE(two);
    EXPECT_NE(two.error().message.find("[1, 2]; expected one number"), std::string::npos)
        << two.error().message;
    options.files.model = place.write("cut.onnx", tiny_reranker().bytes().substr(0, 80));
    EXPECT_EQ(load().error().code, ErrorCode::InvalidArgument);
    options.files.model = place.path() / "none.onnx";
    EXPECT_EQ(load().error().code, ErrorCode::NotFound);
    options.token_limit = 1;
    EXPECT_EQ(load().error().code, ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace braid::embed
