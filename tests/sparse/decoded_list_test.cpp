#include "braid/sparse/decoded_list.hpp"

#include <gtest/gtest.h>

namespace braid::sparse {
namespace {

/// Classes of rows that differ, so that a wrong one shows.
std::vector<std::uint8_t> classes_of(std::size_t rows) {
    std::vector<std::uint8_t> classes(rows);
    for (std::size_t i = 0; i < rows; ++i) classes[i] = static_cast<std::uint8_t>(i % 31);
    return classes;
}

Bytes directory(std::initializer_list<std::uint32_t> entries) {
    Bytes bytes;
    for (const std::uint32_t entry : entries) put(bytes, entry);
    return bytes;
}

std::uint8_t code(std::uint32_t tf, std::uint32_t row) {
    return RowCode(tf, row % 31).bits();
}

TEST(DecodedList, ReadsGapsOfVersion2) {
    const auto classes = classes_of(kWindowRows + 100);
    Bytes bytes = directory({0, 3, 4});
    // Rows 5 and 5 + 255 + 10 of the first window, 7 of the second.
    for (const int gap : {5, 255, 10, 7}) bytes.push_back(static_cast<std::uint8_t>(gap));
    bytes.push_back(0x02);  // twice; no row
    bytes.push_back(0x1F);  // 15 or more; once
    const auto list = decode_list(ListForm::Gaps, bytes, classes);
    ASSERT_TRUE(list) << list.error().message;
    EXPECT_EQ((*list)->directory, (std::vector<std::uint32_t>{0, 2, 3}));
    EXPECT_EQ((*list)->rows, (std::vector<std::uint16_t>{5, 270, 7}));
    EXPECT_EQ((*list)->codes, (std::vector{code(2, 5), code(7, 270), code(1, kWindowRows + 7)}));
}

TEST(DecodedList, ReadsWideGapsOfVersion2) {
    const auto classes = classes_of(6000);
    Bytes bytes = directory({0, 3});
    for (const std::uint32_t entry : {1000U | 3U << 12, 4095U, 4U | 6U << 12}) {
        put(bytes, static_cast<std::uint16_t>(entry));
    }
    const auto list = decode_list(ListForm::WideGaps, bytes, classes);
    ASSERT_TRUE(list) << list.error().message;
    EXPECT_EQ((*list)->rows, (std::vector<std::uint16_t>{1000, 5099}));
    EXPECT_EQ((*list)->codes, (std::vector{code(3, 1000), code(6, 5099)}));
}

TEST(DecodedList, RefusesWhatIsCutOrTurnsBackOrIsUnknown) {
    const auto classes = classes_of(100);
    Bytes bytes = directory({0, 2});
    for (const int byte : {5, 6, 0x11}) bytes.push_back(static_cast<std::uint8_t>(byte));
    ASSERT_TRUE(decode_list(ListForm::Gaps, bytes, classes));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto cut = decode_list(ListForm::Gaps, std::span(bytes).first(size), classes);
        ASSERT_FALSE(cut) << size;
        EXPECT_EQ(cut.error().code, ErrorCode::Corruption);
    }
    EXPECT_FALSE(decode_list(ListForm::Column, bytes, classes));
    Bytes back = directory({3, 2});
    for (const int byte : {5, 6, 0x11}) back.push_back(static_cast<std::uint8_t>(byte));
    EXPECT_FALSE(decode_list(ListForm::Gaps, back, classes));
}

TEST(DecodedList, LeavesOutRowsThatThereAreNot) {
    const auto classes = classes_of(100);
    Bytes bytes = directory({0, 2});
    for (const int byte : {99, 1, 0x11}) bytes.push_back(static_cast<std::uint8_t>(byte));
    const auto list = decode_list(ListForm::Gaps, bytes, classes);
    ASSERT_TRUE(list) << list.error().message;
    EXPECT_EQ((*list)->rows, (std::vector<std::uint16_t>{99}));
}

}  // namespace
}  // namespace braid::sparse
