#include "braid/sparse/bm25.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace braid::sparse {
namespace {

TEST(Bm25, LuceneIdfIsPositiveAndFallsWithTheFrequency) {
    EXPECT_DOUBLE_EQ(idf(Bm25Variant::Lucene, 10, 1), std::log(1 + 9.5 / 1.5));
    double before = idf(Bm25Variant::Lucene, 100, 1);
    for (std::uint64_t df = 2; df <= 100; ++df) {
        const double now = idf(Bm25Variant::Lucene, 100, df);
        EXPECT_GT(now, 0);
        EXPECT_LT(now, before);
        before = now;
    }
}

TEST(Bm25, OkapiIdfIsNegativeForWordsOfMostChunks) {
    EXPECT_DOUBLE_EQ(idf(Bm25Variant::Okapi, 10, 1), std::log(9.5) - std::log(1.5));
    EXPECT_EQ(idf(Bm25Variant::Okapi, 10, 5), 0.0);
    EXPECT_LT(idf(Bm25Variant::Okapi, 10, 6), 0.0);
}

TEST(Bm25, FrequencySaturates) {
    const Bm25 lucene;
    const Bm25 okapi{.variant = Bm25Variant::Okapi, .k1 = 1.5};
    EXPECT_DOUBLE_EQ(saturation(lucene, 1, 10, 10), 1 / 2.2);
    EXPECT_DOUBLE_EQ(saturation(okapi, 1, 10, 10), 1.0);
    EXPECT_DOUBLE_EQ(saturation(lucene, 2, 5, 10), 2 / (2 + 1.2 * (0.25 + 0.75 * 0.5)));
    for (const Bm25& bm25 : {lucene, okapi}) {
        for (int tf = 1; tf < 20; ++tf) {
            EXPECT_LT(saturation(bm25, tf, 10, 10), saturation(bm25, tf + 1, 10, 10));
            EXPECT_GT(saturation(bm25, tf, 10, 10), saturation(bm25, tf, 20, 10));
        }
    }
}

TEST(Bm25, ParametersAtTheirBoundsStayFinite) {
    EXPECT_EQ(saturation({.k1 = 0, .b = 1}, 3, 0, 0), 1.0);
    EXPECT_EQ(saturation({.k1 = 0, .b = 0}, 0.5, 7, 3), 1.0);
    EXPECT_TRUE(std::isfinite(saturation({.k1 = 1.2, .b = 1}, 1, 1, 0)));
    EXPECT_EQ(CorpusStatistics{}.average_length(), 0.0);
}

}  // namespace
}  // namespace braid::sparse
