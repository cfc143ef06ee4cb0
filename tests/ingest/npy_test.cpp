#include "braid/ingest/npy.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "ingest/npy_writer.hpp"

namespace braid::ingest {
namespace {

using braid::testing::npy_bytes;
using braid::testing::npy_of;
using braid::testing::TemporaryFolder;

class Npy : public ::testing::Test {
protected:
    Result<NpyFile> open(const std::string& bytes) {
        return NpyFile::open(folder.write("a.npy", bytes));
    }
    std::string complaint(const std::string& bytes) {
        const auto file = open(bytes);
        return file ? "(accepted)" : file.error().message;
    }

    TemporaryFolder folder;
};

TEST_F(Npy, ReadsEveryFloatTypeAndVersion) {
    for (int version = 1; version <= 3; ++version) {
        const auto singles = open(npy_of<float>("<f4", 2, 3, {1, 2, 3, 4, 5, 6.5F}, version));
        ASSERT_TRUE(singles) << singles.error().message;
        EXPECT_EQ(singles->rows(), 2U);
        EXPECT_EQ(singles->dimension(), 3U);
        EXPECT_EQ(singles->row(0).value(), (std::vector<float>{1, 2, 3}));
        EXPECT_EQ(singles->row(1).value(), (std::vector<float>{4, 5, 6.5F}));
    }
    const auto doubles = open(npy_of<double>("<f8", 1, 2, {0.1, -1e30}));
    EXPECT_EQ(doubles->row(0).value(), (std::vector<float>{0.1F, -1e30F}));
    // 1, -2, the largest, the smallest subnormal, the smallest normal, -0.
    const auto halves =
        open(npy_of<std::uint16_t>("<f2", 1, 6, {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x0400, 0x8000}));
    EXPECT_EQ(halves->row(0).value(),
              (std::vector<float>{1, -2, 65504, std::ldexp(1.0F, -24), std::ldexp(1.0F, -14), 0}));
}

TEST_F(Npy, OneDimensionIsOneRow) {
    const std::string data(8, '\0');
    const auto file =
        open(npy_bytes("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", data));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->rows(), 1U);
    EXPECT_EQ(file->row(0).value(), (std::vector<float>{0, 0}));
}

TEST_F(Npy, NumbersThatAreNotFiniteNameTheRow) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto file = open(npy_of<float>("<f4", 3, 2, {1, 2, 3, nan, 5, 6}));
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->row(0));
    EXPECT_NE(file->row(1).error().message.find("row 1, column 1"), std::string::npos);
    EXPECT_TRUE(file->row(2));
    EXPECT_FALSE(open(npy_of<double>("<f8", 1, 1, {1e300}))->row(0));
    EXPECT_FALSE(open(npy_of<std::uint16_t>("<f2", 1, 1, {0x7C00}))->row(0));
    EXPECT_FALSE(open(npy_of<float>("<f4", 1, 1, {1}))->row(1));
}

TEST_F(Npy, ArraysOfAnotherKindAreRefused) {
    const auto header = [](const std::string& descr, const std::string& order,
                           const std::string& shape) {
        return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape +
               ", }";
    };
    const std::string data(16, '\0');
    EXPECT_NE(complaint(npy_bytes(header(">f4", "False", "(2, 2)"), data)).find(">f4"),
              std::string::npos);
    EXPECT_NE(complaint(npy_bytes(header("<i4", "False", "(2, 2)"), data)).find("<i4"),
              std::string::npos);
    EXPECT_NE(complaint(npy_bytes(header("<f4", "True", "(2, 2)"), data)).find("columns"),
              std::string::npos);
    EXPECT_NE(complaint(npy_bytes(header("<f4", "False", "(2, 2, 1)"), data)).find("3 dimensions"),
              std::string::npos);
    EXPECT_NE(complaint(npy_bytes(header("<f4", "False", "()"), data)).find("0 dimensions"),
              std::string::npos);
    EXPECT_NE(complaint(npy_bytes(header("<f4", "False", "(2, 0)"), "")).find("0 numbers"),
              std::string::npos);
}

TEST_F(Npy, DamagedFilesAreRefused) {
    const std::string good = npy_of<float>("<f4", 2, 2, {1, 2, 3, 4});
    EXPECT_TRUE(open(good));
    for (std::size_t length = 0; length < good.size(); ++length) {
        EXPECT_FALSE(open(good.substr(0, length))) << length;
    }
    EXPECT_NE(complaint(good + "x").find("does not fit"), std::string::npos);
    // Shapes whose product wraps around 64 bits.
    EXPECT_FALSE(open(npy_of<float>("<f4", 1ULL << 62U, 4, {1, 2, 3, 4})));
    EXPECT_FALSE(open(npy_of<float>("<f4", 4, 1ULL << 62U, {1, 2, 3, 4})));
    EXPECT_FALSE(open("not a numpy file at all"));
    EXPECT_EQ(NpyFile::open(folder / "missing.npy").error().code, ErrorCode::NotFound);
    EXPECT_EQ(NpyFile::open(folder.path().string()).error().code, ErrorCode::InvalidArgument);
}

TEST_F(Npy, FlippedBytesNeverCrash) {
    const std::string good = npy_of<float>("<f4", 3, 2, {1, 2, 3, 4, 5, 6});
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::string bytes = good;
        for (unsigned i = 0; i <= seed % 4; ++i) {
            bytes[rng() % bytes.size()] = static_cast<char>(rng());
        }
        const auto file = open(bytes);
        if (!file) continue;
        for (std::uint64_t row = 0; row < std::min<std::uint64_t>(file->rows(), 10); ++row) {
            const auto numbers = file->row(row);
            if (numbers) {
                EXPECT_EQ(numbers->size(), file->dimension());
            }
        }
    }
}

}  // namespace
}  // namespace braid::ingest
