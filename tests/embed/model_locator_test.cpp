#include "braid/embed/model_locator.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"

namespace braid::embed {
namespace {

TEST(ModelLocator, TakesTheFirstPlaceThatHoldsTheFile) {
    const braid::testing::TemporaryFolder one;
    const braid::testing::TemporaryFolder two;
    std::filesystem::create_directories(one.path() / "m" / "model.onnx");  // a directory: no file
    two.write("m/model.onnx", "x");
    const ModelLocator locator({one.path(), two.path()});
    const auto found = locator.find("m/model.onnx");
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, two.path() / "m/model.onnx");
    one.write("n/model.onnx", "x");
    two.write("n/model.onnx", "x");
    EXPECT_EQ(*locator.find("n/model.onnx"), one.path() / "n/model.onnx");
}

TEST(ModelLocator, SaysWhereItLookedAndHowToGetWhatIsMissing) {
    const auto found = ModelLocator({"/no/such/place", "/nor/this"}).find("bge/model.onnx");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::NotFound);
    for (const char* part : {"bge/model.onnx", "/no/such/place", "/nor/this", "make models",
                             "tools/fetch_models", "BRAID_MODELS"}) {
        EXPECT_NE(found.error().message.find(part), std::string::npos) << part;
    }
}

TEST(ModelLocator, LooksFirstWhereTheEnvironmentSays) {
    // NOLINTBEGIN(concurrency-mt-unsafe): no other thread reads the environment
    const char* const before = std::getenv("BRAID_MODELS");
    const std::string saved = before == nullptr ? "" : before;
    setenv("BRAID_MODELS", "/my/models", 1);
    const auto places = ModelLocator::standard().places();
    if (before == nullptr) {
        unsetenv("BRAID_MODELS");
    } else {
        setenv("BRAID_MODELS", saved.c_str(), 1);
    }
    // NOLINTEND(concurrency-mt-unsafe)
    ASSERT_GE(places.size(), 3U);
    EXPECT_EQ(places.front(), "/my/models");
    EXPECT_TRUE(places.back().string().ends_with("braid/models")) << places.back();
}

}  // namespace
}  // namespace braid::embed
