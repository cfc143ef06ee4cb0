#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/database.hpp"
#include "braid/embed/model_locator.hpp"
#include "core/temporary_folder.hpp"
#include "embed/tiny_reranker.hpp"

namespace braid {
namespace {

class RerankStage : public ::testing::Test {
protected:
    void SetUp() override {
        const auto locator = embed::ModelLocator::standard();
        const auto tokenizer = locator.find("minilm/tokenizer.json");
        if (!tokenizer) GTEST_SKIP() << tokenizer.error().message;
        const auto runtime = locator.find("runtime/libonnxruntime.so.1.31.1");
        if (!runtime) GTEST_SKIP() << runtime.error().message;
        model.model = place.write("reranker.onnx", embed::tiny_reranker().bytes());
        model.tokenizer = *tokenizer;
    }

    /// Three notes; the longer, the better the model likes them.
    Result<Answer> ask(const Object& parameters, std::size_t top_k = 10) const {
        OpenOptions options;
        BRAID_TRY(options.stages.emplace_back(), make_rerank_stage(model));
        BRAID_TRY(auto db, Database::in_memory(options));
        BRAID_CHECK(db.create_collection("default"));
        std::vector<Chunk> chunks(3);
        chunks[0].chunk_id = "a";
        chunks[0].content = "fox";
        chunks[1].chunk_id = "b";
        chunks[1].content = "fox fox and so on";
        chunks[2].chunk_id = "c";
        chunks[2].content = "the fox and many words that have nothing to do with it";
        BRAID_CHECK(db.add("default", chunks));
        Request request;
        request.query = "fox";
        request.top_k = top_k;
        request.stages = {{"rerank", parameters}};
        return db.retrieve(request);
    }

    static std::vector<std::string> ids_of(const Answer& answer) {
        std::vector<std::string> ids;
        ids.reserve(answer.hits.size());
        for (const Hit& hit : answer.hits) ids.push_back(hit.chunk.chunk_id);
        return ids;
    }

    braid::testing::TemporaryFolder place;
    RerankerModel model;
};

TEST_F(RerankStage, RanksByTheModel) {
    const auto answer = ask({});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->complete);
    EXPECT_EQ(ids_of(*answer), (std::vector<std::string>{"c", "b", "a"}));
    const ReceiptStage& stage = answer->hits[0].receipt.stages.at(0);
    EXPECT_EQ(stage.operation, "replace");
    EXPECT_EQ(stage.value, answer->hits[0].score);
}

TEST_F(RerankStage, LeavesTheOthersBelow) {
    const auto answer = ask({{"candidates", 2}});
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->hits.size(), 3U);
    EXPECT_EQ(answer->hits[0].receipt.stages.size(), 1U);
    EXPECT_EQ(answer->hits[1].receipt.stages.size(), 1U);
    EXPECT_TRUE(answer->hits[2].receipt.stages.empty());
}

TEST_F(RerankStage, IsSkippedWhenItTakesTooLong) {
    const auto answer = ask({{"deadline_ms", 0.001}});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_FALSE(answer->complete);
    EXPECT_EQ(ids_of(*answer).back(), "c");
    ASSERT_EQ(answer->warnings.size(), 1U);
    EXPECT_NE(answer->warnings[0].find("rerank"), std::string::npos) << answer->warnings[0];
}

TEST_F(RerankStage, NamesWhatIsWrong) {
    EXPECT_NE(ask({{"candidate", 2}}).error().message.find("did you mean \"candidates\""),
              std::string::npos);
    std::ofstream(model.model) << "no model";
    const auto broken = ask({});
    ASSERT_TRUE(broken) << broken.error().message;
    EXPECT_FALSE(broken->complete);
    EXPECT_EQ(broken->hits.size(), 3U);
    model.model = place.path() / "none.onnx";
    EXPECT_EQ(ask({}).error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace braid
