#include "braid/embed/onnx_embedder.hpp"

#include <atomic>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "embed/tiny_onnx.hpp"

namespace braid::embed {
namespace {

namespace fs = std::filesystem;

/// The fetched models; tests that need them are skipped, with the reason, where there are none.
class OnnxEmbedderTest : public ::testing::Test {
protected:
    void SetUp() override {
        for (const char* file : {"runtime/libonnxruntime.so.1.31.1", "bge-small-en-v1.5/model.onnx",
                                 "minilm/model.onnx"}) {
            if (const auto found = locator.find(file); !found) {
                GTEST_SKIP() << found.error().message;
            }
        }
        bge_folder = locator.find("bge-small-en-v1.5/model.onnx")->parent_path();
        minilm_folder = locator.find("minilm/model.onnx")->parent_path();
    }

    OnnxEmbedderOptions own_model() const {
        OnnxEmbedderOptions options;
        options.model = minilm_folder / "model.onnx";
        options.tokenizer = minilm_folder / "tokenizer.json";
        return options;
    }

    Error refusal(const OnnxEmbedderOptions& options) const {
        const auto embedder = make_onnx_embedder(options, locator);
        EXPECT_FALSE(embedder);
        return embedder ? Error{ErrorCode::Conflict, ""} : embedder.error();
    }

    ModelLocator locator = ModelLocator::standard();
    fs::path bge_folder;
    fs::path minilm_folder;
};

std::vector<std::string> sample_texts(std::size_t count) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) {
        std::string text = "Passage " + std::to_string(i) + ":";
        for (std::size_t w = 0; w < 1 + i % 17; ++w) text += " retrieval of words";
        texts.push_back(std::move(text));
    }
    return texts;
}

std::vector<float> vector_of(const Embedder& embedder, std::string_view text,
                             TextRole role = TextRole::Passage) {
    const auto answer = embedder.embed(std::span(&text, 1), role, {});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? answer->front().vector : std::vector<float>();
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    return sum;
}

std::string content_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

bool says(const Error& error, std::string_view part) {
    return error.message.find(part) != std::string::npos;
}

TEST_F(OnnxEmbedderTest, GivesATextTheSameVectorAloneInABatchAndFromManyThreads) {
    for (const std::string name : {"bge-small-en-v1.5", "minilm"}) {
        SCOPED_TRACE(name);
        const auto embedder = make_builtin_embedder(name, locator, {.workers = 3});
        ASSERT_TRUE(embedder) << embedder.error().message;
        const std::vector<std::string> texts = sample_texts(24);
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        const auto batch = (*embedder)->embed(views, TextRole::Passage, {});
        ASSERT_TRUE(batch);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            EXPECT_EQ((*batch)[i].vector, vector_of(**embedder, texts[i])) << i;
        }
        std::atomic<int> different = 0;
        const auto compare_every_fourth = [&](std::size_t first) {
            for (std::size_t i = first; i < texts.size(); i += 4) {
                if (vector_of(**embedder, texts[i]) != (*batch)[i].vector) ++different;
            }
        };
        {
            std::vector<std::jthread> threads;
            threads.reserve(8);
            for (std::size_t t = 0; t < 8; ++t) threads.emplace_back(compare_every_fourth, t);
        }
        EXPECT_EQ(different, 0);
    }
}

TEST_F(OnnxEmbedderTest, PutsSimilarTextsCloserThanOthers) {
    for (const std::string name : {"bge", "minilm"}) {
        SCOPED_TRACE(name);
        const auto embedder = make_builtin_embedder(name, locator);
        ASSERT_TRUE(embedder) << embedder.error().message;
        const auto query = vector_of(**embedder, "How do I reset my password?", TextRole::Query);
        const auto near = vector_of(**embedder, "To change your login secret, open the settings.");
        const auto far = vector_of(**embedder, "The recipe needs two eggs and a cup of flour.");
        EXPECT_GT(dot(query, near), dot(query, far) + 0.1);
        EXPECT_NEAR(dot(near, near), 1.0, 1e-6);
    }
}

TEST_F(OnnxEmbedderTest, DescribesItselfCompletely) {
    const auto bge = make_builtin_embedder("bge", locator);
    const auto named = make_builtin_embedder("bge-small-en-v1.5", locator, {.workers = 1});
    const auto minilm = make_builtin_embedder("minilm", locator);
    const auto longer = make_builtin_embedder("minilm", locator, {.token_limit = 512});
    ASSERT_TRUE(bge && named && minilm && longer);
    const EmbedderFingerprint& fingerprint = (*bge)->fingerprint();
    EXPECT_EQ(fingerprint.model, "bge-small-en-v1.5");
    EXPECT_EQ(fingerprint.model_hash.size(), 64U);
    EXPECT_EQ(fingerprint.dimension, 384U);
    EXPECT_EQ(fingerprint.pooling, "cls");
    EXPECT_EQ(fingerprint.query_prefix,
              "Represent this sentence for searching relevant passages: ");
    EXPECT_EQ(fingerprint.passage_prefix, "");
    EXPECT_EQ(fingerprint.token_limit, 256U);
    EXPECT_EQ(fingerprint.runtime, "onnxruntime 1.31.1");
    EXPECT_FALSE(fingerprint.cpu_level.empty());
    EXPECT_EQ(fingerprint, (*named)->fingerprint());
    EXPECT_FALSE(fingerprint.hard_equal((*minilm)->fingerprint()));
    EXPECT_FALSE((*minilm)->fingerprint().hard_equal((*longer)->fingerprint()));
}

TEST_F(OnnxEmbedderTest, ReportsTokensAndTruncation) {
    const auto embedder = make_builtin_embedder("minilm", locator, {.token_limit = 16});
    ASSERT_TRUE(embedder);
    const std::string exact = "a a a a a a a a a a a a a a";  // 14 tokens and two markers
    const std::vector<std::string> texts{"", "fox", exact, exact + " a", exact + " b c d"};
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const auto answer = (*embedder)->embed(views, TextRole::Passage, {});
    ASSERT_TRUE(answer);
    const std::vector<std::size_t> tokens{2, 3, 16, 17, 19};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_EQ((*answer)[i].tokens, tokens[i]);
        EXPECT_EQ((*answer)[i].truncated, tokens[i] > 16);
        EXPECT_EQ((*embedder)->count_tokens(texts[i]), tokens[i]);
    }
    EXPECT_EQ((*answer)[2].vector, (*answer)[3].vector);
    EXPECT_EQ((*answer)[2].vector, (*answer)[4].vector);
}

TEST_F(OnnxEmbedderTest, CountsAQuerysPrefix) {
    const auto embedder = make_builtin_embedder("bge", locator);
    ASSERT_TRUE(embedder);
    const std::string_view text = "fox";
    const auto query = (*embedder)->embed(std::span(&text, 1), TextRole::Query, {});
    const auto passage = (*embedder)->embed(std::span(&text, 1), TextRole::Passage, {});
    ASSERT_TRUE(query && passage);
    EXPECT_EQ(passage->front().tokens, 3U);
    EXPECT_EQ(query->front().tokens, 11U);
    EXPECT_NE(query->front().vector, passage->front().vector);
}

TEST_F(OnnxEmbedderTest, EmbedsNothingAndOddTexts) {
    const auto embedder = make_builtin_embedder("minilm", locator);
    ASSERT_TRUE(embedder);
    EXPECT_TRUE((*embedder)->embed({}, TextRole::Passage, {})->empty());
    const std::string huge(1'000'000, 'x');
    for (const std::string_view text :
         {std::string_view(""), std::string_view("\0", 1), std::string_view(" \n"),
          std::string_view("\xF0\x9F\xA6\x8A"), std::string_view(huge)}) {
        EXPECT_NEAR(dot(vector_of(**embedder, text), vector_of(**embedder, text)), 1.0, 1e-6);
    }
}

TEST_F(OnnxEmbedderTest, RefusesTextsThatAreNotUtf8) {
    const auto embedder = make_builtin_embedder("minilm", locator);
    ASSERT_TRUE(embedder);
    const std::vector<std::string_view> texts{"good", "bad \xC3"};
    const auto answer = (*embedder)->embed(texts, TextRole::Passage, {});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::InvalidArgument);
}

TEST_F(OnnxEmbedderTest, StopsBetweenTexts) {
    const auto embedder = make_builtin_embedder("minilm", locator, {.workers = 2});
    ASSERT_TRUE(embedder);
    const std::vector<std::string_view> texts(100'000, "many more than can be done in time");
    const auto now = std::chrono::steady_clock::now();
    const auto late = (*embedder)->embed(
        texts, TextRole::Passage, {.deadline = now + std::chrono::milliseconds(50), .stop = {}});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::DeadlineExceeded);

    std::stop_source source;
    const std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        source.request_stop();
    });
    const auto stopped =
        (*embedder)->embed(texts, TextRole::Passage, {.deadline = {}, .stop = source.get_token()});
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
}

TEST_F(OnnxEmbedderTest, RefusesChangedFilesWithTheReason) {
    const braid::testing::TemporaryFolder place;
    fs::create_directories(place.path() / "minilm");
    fs::create_directory_symlink(minilm_folder.parent_path() / "runtime", place.path() / "runtime");
    const auto refuse = [&] {
        const auto embedder = make_builtin_embedder("minilm", ModelLocator({place.path()}));
        EXPECT_FALSE(embedder);
        return embedder ? Error{ErrorCode::Conflict, ""} : embedder.error();
    };
    EXPECT_EQ(refuse().code, ErrorCode::NotFound);

    const std::string model = content_of(minilm_folder / "model.onnx");
    const std::string tokenizer = content_of(minilm_folder / "tokenizer.json");
    place.write("minilm/tokenizer.json", tokenizer);
    place.write("minilm/model.onnx", std::string_view(model).substr(0, model.size() / 2));
    const Error truncated = refuse();
    EXPECT_EQ(truncated.code, ErrorCode::Corruption);
    EXPECT_TRUE(says(truncated, "model.onnx (" + std::to_string(model.size() / 2) + " bytes)"));
    EXPECT_TRUE(
        says(truncated, "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1"));

    std::string tampered = model;
    tampered[model.size() / 3] = static_cast<char>(tampered[model.size() / 3] ^ 1);
    place.write("minilm/model.onnx", tampered);
    EXPECT_EQ(refuse().code, ErrorCode::Corruption);

    place.write("minilm/model.onnx", content_of(bge_folder / "model.onnx"));
    EXPECT_EQ(refuse().code, ErrorCode::Corruption);

    place.write("minilm/model.onnx", model);
    EXPECT_TRUE(make_builtin_embedder("minilm", ModelLocator({place.path()})));
    place.write("minilm/tokenizer.json", tokenizer + " ");
    EXPECT_TRUE(says(refuse(), "tokenizer.json"));
}

TEST_F(OnnxEmbedderTest, SaysWhatIsMissing) {
    EXPECT_EQ(make_builtin_embedder("gpt", locator).error().code, ErrorCode::NotFound);
    EXPECT_TRUE(says(make_builtin_embedder("gpt", locator).error(), "bge-small-en-v1.5, minilm"));
    EXPECT_EQ(make_builtin_embedder("bge", locator, {.token_limit = 513}).error().code,
              ErrorCode::InvalidArgument);

    // Models without the runtime: a clear error rather than a program that does not start.
    const braid::testing::TemporaryFolder place;
    fs::create_directory_symlink(minilm_folder, place.path() / "minilm");
    const auto embedder = make_builtin_embedder("minilm", ModelLocator({place.path()}));
    ASSERT_FALSE(embedder);
    EXPECT_EQ(embedder.error().code, ErrorCode::NotFound);
    for (const char* part : {"ONNX Runtime", "libonnxruntime", "make models"}) {
        EXPECT_TRUE(says(embedder.error(), part)) << embedder.error().message;
    }
    OnnxEmbedderOptions options = own_model();
    options.runtime = place.write("not_a_library.so", "text");
    EXPECT_EQ(refusal(options).code, ErrorCode::Unsupported);
    options.runtime = place.path() / "nothing.so";
    EXPECT_EQ(refusal(options).code, ErrorCode::NotFound);
}

TEST_F(OnnxEmbedderTest, LoadsAUsersOwnModel) {
    OnnxEmbedderOptions options = own_model();
    options.dimension = 384;
    options.query_prefix = "query: ";
    const auto own = make_onnx_embedder(options, locator);
    ASSERT_TRUE(own) << own.error().message;
    EXPECT_EQ((*own)->fingerprint().model, "model.onnx");
    EXPECT_EQ((*own)->fingerprint().query_prefix, "query: ");
    const auto builtin = make_builtin_embedder("minilm", locator);
    EXPECT_EQ((*own)->fingerprint().model_hash, (*builtin)->fingerprint().model_hash);
    EXPECT_EQ(vector_of(**own, "fox"), vector_of(**builtin, "fox"));
}

TEST_F(OnnxEmbedderTest, ChecksAUsersOwnModelOnLoad) {
    OnnxEmbedderOptions options = own_model();
    options.dimension = 768;
    Error error = refusal(options);
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
    EXPECT_TRUE(says(error, "384") && says(error, "768")) << error.message;

    options = own_model();
    options.pooling = Pooling::None;
    error = refusal(options);
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
    EXPECT_TRUE(says(error, "[any, any, 384]") && says(error, "'none'")) << error.message;

    options = own_model();
    options.output = "logits";
    EXPECT_TRUE(says(refusal(options), "last_hidden_state")) << refusal(options).message;

    options = own_model();
    options.token_limit = 600;
    EXPECT_TRUE(says(refusal(options), "cannot read 600 tokens")) << refusal(options).message;
    options.token_limit = 1;
    EXPECT_EQ(refusal(options).code, ErrorCode::InvalidArgument);

    const braid::testing::TemporaryFolder place;
    options = own_model();
    options.model = place.write("garbage.onnx", "not a model");
    EXPECT_EQ(refusal(options).code, ErrorCode::InvalidArgument);
    options.model = place.path() / "nothing.onnx";
    EXPECT_EQ(refusal(options).code, ErrorCode::NotFound);
    options = own_model();
    options.tokenizer = minilm_folder / "model.onnx";
    EXPECT_FALSE(make_onnx_embedder(options, locator));
}

class TinyModelTest : public OnnxEmbedderTest {
protected:
    OnnxEmbedderOptions tiny(const TinyOnnx& model) const {
        OnnxEmbedderOptions options = own_model();
        options.model = place.write("tiny.onnx", model.bytes());
        return options;
    }

    static TinyOnnx::Port port(std::string name) { return {.name = std::move(name)}; }

    /// Each token's vector is its id and its mask, as floats: [texts, tokens, 2].
    static TinyOnnx token_model() {
        TinyOnnx model;
        model.constant("last", {2})
            .node("Cast", {"input_ids"}, "a", TinyOnnx::attribute("to", 1))
            .node("Cast", {"attention_mask"}, "b", TinyOnnx::attribute("to", 1))
            .node("Unsqueeze", {"a", "last"}, "c")
            .node("Unsqueeze", {"b", "last"}, "d")
            .node("Concat", {"c", "d"}, "tokens", TinyOnnx::attribute("axis", 2))
            .output({.name = "tokens", .element_type = 1, .shape = {-1, -1, 2}});
        return model;
    }

    braid::testing::TemporaryFolder place;
};

TEST_F(TinyModelTest, PoolsAsTold) {
    TinyOnnx model = token_model();
    model.input(port("input_ids")).input(port("attention_mask"));
    OnnxEmbedderOptions options = tiny(model);
    // "fox" is 4419 between 101 and 102.
    options.pooling = Pooling::Mean;
    const auto mean = make_onnx_embedder(options, locator);
    ASSERT_TRUE(mean) << mean.error().message;
    const double average = (101.0 + 4419.0 + 102.0) / 3;
    EXPECT_NEAR(vector_of(**mean, "fox")[1], 1 / std::hypot(average, 1.0), 1e-9);
    options.pooling = Pooling::Cls;
    const auto cls = make_onnx_embedder(options, locator);
    ASSERT_TRUE(cls);
    EXPECT_NEAR(vector_of(**cls, "fox")[1], 1 / std::hypot(101.0, 1.0), 1e-9);
    EXPECT_EQ((*cls)->fingerprint().dimension, 2U);
}

TEST_F(TinyModelTest, TakesAModelThatPoolsByItself) {
    TinyOnnx model;
    model.input(port("input_ids"))
        .input(port("attention_mask"))
        .constant("first", {0})
        .constant("second", {1})
        .constant("axis", {1})
        .node("Cast", {"input_ids"}, "a", TinyOnnx::attribute("to", 1))
        .node("Slice", {"a", "first", "second", "axis"}, "sentence")
        .output({.name = "sentence", .element_type = 1, .shape = {-1, 1}});
    OnnxEmbedderOptions options = tiny(model);
    options.pooling = Pooling::None;
    const auto embedder = make_onnx_embedder(options, locator);
    ASSERT_TRUE(embedder) << embedder.error().message;
    EXPECT_EQ(vector_of(**embedder, "fox"), std::vector<float>{1.0F});
    options.pooling = Pooling::Mean;
    EXPECT_EQ(refusal(options).code, ErrorCode::InvalidArgument);
}

TEST_F(TinyModelTest, RefusesAVectorWhoseSizeDependsOnTheText) {
    TinyOnnx model;
    model.input(port("input_ids"))
        .input(port("attention_mask"))
        .node("Cast", {"input_ids"}, "ids", TinyOnnx::attribute("to", 1))
        .output({.name = "ids", .element_type = 1, .shape = {-1, -1}});
    OnnxEmbedderOptions options = tiny(model);
    options.pooling = Pooling::None;
    EXPECT_EQ(refusal(options).code, ErrorCode::InvalidArgument);
}

TEST_F(TinyModelTest, RefusesOtherInputs) {
    TinyOnnx other = token_model();
    other.input(port("input_ids")).input(port("attention_mask")).input(port("pixels"));
    EXPECT_TRUE(says(refusal(tiny(other)), "pixels")) << refusal(tiny(other)).message;

    TinyOnnx fixed = token_model();
    fixed.input({.name = "input_ids", .shape = {1, 128}}).input(port("attention_mask"));
    EXPECT_TRUE(says(refusal(tiny(fixed)), "[1, 128]")) << refusal(tiny(fixed)).message;

    TinyOnnx typed = token_model();
    typed.input({.name = "input_ids", .element_type = 1}).input(port("attention_mask"));
    EXPECT_TRUE(says(refusal(tiny(typed)), "element type 1")) << refusal(tiny(typed)).message;

    TinyOnnx lacking;
    lacking.input(port("input_ids"))
        .constant("last", {2})
        .node("Cast", {"input_ids"}, "a", TinyOnnx::attribute("to", 1))
        .node("Unsqueeze", {"a", "last"}, "tokens")
        .output({.name = "tokens", .element_type = 1, .shape = {-1, -1, 1}});
    EXPECT_TRUE(says(refusal(tiny(lacking)), "attention_mask")) << refusal(tiny(lacking)).message;
}

TEST(Pooling, HasNamesBothWays) {
    for (const Pooling pooling : {Pooling::Cls, Pooling::Mean, Pooling::None}) {
        EXPECT_EQ(pooling_by_name(name_of(pooling)), pooling);
    }
    EXPECT_FALSE(pooling_by_name("max"));
}

}  // namespace
}  // namespace braid::embed
