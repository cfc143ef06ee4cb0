#include "braid/filter.hpp"

#include <gtest/gtest.h>

namespace braid {
namespace {

using Op = Filter::Op;

Filter parsed(const Value& json) {
    auto filter = parse_filter(json);
    EXPECT_TRUE(filter.has_value()) << filter.error().message;
    return filter ? *filter : Filter{};
}

std::string error_of(const Value& json, const FilterLimits& limits = {}) {
    const auto filter = parse_filter(json, limits);
    if (filter) return "none";
    EXPECT_EQ(filter.error().code, ErrorCode::InvalidArgument);
    return filter.error().message;
}

void expect_mentions(const Value& json, const std::vector<std::string>& parts) {
    const std::string message = error_of(json);
    for (const std::string& part : parts) {
        EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
    }
}

TEST(ParseFilter, ABareValueMeansEquality) {
    EXPECT_EQ(parsed(Object{{"year", 2020}}), Filter::compare(Op::Eq, "year", 2020));
    EXPECT_EQ(parsed(Object{{"year", nullptr}}), Filter::compare(Op::Eq, "year", nullptr));
    EXPECT_EQ(parsed(Object{{"tags", Array{"a"}}}), Filter::compare(Op::Eq, "tags", Array{"a"}));
}

TEST(ParseFilter, SeveralMembersMustAllHold) {
    EXPECT_EQ(parsed(Object{{"a", 1}, {"b", Object{{"$gt", 2}, {"$lt", 5}}}}),
              Filter::all_of({Filter::compare(Op::Eq, "a", 1),
                              Filter::all_of({Filter::compare(Op::Gt, "b", 2),
                                              Filter::compare(Op::Lt, "b", 5)})}));
    EXPECT_EQ(parsed(Object{}), Filter::all_of({}));
}

TEST(ParseFilter, KnowsEveryOperator) {
    const std::vector<std::pair<std::string, Value>> operators{{"$eq", 1},
                                                               {"$ne", "x"},
                                                               {"$gt", 1},
                                                               {"$gte", "2024-01-01"},
                                                               {"$lt", 1.5},
                                                               {"$lte", true},
                                                               {"$in", Array{1, "a"}},
                                                               {"$nin", Array{}},
                                                               {"$exists", false},
                                                               {"$contains", "x"},
                                                               {"$between", Array{1, 2.5}}};
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const auto& [name, operand] = operators[i];
        const auto op = static_cast<Op>(static_cast<std::size_t>(Op::Eq) + i);
        EXPECT_EQ(parsed(Object{{"f", Object{{name, operand}}}}),
                  Filter::compare(op, "f", operand));
    }
    const Filter leaf = Filter::compare(Op::Gt, "f", 3);
    const Value json = Object{{"f", Object{{"$gt", 3}}}};
    EXPECT_EQ(parsed(Object{{"$and", Array{json, json}}}), Filter::all_of({leaf, leaf}));
    EXPECT_EQ(parsed(Object{{"$or", Array{json}}}), (Filter{Op::Or, {}, {}, {leaf}}));
    EXPECT_EQ(parsed(Object{{"$not", json}}), (Filter{Op::Not, {}, {}, {leaf}}));
    EXPECT_EQ(parsed(Object{{"f", Object{{"$not", Object{{"$gt", 3}}}}}}),
              (Filter{Op::Not, {}, {}, {leaf}}));
}

TEST(ParseFilter, ErrorsNameTheFieldAndTheOperator) {
    expect_mentions("text", {"object", "string"});
    expect_mentions(Array{}, {"object", "array"});
    expect_mentions(Object{{"year", Object{{"$gtt", 1}}}}, {"year", "$gtt", "$gte"});
    expect_mentions(Object{{"$xor", Array{}}}, {"$xor", "$or"});
    expect_mentions(Object{{"$gt", 3}}, {"$gt", "field"});
    expect_mentions(Object{{"", 3}}, {"empty"});
    expect_mentions(Object{{"year", Object{{"name", 3}}}}, {"year", "name", "year.name"});
    expect_mentions(Object{{"year", Object{}}}, {"year", "operator"});
    expect_mentions(Object{{"year", Object{{"$and", Array{}}}}}, {"year", "$and"});
    expect_mentions(Object{{"$and", Object{}}}, {"$and", "list", "object"});
    expect_mentions(Object{{"$or", Array{1}}}, {"object", "number"});
    expect_mentions(Object{{"$not", Array{}}}, {"object", "array"});
    expect_mentions(Object{{"year", Object{{"$gt", nullptr}}}}, {"year", "$gt", "null"});
    expect_mentions(Object{{"year", Object{{"$lte", Array{1}}}}}, {"year", "$lte", "array"});
    expect_mentions(Object{{"year", Object{{"$in", 1}}}}, {"year", "$in", "list"});
    expect_mentions(Object{{"year", Object{{"$nin", "x"}}}}, {"year", "$nin", "list"});
    expect_mentions(Object{{"year", Object{{"$exists", 1}}}}, {"year", "$exists"});
    expect_mentions(Object{{"year", Object{{"$contains", Array{}}}}}, {"year", "$contains"});
    expect_mentions(Object{{"year", Object{{"$between", Array{1}}}}}, {"year", "$between"});
    expect_mentions(Object{{"year", Object{{"$between", Array{1, "b"}}}}}, {"year", "$between"});
}

Value nested(std::size_t levels) {
    Value json = Object{{"f", 1}};
    for (std::size_t i = 0; i < levels; ++i) json = Object{{"$not", std::move(json)}};
    return json;
}

TEST(ParseFilter, DepthAndSizeAreBounded) {
    EXPECT_EQ(error_of(nested(15)), "none");
    EXPECT_NE(error_of(nested(16)).find("16"), std::string::npos);
    EXPECT_NE(error_of(nested(2000)).find("deep"), std::string::npos);
    Value field_nots = 1;
    for (int i = 0; i < 2000; ++i) field_nots = Object{{"$not", std::move(field_nots)}};
    EXPECT_NE(error_of(Object{{"f", std::move(field_nots)}}).find("deep"), std::string::npos);

    const auto clauses = [](std::size_t count) {
        Array list;
        for (std::size_t i = 0; i < count; ++i) list.push_back(Object{{"f", 1}});
        return Value(Object{{"$or", std::move(list)}});
    };
    EXPECT_EQ(error_of(clauses(1023)), "none");
    EXPECT_NE(error_of(clauses(1024)).find("1024"), std::string::npos);
    const FilterLimits small{.depth = 2, .clauses = 3, .list = 2};
    EXPECT_EQ(error_of(clauses(2), small), "none");
    EXPECT_NE(error_of(clauses(3), small), "none");
    EXPECT_EQ(error_of(Object{{"f", Object{{"$in", Array{1, 2}}}}}, small), "none");
    EXPECT_NE(error_of(Object{{"f", Object{{"$in", Array{1, 2, 3}}}}}, small).find('f'),
              std::string::npos);
}

TEST(ParseFilter, ValuesAndBytesAreBoundedOverTheWholeFilter) {
    const auto lists = [](std::size_t count, std::size_t members) {
        Array list;
        for (std::size_t i = 0; i < count; ++i) {
            list.push_back(Object{{"f", Object{{"$in", Array(members, Value(7))}}}});
        }
        return Value(Object{{"$or", std::move(list)}});
    };
    EXPECT_EQ(error_of(lists(2, 10'000)), "none");
    EXPECT_NE(error_of(lists(4, 10'000)).find("more than 20000 values"), std::string::npos);
    const FilterLimits small{.values = 5, .bytes = 10};
    EXPECT_EQ(error_of(lists(2, 2), small), "none");
    EXPECT_NE(error_of(lists(2, 3), small), "none");
    EXPECT_EQ(error_of(Object{{"f", "123456789"}}, small), "none");
    EXPECT_NE(error_of(Object{{"f", "1234567890"}}, small).find("more than 10 bytes"),
              std::string::npos);
    EXPECT_NE(error_of(Object{{"f", Object{{"$eq", Object{{"1234567890", 1}}}}}}, small), "none");
    EXPECT_NE(error_of(Object{{"f", std::string(1 << 20, 'x')}}).find("1048576 bytes"),
              std::string::npos);
}

TEST(ParseFilter, WhatWasAcceptedIsAcceptedAgainOncePrinted) {
    // Printing writes out the $and of several members and the $eq of bare values.
    Object many;
    for (int i = 0; i < 1000; ++i) many.set("f" + std::to_string(i), i);
    Value json = Object{{"a", 1}, {"b", Object{{"$gt", 1}, {"$lt", 9}}}};
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < 16; ++i) {
        if (const auto filter = parse_filter(json)) {
            ++accepted;
            const auto again = parse_filter(filter_to_value(*filter));
            ASSERT_TRUE(again.has_value()) << i << ": " << again.error().message;
            EXPECT_EQ(*again, *filter);
        }
        json = Object{{"$not", std::move(json)}, {"c", 3}};
    }
    EXPECT_GE(accepted, 5U);
    const Filter wide = parsed(std::move(many));
    EXPECT_EQ(parsed(filter_to_value(wide)), wide);
}

TEST(ValidateFilter, RefusesWhatNoTextCouldSay) {
    const auto refused = [](const Filter& filter) {
        const auto valid = validate(filter);
        return !valid && valid.error().code == ErrorCode::InvalidArgument;
    };
    const Filter leaf = Filter::compare(Op::Eq, "f", 1);
    EXPECT_TRUE(validate(leaf).has_value());
    EXPECT_TRUE(validate(Filter{}).has_value());
    EXPECT_TRUE(refused({Op::Not, {}, {}, {}}));
    EXPECT_TRUE(refused({Op::Not, {}, {}, {leaf, leaf}}));
    EXPECT_TRUE(refused({Op::Eq, "f", 1, {leaf}}));
    EXPECT_TRUE(refused({Op::And, "f", {}, {leaf}}));
    EXPECT_TRUE(refused({Op::And, {}, 1, {leaf}}));
    EXPECT_TRUE(refused(Filter::compare(Op::Eq, "", 1)));
    EXPECT_TRUE(refused(Filter::compare(Op::Eq, "$or", 1)));
    EXPECT_TRUE(refused(Filter::compare(Op::In, "f", 1)));
    EXPECT_TRUE(refused(Filter::compare(Op::Between, "f", Array{1, 2, 3})));
    EXPECT_TRUE(refused(Filter::compare(Op::Exists, "f", nullptr)));
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): what a caller might pass
    EXPECT_TRUE(refused({static_cast<Op>(99), "f", 1, {}}));
    Filter deep = leaf;
    for (int i = 0; i < 16; ++i) deep = {Op::Not, {}, {}, {std::move(deep)}};
    EXPECT_TRUE(refused(deep));
}

}  // namespace
}  // namespace braid
