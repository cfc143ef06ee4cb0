// Text scenarios through every door: the same hits and scores at each.

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "scenarios/scenario.hpp"
#include "scenarios/scenario_run.hpp"
#include "server/service_fixture.hpp"

namespace braid::testing {
namespace {

class Scenarios : public ::testing::TestWithParam<std::string> {};

TEST_P(Scenarios, GiveTheSameAtEveryDoor) {
    run_scenario(GetParam(), {.database = memory_database});
}

INSTANTIATE_TEST_SUITE_P(Files, Scenarios, ::testing::ValuesIn(scenario_files()),
                         [](const auto& file) {
                             return std::filesystem::path(file.param).stem().string();
                         });

TEST(ScenarioTexts, SayWhatIsWrongWithThem) {
    for (const std::string bad :
         {"fly notes {}", "add notes {", "add notes 7", "  ids []", "retrieve {}\n  ids [", "x"}) {
        EXPECT_FALSE(parse_scenario("bad", bad)) << bad;
    }
    const auto good = parse_scenario("good", "# note\n\nadd n {\"a\": 1}\nretrieve {}\n  ids []\n");
    ASSERT_TRUE(good);
    ASSERT_EQ(good->steps.size(), 2U);
    EXPECT_EQ(good->steps[0].collection, "n");
    EXPECT_EQ(good->steps[1].expected.size(), 1U);
}

}  // namespace
}  // namespace braid::testing
