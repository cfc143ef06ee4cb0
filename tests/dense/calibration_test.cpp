#include "braid/dense/calibration.hpp"

#include <random>

#include <gtest/gtest.h>

#include "braid/dense/calibrate.hpp"
#include "dense/searched.hpp"

namespace braid::dense {
namespace {

TEST(Calibration, MakesSearchesAsDeepAsTheCollectionNeeds) {
    // Vectors without structure: what is usual for text is not deep enough here.
    std::mt19937 rng(41);
    Index index(uniform_vectors(rng, 4000, 300), {.dimension = 300});
    const Vectors queries = uniform_vectors(rng, 60, 300);
    const auto made = calibrate(index.reader, queries, {.own_vectors = 60});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->rows, 4000U);
    EXPECT_EQ(made->queries, 60U) << "given queries are enough";
    for (const CalibrationPoint& point : made->points) {
        EXPECT_LE(point.low, point.found);
        EXPECT_LE(point.found, point.high);
        EXPECT_LT(point.low, 1) << "sixty queries prove no certainty";
    }
    const auto mean = [&] {
        double sum = 0;
        for (const auto& query : queries) sum += index.recall(query, {.recall = 0.95});
        return sum / 60;
    };
    EXPECT_LT(mean(), 0.9);
    index.reader.use(*made);
    EXPECT_GE(mean(), 0.95);
}

TEST(Calibration, UsesOwnVectorsWhereQueriesAreFew) {
    std::mt19937 rng(42);
    const Index index(clustered(rng, 3000, 60), {.dimension = 60, .metric = Metric::Dot});
    const auto made = calibrate(index.reader, {}, {.own_vectors = 30});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->queries, 30U);
    EXPECT_GT(made->points.back().found, 0.9);
    store::MemorySections sections;
    ASSERT_TRUE(write_calibration(*made, sections));
    const auto read = read_calibration(sections);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, *made);
}

TEST(Calibration, PlansByThePointsOfTheNearestNumberOfHits) {
    const Calibration calibration{.rows = 1,
                                  .queries = 1,
                                  .asked = 1,
                                  .points = {{VectorMethod::Scan, 0.9, 0.9, 0.9, 0.9, 10},
                                             {VectorMethod::Scan, 0.5, 0.9, 0.9, 0.9, 50}}};
    for (const std::size_t k : {0, 1, 10, 22}) {
        EXPECT_EQ(calibration.planned_for(VectorMethod::Scan, 0.9, k), 0.9) << k;
    }
    for (const std::size_t k : {23, 50, 1000}) {
        EXPECT_EQ(calibration.planned_for(VectorMethod::Scan, 0.9, k), 0.5) << k;
    }
    EXPECT_EQ(calibration.planned_for(VectorMethod::Scan, 0.95, 50), 1) << "no point is enough";
}

TEST(Calibration, PlansByTheLowerEndOfWhatWasFound) {
    Calibration calibration{.rows = 1,
                            .queries = 1,
                            .asked = 1,
                            .points = {{VectorMethod::Scan, 0.9, 0.85, 0.8, 0.9},
                                       {VectorMethod::Scan, 0.95, 0.93, 0.9, 0.95},
                                       {VectorMethod::Scan, 0.99, 0.97, 0.95, 0.98}}};
    const auto planned = [&](double recall) {
        return calibration.planned_for(VectorMethod::Scan, recall);
    };
    EXPECT_EQ(planned(0.7), 0.9) << "nothing smaller was measured";
    EXPECT_NEAR(planned(0.8), 0.9, 1e-9);
    EXPECT_NEAR(planned(0.9), 0.95, 1e-9);
    EXPECT_NEAR(planned(0.95), 0.99, 1e-9);
    EXPECT_GT(planned(0.92), 0.95);
    EXPECT_LT(planned(0.92), planned(0.94)) << "between two points";
    EXPECT_LT(planned(0.94), 0.99);
    EXPECT_EQ(planned(0.98), 1) << "only all rows will do";
    EXPECT_EQ(calibration.planned_for(VectorMethod::Graph, 0.9), 0.9) << "nothing is known";
    calibration.asked = 0;
    calibration.points.front().low = 0.89;
    EXPECT_EQ(planned(0.89), 0.9);
    calibration.points.front() = {VectorMethod::Scan, 0.5, 0.99, 0.98, 1};
    EXPECT_EQ(planned(0.95), 0.95) << "own vectors make searches deeper, not shallower";
}

TEST(Calibration, RefusesWhatCannotBeMeasured) {
    std::mt19937 rng(43);
    const Index index(uniform_vectors(rng, 50, 4), {.dimension = 4});
    EXPECT_FALSE(calibrate(index.reader, Vectors{{1, 2}}));
    std::stop_source source;
    source.request_stop();
    const auto stopped =
        calibrate(index.reader, {}, {}, {.stop = source.get_token(), .progress = {}});
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
    store::MemorySections none;
    EXPECT_EQ(read_calibration(none).error().code, ErrorCode::NotFound);
}

TEST(Calibration, DamagedIsRefusedOrHarmless) {
    store::MemorySections whole;
    ASSERT_TRUE(write_calibration({.rows = 9,
                                   .queries = 3,
                                   .asked = 2,
                                   .points = {{VectorMethod::Graph, 0.9, 0.8, 0.7, 0.9}}},
                                  whole));
    const auto bytes = *whole.section(kCalibrationSection)->bytes();
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        store::MemorySections cut;
        ASSERT_TRUE(cut.begin(kCalibrationSection) && cut.write(bytes.first(length)));
        EXPECT_FALSE(read_calibration(cut)) << length;
    }
    std::mt19937 rng(1);
    for (std::size_t i = 0; i < 500; ++i) {
        std::vector<std::byte> flipped(bytes.begin(), bytes.end());
        flipped[rng() % flipped.size()] = static_cast<std::byte>(rng());
        store::MemorySections damaged;
        ASSERT_TRUE(damaged.begin(kCalibrationSection) && damaged.write(flipped));
        const auto read = read_calibration(damaged);
        if (!read) continue;
        for (const CalibrationPoint& point : read->points) EXPECT_LE(point.found, 1);
    }
}

}  // namespace
}  // namespace braid::dense
