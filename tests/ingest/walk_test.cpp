#include "braid/ingest/walk.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/ingest/glob.hpp"
#include "core/temporary_folder.hpp"

namespace braid::ingest {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

class WalkFolder : public ::testing::Test {
protected:
    Paths files(const WalkOptions& options = {}) {
        auto listing = list_files(folder.path(), options);
        EXPECT_TRUE(listing);
        Paths below;
        reasons.clear();
        for (const SourceFile& file : listing->files) below.push_back(file.below);
        for (const LeftOut& left : listing->left_out) {
            reasons[left.path.substr(folder.path().string().size() + 1)] = left.reason;
        }
        return below;
    }

    braid::testing::TemporaryFolder folder;
    std::map<std::string, std::string> reasons;
};

TEST(Globs, MatchAsGitDoes) {
    EXPECT_TRUE(Glob("*.md").matches("a/b.md", false));
    EXPECT_FALSE(Glob("*.md").matches("a/b.mdx", false));
    EXPECT_TRUE(Glob("/a/*.md").matches("a/b.md", false));
    EXPECT_FALSE(Glob("/*.md").matches("a/b.md", false));
    EXPECT_TRUE(Glob("a/**/z").matches("a/z", false));
    EXPECT_TRUE(Glob("a/**/z").matches("a/b/c/z", false));
    EXPECT_FALSE(Glob("a/**/z").matches("b/z", false));
    EXPECT_TRUE(Glob("**/z").matches("b/z", false));
    EXPECT_TRUE(Glob("x[0-9]?").matches("x7a", false));
    EXPECT_FALSE(Glob("x[!0-9]").matches("x7", false));
    EXPECT_TRUE(Glob("x[").matches("x[", false));
    EXPECT_TRUE(Glob("a\\*").matches("a*", false));
    EXPECT_FALSE(Glob("a\\*").matches("ab", false));
    EXPECT_FALSE(Glob("build/").matches("build", false));
    EXPECT_TRUE(Glob("build/").matches("x/build", true));
    EXPECT_TRUE(Glob("docs").covers("docs/a/b.md"));
    EXPECT_FALSE(Glob("").matches("a", false));
    // Neither takes long.
    const std::string many(5000, 'a');
    EXPECT_FALSE(Glob("*a*a*a*a*a*a*a*a*a*a*b").matches(many, false));
    EXPECT_FALSE(Glob("**/**/**/**/**/b").matches(std::string(200, '/') + many, false));
}

TEST_F(WalkFolder, NamesThatNoIdCanHoldAreNamed) {
    folder.write("a.md", "x");
    folder.write("b\nc.md", "x");
    folder.write("d\xFF.md", "x");
    EXPECT_EQ(files(), Paths{"a.md"});
    EXPECT_EQ(reasons["b\nc.md"], "its name holds a control character");
    EXPECT_EQ(reasons["d\xEF\xBF\xBD.md"], "its name is not UTF-8");
}

TEST_F(WalkFolder, FilesBehindLinksAreReadOnce) {
    folder.write("real/a.md", "x");
    folder.write("real/b.md", "x");
    folder.write(".kept/c.md", "x");
    fs::create_directory_symlink(folder.path() / "real", folder.path() / "again");
    fs::create_symlink(folder.path() / "real/a.md", folder.path() / "one.md");
    fs::create_symlink(folder.path() / ".kept/c.md", folder.path() / "two.md");
    fs::create_symlink(folder.path() / ".kept/c.md", folder.path() / "two_again.md");
    fs::create_directory_symlink(folder.path(), folder.path() / "real/up");
    EXPECT_EQ(files(), (Paths{"real/a.md", "real/b.md", "two.md"}));
    EXPECT_EQ(reasons["two_again.md"], "link whose target is read anyway");
    EXPECT_EQ(reasons["one.md"], "link whose target is read anyway");
    const auto listing = list_files(folder.path());
    ASSERT_TRUE(listing);
    const SourceFile& linked = listing->files.back();
    EXPECT_EQ(linked.path(), folder.path() / "two.md");
    EXPECT_EQ(linked.place(), fs::canonical(folder.path()) / ".kept/c.md");
}

TEST_F(WalkFolder, SaysWhyEachFileIsLeftOut) {
    folder.write("a.md", "a");
    folder.write(".secret", "a");
    folder.write(".git/config", "a");
    folder.write("node_modules/x/index.js", "a");
    folder.write(".gitignore", "*.log\nbuild/\n!keep.log\n");
    folder.write("x.log", "a");
    folder.write("keep.log", "a");
    folder.write("build/out.md", "a");
    folder.write("sub/.braidignore", "/draft*\n");
    folder.write("sub/draft1.md", "a");
    folder.write("sub/deeper/draft1.md", "a");
    folder.write("draft1.md", "a");
    EXPECT_EQ(files(), (Paths{"a.md", "draft1.md", "keep.log", "sub/deeper/draft1.md"}));
    EXPECT_EQ(reasons[".secret"], "hidden");
    EXPECT_EQ(reasons[".git/"], "hidden");
    EXPECT_EQ(reasons["node_modules/"], "folder of dependencies (node_modules)");
    EXPECT_EQ(reasons["x.log"], "ignored by .gitignore");
    EXPECT_EQ(reasons["build/"], "ignored by .gitignore");
    EXPECT_EQ(reasons["sub/draft1.md"], "ignored by .braidignore");

    EXPECT_EQ(files({.exclude = {"sub", "*.log"}}), (Paths{"a.md", "draft1.md"}));
    EXPECT_EQ(reasons["sub/"], "excluded by --exclude");
    EXPECT_EQ(files({.include = {"*.log", "sub"}}), (Paths{"keep.log", "sub/deeper/draft1.md"}));
    EXPECT_EQ(reasons["a.md"], "not among --include");
    EXPECT_EQ(files({.everything = true}).size(), 12U);
}

TEST_F(WalkFolder, FollowsLinksOnceAndNeverOut) {
    braid::testing::TemporaryFolder outside;
    outside.write("secret.md", "a");
    folder.write("a/b/c.md", "a");
    folder.write(".kept/d.md", "a");
    fs::create_directory_symlink(folder.path(), folder.path() / "a" / "loop");
    fs::create_directory_symlink(folder.path() / ".kept", folder.path() / "kept");
    fs::create_symlink(folder.path() / "a" / "b" / "c.md", folder.path() / "again.md");
    fs::create_directory_symlink(outside.path(), folder.path() / "out");
    fs::create_symlink(outside.path() / "secret.md", folder.path() / "secret.md");
    fs::create_symlink("nowhere", folder.path() / "broken");
    EXPECT_EQ(files(), (Paths{"a/b/c.md", "kept/d.md"}));
    EXPECT_EQ(reasons["a/loop/"], "link whose target is read anyway");
    EXPECT_EQ(reasons["again.md"], "link whose target is read anyway");
    EXPECT_EQ(reasons["out"], "link that leads out of the folder");
    EXPECT_EQ(reasons["secret.md"], "link that leads out of the folder");
    EXPECT_EQ(reasons["broken"], "broken link");
}

}  // namespace
}  // namespace braid::ingest
