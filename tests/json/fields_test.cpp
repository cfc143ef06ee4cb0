#include "braid/json/fields.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"

namespace braid::json {
namespace {

const Object kRequest{
    {"query", "red fox"},     {"top_k", 10},
    {"depth", 50.0},          {"weight", 0.7},
    {"exact", true},          {"ids", Array{"a", "b"}},
    {"mixed", Array{"a", 1}}, {"fusion", Object{{"method", "rrf"}, {"k", "ten"}}},
    {"stages", Array{1, 2}},  {"nothing", Value()},
};

template <class T>
std::string error_of(const Result<T>& result) {
    return result ? "no error" : result.error().message;
}

TEST(Fields, ReadsEachType) {
    Fields fields(kRequest);
    EXPECT_EQ(fields.string("query").value(), "red fox");
    EXPECT_EQ(fields.integer("top_k", 1, 10).value(), 10);
    EXPECT_EQ(fields.integer("depth").value(), 50);
    EXPECT_EQ(fields.number("weight", 0, 1).value(), 0.7);
    EXPECT_EQ(fields.number("top_k").value(), 10.0);
    EXPECT_EQ(fields.boolean("exact").value(), true);
    EXPECT_EQ(fields.strings("ids").value(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(fields.object("fusion").value(), &kRequest.find("fusion")->as_object());
    EXPECT_EQ(fields.array("stages").value()->size(), 2U);
    EXPECT_EQ(fields.any("stages"), kRequest.find("stages"));
    auto fusion = fields.required("fusion", fields.fields("fusion")).value();
    EXPECT_EQ(fusion.choice("method", {"rrf", "dbsf"}).value(), "rrf");
}

TEST(Fields, TakesNullForAbsent) {
    Fields fields(kRequest);
    for (const std::string_view key : {"nothing", "absent"}) {
        EXPECT_EQ(fields.string(key).value(), std::nullopt);
        EXPECT_EQ(fields.choice(key, {"a"}).value(), std::nullopt);
        EXPECT_EQ(fields.integer(key).value(), std::nullopt);
        EXPECT_EQ(fields.number(key).value(), std::nullopt);
        EXPECT_EQ(fields.boolean(key).value(), std::nullopt);
        EXPECT_EQ(fields.strings(key).value(), std::nullopt);
        EXPECT_FALSE(fields.fields(key).value().has_value());
        EXPECT_EQ(fields.object(key).value(), nullptr);
        EXPECT_EQ(fields.array(key).value(), nullptr);
    }
    EXPECT_TRUE(fields.any("nothing")->is_null());
    EXPECT_EQ(fields.any("absent"), nullptr);
}

TEST(Fields, SaysWhatAMemberMustBe) {
    Fields fields(kRequest);
    EXPECT_EQ(error_of(fields.string("top_k")), "\"top_k\" must be a string, got 10 (number)");
    EXPECT_EQ(error_of(fields.boolean("query")),
              "\"query\" must be true or false, got \"red fox\" (string)");
    EXPECT_EQ(error_of(fields.integer("top_k", 1, 9)),
              "\"top_k\" must be an integer from 1 to 9, got 10 (number)");
    EXPECT_EQ(error_of(fields.integer("top_k", 11)),
              "\"top_k\" must be an integer of at least 11, got 10 (number)");
    EXPECT_EQ(error_of(fields.integer("weight")),
              "\"weight\" must be an integer, got 0.7 (number)");
    EXPECT_EQ(error_of(fields.integer("exact", 1, 2)),
              "\"exact\" must be an integer from 1 to 2, got true (boolean)");
    EXPECT_EQ(error_of(fields.number("weight", 1)),
              "\"weight\" must be a number of at least 1, got 0.7 (number)");
    EXPECT_EQ(error_of(fields.number("weight", 0, 0.5)),
              "\"weight\" must be a number from 0 to 0.5, got 0.7 (number)");
    EXPECT_EQ(error_of(fields.number("weight", std::numeric_limits<double>::lowest(), 0.5)),
              "\"weight\" must be a number of at most 0.5, got 0.7 (number)");
    EXPECT_EQ(error_of(fields.strings("query")),
              "\"query\" must be a list of strings, got \"red fox\" (string)");
    EXPECT_EQ(error_of(fields.strings("mixed")), "\"mixed[1]\" must be a string, got 1 (number)");
    EXPECT_EQ(error_of(fields.object("ids")), "\"ids\" must be an object, got an array of 2");
    EXPECT_EQ(error_of(fields.array("fusion")), "\"fusion\" must be a list, got an object of 2");
    EXPECT_EQ(error_of(fields.choice("query", {"a", "b"})),
              "\"query\" must be one of \"a\", \"b\", got \"red fox\" (string)");
}

TEST(Fields, NamesTheWholePath) {
    Fields fields(kRequest, "request");
    Fields fusion = fields.required("fusion", fields.fields("fusion")).value();
    EXPECT_EQ(error_of(fusion.integer("k", 1, 1000)),
              "\"request.fusion.k\" must be an integer from 1 to 1000, got \"ten\" (string)");
    EXPECT_EQ(error_of(fusion.choice("method", {"rff", "dbsf"})),
              "\"request.fusion.method\" must be one of \"rff\", \"dbsf\", got \"rrf\" (string); "
              "did you mean \"rff\"?");
    EXPECT_EQ(error_of(fusion.finish()), "no error");
    EXPECT_EQ(error_of(Fields(fusion.whole(), "fusion").finish()),
              "unknown key \"method\" in \"fusion\"");
}

TEST(Fields, RefusesNumbersThatAreNotIntegersOf64Bits) {
    const Object object{{"nan", std::nan("")},
                        {"inf", HUGE_VAL},
                        {"big", 9223372036854775808.0},
                        {"low", -9223372036854775808.0}};
    Fields fields(object);
    EXPECT_FALSE(fields.integer("nan"));
    EXPECT_FALSE(fields.integer("inf"));
    EXPECT_FALSE(fields.integer("big"));
    EXPECT_EQ(fields.integer("low").value(), std::numeric_limits<std::int64_t>::min());
    EXPECT_FALSE(fields.number("nan"));
    EXPECT_FALSE(fields.number("inf"));
}

TEST(Fields, AsksForWhatIsRequired) {
    Fields fields(kRequest);
    EXPECT_EQ(fields.required("query", fields.string("query")).value(), "red fox");
    EXPECT_EQ(error_of(fields.required("id", fields.string("id"))), "\"id\" is required");
    EXPECT_EQ(error_of(fields.required("nothing", fields.integer("nothing"))),
              "\"nothing\" is required");
    EXPECT_EQ(error_of(fields.required("top_k", fields.string("top_k"))),
              "\"top_k\" must be a string, got 10 (number)");
}

TEST(Fields, RefusesUnknownKeysAndNamesTheNearest) {
    const Object object{{"query", "x"}, {"topk", 3}};
    Fields fields(object);
    EXPECT_TRUE(fields.string("query"));
    EXPECT_TRUE(fields.integer("top_k"));
    EXPECT_TRUE(fields.integer("hop_top_k"));
    EXPECT_EQ(error_of(fields.finish()), "unknown key \"topk\"; did you mean \"top_k\"?");
    EXPECT_EQ(fields.finish().error().code, ErrorCode::InvalidArgument);
    fields.any("topk");
    EXPECT_EQ(error_of(fields.finish()), "no error");

    const Object strange{{std::string(500, 'x') + "\xFF", 1}};
    EXPECT_EQ(error_of(Fields(strange).finish()), "unknown key \"" + std::string(40, 'x') + "…\"");
    EXPECT_EQ(error_of(Fields(Object{}).finish()), "no error");
}

TEST(Fields, ReadOnlyObjects) {
    const Value object = Object{{"a", 1}};
    EXPECT_EQ(Fields::of(object).value().integer("a").value(), 1);
    EXPECT_EQ(error_of(Fields::of(Value(3))), "the value must be an object, got 3 (number)");
    EXPECT_EQ(error_of(Fields::of(Value(), "filter")), "\"filter\" must be an object, got null");
}

}  // namespace
}  // namespace braid::json
