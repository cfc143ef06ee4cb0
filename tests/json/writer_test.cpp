#include "braid/json/writer.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "json/random_value.hpp"

namespace braid::json {
namespace {

/// Writes a value piece by piece, down to its leaves.
template <class Out>
void write_pieces(Out& out, const Value& value) {
    if (value.is_object()) {
        out.begin_object();
        for (const auto& [name, member] : value.as_object()) {
            out.any_name(name);
            write_pieces(out, member);
        }
        out.end_object();
    } else if (value.is_array()) {
        out.begin_array();
        for (const Value& element : value.as_array()) write_pieces(out, element);
        out.end_array();
    } else if (value.is_string()) {
        out.value(value.as_string());
    } else if (value.is_bool()) {
        out.value(value.as_bool());
    } else if (value.is_int()) {
        out.value(value.as_int());
    } else if (value.is_double()) {
        out.value(value.as_double());
    } else {
        out.value(std::optional<bool>());
    }
}

template <class Out>
void write_all_kinds(Out& out) {
    out.begin_object();
    out.member("text", std::string("a \"b\"\n\xff"));
    out.member("view", std::string_view("c"));
    out.member("literal", "d");
    out.member("on", true);
    out.member("int", -3);
    out.member("size", std::size_t{7});
    out.member("huge", std::numeric_limits<std::uint64_t>::max());
    out.member("double", 1.0);
    out.member("float", 0.1F);
    out.member("nan", std::numeric_limits<double>::quiet_NaN());
    out.member("none", std::optional<int>());
    out.member("some", std::optional<double>(0.5));
    out.member("value", Value(Array{1, "x"}));
    out.member("object", Object{{"k", Object{}}});
    out.name("list");
    out.begin_array();
    out.value(1);
    out.begin_array();
    out.end_array();
    out.begin_object();
    out.end_object();
    out.value("last");
    out.end_array();
    out.any_name("any \"name\"");
    out.value(Value());
    out.end_object();
}

TEST(Writer, WritesEveryKindOfValue) {
    std::string text = "before ";
    Writer out(text);
    write_all_kinds(out);
    EXPECT_EQ(text, R"(before {"text":"a \"b\"\n)"
                    "\xEF\xBF\xBD"
                    R"(","view":"c","literal":"d","on":true,"int":-3,"size":7,)"
                    R"("huge":1.8446744073709552e+19,"double":1.0,"float":0.10000000149011612,)"
                    R"("nan":null,"none":null,"some":0.5,"value":[1,"x"],"object":{"k":{}},)"
                    R"("list":[1,[],{},"last"],"any \"name\"":null})");
}

TEST(Writer, GivesTheBytesOfPrint) {
    std::string text;
    Writer out(text);
    write_all_kinds(out);
    ValueWriter reference;
    write_all_kinds(reference);
    EXPECT_EQ(text, print(reference.take()));
}

TEST(Writer, GivesTheBytesOfPrintForAnyValue) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Value value = random_value(rng, 4);
        std::string text;
        Writer out(text);
        write_pieces(out, value);
        ASSERT_EQ(text, print(value));
    }
}

TEST(ValueWriter, MakesTheValueThatWasWritten) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Value value = random_value(rng, 4);
        ValueWriter out;
        write_pieces(out, value);
        const Value written = out.take();
        ASSERT_TRUE(identical(written, value)) << print(written) << "\n" << print(value);
    }
}

}  // namespace
}  // namespace braid::json
