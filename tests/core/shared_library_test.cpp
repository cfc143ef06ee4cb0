#include "braid/core/shared_library.hpp"

#include <string>

#include <gtest/gtest.h>

#include "temporary_folder.hpp"

namespace braid::core {
namespace {

TEST(SharedLibrary, SaysWhatIsMissingOrCannotBeLoaded) {
    const testing::TemporaryFolder folder;
    const auto missing = open_library(folder / "none.so", "Some Library");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_EQ(missing.error().message, "no Some Library library at " + folder / "none.so");

    const std::string path = folder.write("text.so", "this is not a library");
    const auto text = open_library(path, "Some Library");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::Unsupported);
    EXPECT_TRUE(
        text.error().message.starts_with("cannot use " + folder / "text.so" + " as Some Library: "))
        << text.error().message;
}

}  // namespace
}  // namespace braid::core
