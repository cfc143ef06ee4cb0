#include <set>

#include <gtest/gtest.h>

#include "braid/result.hpp"

namespace braid {
namespace {

constexpr int kCodes = static_cast<int>(ErrorCode::StorageFull) + 1;

TEST(ErrorFacts, EveryCodeHasItsOwnRow) {
    std::set<std::string_view> names;
    std::set<int> rpc_codes;
    for (int i = 0; i < kCodes; ++i) {
        const auto code = static_cast<ErrorCode>(i);
        const ErrorFacts& facts = error_facts(code);
        EXPECT_EQ(facts.code, code);
        EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
        EXPECT_TRUE(rpc_codes.insert(facts.rpc_code).second) << facts.name;
        EXPECT_EQ(error_code_by_name(facts.name), code);
        EXPECT_GE(facts.http_status, 400) << facts.name;
        EXPECT_LT(facts.http_status, 600) << facts.name;
        EXPECT_GT(facts.exit_code, 0) << facts.name;
        EXPECT_LT(facts.exit_code, 256) << facts.name;
    }
    EXPECT_EQ(error_code_by_name("no_such_thing"), std::nullopt);
    EXPECT_EQ(error_code_by_name(""), std::nullopt);
}

TEST(ErrorFacts, ExitCodesAreThoseOfTheProgram) {
    EXPECT_EQ(error_facts(ErrorCode::InvalidArgument).exit_code, 2);
    EXPECT_EQ(error_facts(ErrorCode::NotFound).exit_code, 3);
    EXPECT_EQ(error_facts(ErrorCode::Corruption).exit_code, 4);
    EXPECT_EQ(error_facts(ErrorCode::Locked).exit_code, 5);
    EXPECT_EQ(error_facts(ErrorCode::Cancelled).exit_code, 130);
    EXPECT_EQ(error_facts(ErrorCode::StorageFull).http_status, 507);
}

Result<int> half(int number) {
    if (number % 2 != 0) return fail(ErrorCode::InvalidArgument, "odd");
    return number / 2;
}

Result<int> quarter(int number) {
    BRAID_TRY(const int once, half(number));
    BRAID_TRY(const int twice, half(once));
    return twice;
}

Result<> check_quarter(int number) {
    BRAID_CHECK(quarter(number));
    return {};
}

TEST(Result, ErrorsPassThroughTheMacros) {
    EXPECT_EQ(quarter(8).value(), 2);
    EXPECT_EQ(quarter(6).error(), (Error{ErrorCode::InvalidArgument, "odd"}));
    EXPECT_TRUE(check_quarter(8).has_value());
    EXPECT_EQ(check_quarter(3).error().message, "odd");
    const Result<int> told = fail("halving 3", quarter(3).error());
    EXPECT_EQ(told.error(), (Error{ErrorCode::InvalidArgument, "halving 3: odd"}));
}

}  // namespace
}  // namespace braid
