#include "braid/store/bytes.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "braid/store/checksum.hpp"
#include "store/store_helpers.hpp"

namespace braid::store {
namespace {

using testing::Bytes;
using testing::to_bytes;

TEST(ByteWriter, WritesLittleEndian) {
    ByteWriter out;
    out.u8(0x01);
    out.u32(0x05040302);
    out.u64(0x0D0C0B0A09080706);

    Bytes expected;
    for (int i = 1; i <= 13; ++i) expected.push_back(static_cast<std::byte>(i));
    EXPECT_EQ(out.take(), expected);
    EXPECT_EQ(out.size(), 0U);
}

TEST(ByteReader, ReadsBackWhatWasWritten) {
    const std::uint64_t integers[] = {0,
                                      1,
                                      127,
                                      128,
                                      16383,
                                      16384,
                                      std::numeric_limits<std::uint32_t>::max(),
                                      std::uint64_t{1} << 63,
                                      std::numeric_limits<std::uint64_t>::max()};
    ByteWriter out;
    for (const std::uint64_t value : integers) {
        out.u8(static_cast<std::uint8_t>(value));
        out.u32(static_cast<std::uint32_t>(value));
        out.u64(value);
        out.varint(value);
    }
    out.f32(-0.0F);
    out.f64(std::numeric_limits<double>::denorm_min());
    out.f32(std::numeric_limits<float>::quiet_NaN());
    out.string("");
    out.string(std::string("with\0zero", 9));
    out.bytes(to_bytes("raw"));

    const Bytes bytes = out.take();
    ByteReader in(bytes);
    for (const std::uint64_t value : integers) {
        EXPECT_EQ(in.u8("u8").value(), static_cast<std::uint8_t>(value));
        EXPECT_EQ(in.u32("u32").value(), static_cast<std::uint32_t>(value));
        EXPECT_EQ(in.u64("u64").value(), value);
        EXPECT_EQ(in.varint("varint").value(), value);
    }
    EXPECT_TRUE(std::signbit(in.f32("f32").value()));
    EXPECT_EQ(in.f64("f64").value(), std::numeric_limits<double>::denorm_min());
    EXPECT_TRUE(std::isnan(in.f32("f32").value()));
    EXPECT_EQ(in.string("string").value(), "");
    EXPECT_EQ(in.string("string").value(), std::string_view("with\0zero", 9));
    EXPECT_EQ(testing::to_text(in.bytes(3, "bytes").value()), "raw");
    EXPECT_TRUE(in.at_end());
    EXPECT_TRUE(in.expect_end("all").has_value());
}

TEST(ByteReader, SaysWhatItReadWhereInWhichFile) {
    const Bytes bytes = to_bytes("abcdef");
    ByteReader in(bytes, "segment-7", 100);
    ASSERT_TRUE(in.u32("magic").has_value());

    const auto failed = in.u64("document count");
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code, ErrorCode::Corruption);
    EXPECT_EQ(failed.error().message,
              "segment-7 is damaged at offset 104: document count needs 8 bytes, 2 are left");
    EXPECT_EQ(in.offset(), 104U) << "a failed read does not move the reader";
    EXPECT_FALSE(in.expect_end("the header").has_value());
}

TEST(ByteReader, RefusesVarintsThatAreTooLongCutShortOrPadded) {
    const Bytes eleven(11, std::byte{0x80});
    const Bytes too_wide = [] {
        Bytes bytes(9, std::byte{0xFF});
        bytes.push_back(std::byte{0x02});
        return bytes;
    }();
    const Bytes cut_short(3, std::byte{0xFF});
    const Bytes padded{std::byte{0x81}, std::byte{0x00}};
    for (const Bytes& bytes : {eleven, too_wide, cut_short, padded, Bytes()}) {
        ByteReader in(bytes);
        const auto value = in.varint("n");
        ASSERT_FALSE(value.has_value());
        EXPECT_EQ(value.error().code, ErrorCode::Corruption);
        EXPECT_EQ(in.offset(), 0U);
    }
}

TEST(ByteReader, ChecksHostileLengthsBeforeUsingThem) {
    const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
    ByteWriter out;
    out.varint(huge);
    out.u64(0);
    const Bytes bytes = out.take();

    EXPECT_FALSE(ByteReader(bytes).string("name").has_value());
    EXPECT_FALSE(ByteReader(bytes).bytes(huge, "blob").has_value());
    EXPECT_FALSE(ByteReader(bytes).count(1, "items").has_value());
    EXPECT_FALSE(ByteReader(bytes).count(0, "items").has_value());
    // 2^61 * 8 wraps around to 0.
    EXPECT_FALSE(ByteReader(bytes).read_records(std::uint64_t{1} << 61, 8, "records").has_value());
    EXPECT_FALSE(ByteReader(bytes).read_records(huge, huge, "records").has_value());
    EXPECT_FALSE(ByteReader(bytes).read_records(1, 0, "records").has_value());

    ByteReader in(bytes);
    EXPECT_FALSE(in.string("name").has_value());
    EXPECT_EQ(in.offset(), 0U) << "also when the length was read and the characters were not there";
    EXPECT_EQ(in.read_records(2, 9, "records").value().size(), 18U);
}

TEST(ByteReader, NeverReadsOutsideRandomBytes) {
    for (unsigned seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Bytes bytes = testing::random_bytes(rng, rng() % 64);
        ByteReader in(bytes);
        for (int step = 0; step < 40; ++step) {
            const std::uint64_t before = in.offset();
            bool ok = false;
            switch (rng() % 9) {
                case 0:
                    ok = in.u8("x").has_value();
                    break;
                case 1:
                    ok = in.u32("x").has_value();
                    break;
                case 2:
                    ok = in.u64("x").has_value();
                    break;
                case 3:
                    ok = in.varint("x").has_value();
                    break;
                case 4:
                    ok = in.f32("x").has_value();
                    break;
                case 5:
                    ok = in.string("x").has_value();
                    break;
                case 6:
                    ok = in.bytes(rng() % 80, "x").has_value();
                    break;
                case 7:
                    ok = in.read_records(rng(), rng() % 8, "x").has_value();
                    break;
                default:
                    ok = in.count(1 + rng() % 8, "x").has_value();
                    break;
            }
            ASSERT_LE(in.offset(), bytes.size());
            if (!ok) {
                ASSERT_EQ(in.offset(), before);
            }
        }
    }
}

TEST(ByteWriter, PadsAndPatches) {
    ByteWriter out;
    out.u8(7);
    out.pad_to(8);
    EXPECT_EQ(out.size(), 8U);
    out.pad_to(8);
    EXPECT_EQ(out.size(), 8U);
    out.patch_u64(0, 42);
    const Bytes bytes = out.take();
    EXPECT_EQ(ByteReader(bytes).u64("patched").value(), 42U);
}

TEST(Checksum, IsXxh3OnEveryMachine) {
    EXPECT_EQ(checksum({}), 0x2D06800538D394C2U);
    EXPECT_NE(checksum({}, 1), checksum({}));
    const Bytes text = to_bytes("acknowledged");
    EXPECT_EQ(checksum(text), checksum(text));
    EXPECT_NE(checksum(text), checksum(text, 1));
    EXPECT_NE(checksum(text), checksum(std::span(text).first(11)));
}

}  // namespace
}  // namespace braid::store
