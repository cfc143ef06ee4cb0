// What the runtime makes of a model is kept, and changes no bit of any vector.

#include "braid/embed/model_cache.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "braid/embed/onnx_embedder.hpp"
#include "core/temporary_folder.hpp"

namespace braid::embed {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

class ModelCacheTest : public ::testing::Test {
protected:
    void SetUp() override {
        for (const char* file : {"runtime/libonnxruntime.so.1.31.1", "minilm/model.onnx"}) {
            if (const auto found = standard.find(file); !found) {
                GTEST_SKIP() << found.error().message;
            }
        }
    }

    std::vector<std::vector<float>> vectors(const ModelLocator& locator,
                                            const std::string& name = "minilm") {
        const auto embedder = make_builtin_embedder(name, locator);
        EXPECT_TRUE(embedder) << embedder.error().message;
        if (!embedder) return {};
        fingerprint = (*embedder)->fingerprint();
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < 12; ++i) {
            std::string text = "Text " + std::to_string(i);
            for (std::size_t w = 0; w < i * i; ++w) text += " about harbours";
            texts.push_back(std::move(text));
        }
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        const auto embedded = (*embedder)->embed(views, TextRole::Passage, {});
        EXPECT_TRUE(embedded);
        std::vector<std::vector<float>> out;
        for (const Embedding& one : *embedded) out.push_back(one.vector);
        return out;
    }
    fs::path only_file() const {
        const std::vector<fs::path> files(fs::directory_iterator(folder.path() / "cache"), {});
        EXPECT_EQ(files.size(), 1U);
        return files.empty() ? fs::path() : files.front();
    }

    braid::testing::TemporaryFolder folder;
    ModelLocator standard{ModelLocator::standard().places()};
    ModelLocator cached{standard.places(), folder.path() / "cache"};
    EmbedderFingerprint fingerprint;
};

TEST_F(ModelCacheTest, KeptGraphsGiveTheSameBits) {
    for (const std::string name : {"minilm", "bge"}) {
        const auto plain = vectors(standard, name);
        const EmbedderFingerprint of_plain = fingerprint;
        EXPECT_EQ(vectors(cached, name), plain);  // makes it
        EXPECT_EQ(vectors(cached, name), plain);  // takes it
        EXPECT_EQ(fingerprint, of_plain);
        fs::remove(only_file());
    }
}

TEST_F(ModelCacheTest, DamagedFilesAreMadeAgain) {
    const auto plain = vectors(cached);
    const fs::path file = only_file();
    const std::string whole = bytes_of(file);
    std::string flipped = whole;
    flipped[whole.size() / 2] ^= 1;
    for (const std::string& bad : {flipped, whole.substr(0, whole.size() / 2), std::string(),
                                   std::string(1000, '\0'), std::string(whole.size(), '\0')}) {
        write(file, bad);
        EXPECT_EQ(vectors(cached), plain);
        // The runtime may write a graph in another order or a few bytes longer: what counts is
        // that the bad file is gone and the new one gives the same vectors, below.
        const std::string again = bytes_of(only_file());
        EXPECT_TRUE(again != bad) << "the damaged file is still there";
        EXPECT_EQ(vectors(cached), plain);
        EXPECT_TRUE(bytes_of(only_file()) == again) << "a good file was made once more";
    }
}

TEST_F(ModelCacheTest, AFileCutWhileItIsInUseIsAnErrorNotAnotherVector) {
    vectors(cached);
    const auto embedder = make_builtin_embedder("minilm", cached);
    ASSERT_TRUE(embedder);
    fs::resize_file(only_file(), 100);
    const std::vector<std::string_view> text{"harbours"};
    const auto refused = (*embedder)->embed(text, TextRole::Passage, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Corruption);
}

TEST_F(ModelCacheTest, AChangedModelIsNotHidden) {
    const fs::path models = folder.path() / "models";
    fs::create_directories(models);
    const fs::path origin = standard.find("minilm/model.onnx")->parent_path().parent_path();
    fs::copy(origin / "minilm", models / "minilm");
    fs::create_directory_symlink(origin / "runtime", models / "runtime");
    const ModelLocator own({models}, folder.path() / "cache");
    vectors(own);
    std::string bytes = bytes_of(models / "minilm/model.onnx");
    bytes[bytes.size() / 2] ^= 1;
    write(models / "minilm/model.onnx", bytes);
    const auto refused = make_builtin_embedder("minilm", own);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Corruption);
}

TEST_F(ModelCacheTest, AFolderThatCannotBeWrittenToCostsNothing) {
    const auto plain = vectors(standard);
    folder.write("file", "no folder");
    EXPECT_EQ(vectors(ModelLocator(standard.places(), folder.path() / "file")), plain);
    EXPECT_EQ(vectors(ModelLocator(standard.places(), "/proc/no/such")), plain);
}

}  // namespace
}  // namespace braid::embed
