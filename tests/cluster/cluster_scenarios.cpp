#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "cluster/cluster_under_test.hpp"
#include "scenarios/scenario_run.hpp"
#include "server/service_fixture.hpp"

// The scenarios of all doors, over a cluster.
namespace braid::testing {
namespace {

Database cluster_database() {
    auto database = Database::over(make_cluster_backend({.shards = 3}), fake_embedders());
    EXPECT_TRUE(database);
    return *std::move(database);
}

/// The program drops nothing: its indexes are removed when the test ends.
class ProgramIndexes {
public:
    std::vector<std::pair<std::string, std::string>> environment() {
        const std::string prefix =
            "p" + std::to_string(getpid()) + "-" + std::to_string(++number_) + "-";
        owners_.push_back(make_cluster_backend({.prefix = prefix}));
        return {{"BRAID_BACKEND", "opensearch"},
                {"BRAID_CLUSTER_URL", std::getenv("BRAID_CLUSTER_URL")},
                {"BRAID_CLUSTER_PREFIX", prefix},
                {"BRAID_CLUSTER_SHARDS", "3"}};
    }

private:
    int number_ = 0;
    std::vector<std::unique_ptr<Backend>> owners_;
};

class ClusterScenarios : public ::testing::TestWithParam<std::string> {};

TEST_P(ClusterScenarios, GiveTheSameAtEveryDoor) {
    ProgramIndexes indexes;
    run_scenario(GetParam(), {.database = cluster_database,
                              .environment = [&] { return indexes.environment(); },
                              .score_tolerance = 1e-6,
                              .lacks = {"live_df", "scoped_statistics"}});
}

INSTANTIATE_TEST_SUITE_P(Files, ClusterScenarios, ::testing::ValuesIn(scenario_files()),
                         [](const auto& file) {
                             return std::filesystem::path(file.param).stem().string();
                         });

}  // namespace
}  // namespace braid::testing
