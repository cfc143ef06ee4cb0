#include <chrono>
#include <thread>

#include "backend/conformance.hpp"
#include "backend/random_data.hpp"

namespace braid::testing {
namespace {

using Op = Filter::Op;

/// Chunks that differ in the metadata field "f"; ids name what it holds.
std::vector<Chunk> values_of_all_kinds() {
    std::vector<Chunk> chunks;
    const auto add = [&](const std::string& id, Value value) {
        Chunk chunk = make_chunk(id, "x");
        chunk.metadata = {{"f", std::move(value)}, {"deep", Object{{"er", id}}}};
        chunks.push_back(std::move(chunk));
    };
    add("bool_false", false);
    add("bool_true", true);
    add("date", "2024-05-01T12:00:00Z");
    add("date_same", "2024-05-01T14:00:00+02:00");
    add("double", 2.5);
    add("int", 2);
    add("int_as_double", 2.0);
    add("list_mixed", Array{2, "b", nullptr});
    add("list_none", Array{});
    add("null", nullptr);
    add("object", Object{{"k", 1}});
    add("text_a", "a");
    add("text_b", "b");
    add("text_digits", "2");
    chunks.push_back(make_chunk("missing", "x"));
    return chunks;
}

Ids without(Ids ids, const Ids& left_out) {
    for (const std::string& id : left_out) std::erase(ids, id);
    return ids;
}

TEST_P(BackendConformance, EqualityKnowsTypes) {
    create(words_schema());
    put(values_of_all_kinds());
    EXPECT_EQ(where("f", Op::Eq, 2), (Ids{"int", "int_as_double", "list_mixed"}));
    EXPECT_EQ(where("f", Op::Eq, 2.0), (Ids{"int", "int_as_double", "list_mixed"}));
    EXPECT_EQ(where("f", Op::Eq, 2.5), Ids{"double"});
    EXPECT_EQ(where("f", Op::Eq, "2"), Ids{"text_digits"});
    EXPECT_EQ(where("f", Op::Eq, "b"), (Ids{"list_mixed", "text_b"}));
    EXPECT_EQ(where("f", Op::Eq, true), Ids{"bool_true"});
    EXPECT_EQ(where("f", Op::Eq, nullptr), (Ids{"list_mixed", "null"}));
    EXPECT_EQ(where("f", Op::Eq, "2024-05-01T12:00:00Z"), (Ids{"date", "date_same"}));
    EXPECT_EQ(where("f", Op::Eq, Array{}), Ids{"list_none"});
    EXPECT_EQ(where("f", Op::Eq, Array{2, "b", nullptr}), Ids{"list_mixed"});
    EXPECT_EQ(where("f", Op::Eq, Object{{"k", 1.0}}), Ids{"object"});
    EXPECT_EQ(where("f", Op::Eq, "nothing"), Ids{});
}

TEST_P(BackendConformance, InequalityMatchesAMissingField) {
    create(words_schema());
    put(values_of_all_kinds());
    EXPECT_EQ(where("f", Op::Ne, 2), without(all_ids(), {"int", "int_as_double", "list_mixed"}));
    EXPECT_EQ(where("f", Op::Ne, "2024-05-01"), all_ids());
    EXPECT_EQ(where("f", Op::Nin, Array{2, "a"}),
              without(all_ids(), {"int", "int_as_double", "list_mixed", "text_a"}));
    EXPECT_EQ(where("f", Op::Nin, Array{}), all_ids());
    EXPECT_EQ(where("f", Op::In, Array{2, "a", "2024-05-01T12:00:00.000Z"}),
              (Ids{"date", "date_same", "int", "int_as_double", "list_mixed", "text_a"}));
    EXPECT_EQ(where("f", Op::In, Array{}), Ids{});
}

TEST_P(BackendConformance, OrderComparesWithinAType) {
    create(words_schema());
    put(values_of_all_kinds());
    EXPECT_EQ(where("f", Op::Gt, 2), Ids{"double"});
    EXPECT_EQ(where("f", Op::Gte, 2), (Ids{"double", "int", "int_as_double", "list_mixed"}));
    EXPECT_EQ(where("f", Op::Lt, 2.5), (Ids{"int", "int_as_double", "list_mixed"}));
    EXPECT_EQ(where("f", Op::Lte, 2.5), (Ids{"double", "int", "int_as_double", "list_mixed"}));
    EXPECT_EQ(where("f", Op::Gt, "a"), (Ids{"list_mixed", "text_b"}));
    EXPECT_EQ(where("f", Op::Lt, "a"), (Ids{"date", "date_same", "text_digits"}));
    EXPECT_EQ(where("f", Op::Lt, "2024-05-01T12:00:01Z"),
              (Ids{"date", "date_same", "text_digits"}));
    EXPECT_EQ(where("f", Op::Gt, false), Ids{"bool_true"});
    EXPECT_EQ(where("f", Op::Between, Array{2, 2.2}), (Ids{"int", "int_as_double", "list_mixed"}));
    EXPECT_EQ(where("f", Op::Between, Array{"a", "aa"}), Ids{"text_a"});
    EXPECT_EQ(where("f", Op::Between, Array{3, 1}), Ids{});
}

TEST_P(BackendConformance, ExistenceAndContainment) {
    create(words_schema());
    put(values_of_all_kinds());
    EXPECT_EQ(where("f", Op::Exists, false), Ids{"missing"});
    EXPECT_EQ(where("f", Op::Exists, true), without(all_ids(), {"missing"}));
    EXPECT_EQ(where("f", Op::Contains, "b"), (Ids{"list_mixed", "text_b"}));
    EXPECT_EQ(where("f", Op::Contains, "05-01T1"), (Ids{"date", "date_same"}));
    EXPECT_EQ(where("f", Op::Contains, 2), (Ids{"int", "int_as_double", "list_mixed"}));
}

TEST_P(BackendConformance, PathsReachNestedMembers) {
    create(words_schema());
    put(values_of_all_kinds());
    EXPECT_EQ(selected(Filter::compare(Op::Eq, "deep.er", "int")), Ids{"int"});
    EXPECT_EQ(selected(Filter::compare(Op::Eq, "metadata.deep.er", "int")), Ids{"int"});
    EXPECT_EQ(selected(Filter::compare(Op::Eq, "f.k", 1)), Ids{"object"});
    EXPECT_EQ(selected(Filter::compare(Op::Ne, "not.there.at.all", 1)), all_ids());
    Chunk dotted = make_chunk("dotted", "x");
    dotted.metadata = {{"deep.er", "whole name"}, {"deep", Object{{"er", "nested"}}}};
    put({dotted});
    EXPECT_EQ(selected(Filter::compare(Op::Eq, "deep.er", "whole name")), Ids{"dotted"});
    EXPECT_EQ(selected(Filter::compare(Op::Eq, "deep.er", "nested")), Ids{});
}

TEST_P(BackendConformance, LargeNumbersAreComparedExactly) {
    create(words_schema());
    const std::int64_t large = (std::int64_t{1} << 53) + 1;
    Chunk chunk = make_chunk("a", "x");
    chunk.metadata = {{"f", large}};
    put({chunk});
    EXPECT_EQ(where("f", Op::Eq, large), Ids{"a"});
    EXPECT_EQ(where("f", Op::Eq, large - 1), Ids{});
    EXPECT_EQ(where("f", Op::Eq, 9007199254740992.0), Ids{});
    EXPECT_EQ(where("f", Op::Gt, 9007199254740992.0), Ids{"a"});
    EXPECT_EQ(where("f", Op::In, Array{9007199254740992.0}), Ids{});
    EXPECT_EQ(where("f", Op::Lt, 1e300), Ids{"a"});
}

TEST_P(BackendConformance, ListsMatchIfOneElementDoes) {
    create(words_schema());
    Chunk chunk = make_chunk("a", "x");
    chunk.metadata = {{"f", Array{1, 10}}, {"nested", Array{Array{1, 10}}}};
    chunk.visibility_scope = {"alpha", "omega"};
    put({chunk});
    EXPECT_EQ(where("f", Op::Gt, 5), Ids{"a"});
    EXPECT_EQ(where("f", Op::Lt, 5), Ids{"a"});
    EXPECT_EQ(where("f", Op::Between, Array{4, 6}), Ids{}) << "no single element lies between";
    EXPECT_EQ(where("f", Op::Ne, 1), Ids{});
    const auto scopes = [&](Op op, Value operand) {
        return selected(Filter::compare(op, "visibility_scope", std::move(operand)));
    };
    EXPECT_EQ(scopes(Op::Between, Array{"b", "c"}), Ids{});
    EXPECT_EQ(scopes(Op::Between, Array{"a", "b"}), Ids{"a"});
    EXPECT_EQ(scopes(Op::Contains, "omega"), Ids{"a"});
    EXPECT_EQ(scopes(Op::Contains, "ome"), Ids{});
    EXPECT_EQ(selected(Filter::compare(Op::Between, "nested", Array{4, 6})), Ids{});
    EXPECT_EQ(selected(Filter::compare(Op::Gt, "nested", 5)), Ids{}) << "one level of lists";
}

TEST_P(BackendConformance, FieldsOfTheChunkItself) {
    create(words_schema());
    Chunk full = make_chunk("full", "x");
    full.document_id = "2024-01-01";
    full.chunk_index = 3;
    full.title = "The Title";
    full.section_title = "Part";
    full.created_at = Timestamp{1'704'067'200'000'000};  // 2024-01-01
    full.sensitivity = "public";
    full.visibility_scope = {"red"};
    Chunk shadow = make_chunk("shadow", "x");
    shadow.metadata = {{"chunk_index", 3}, {"title", "The Title"}, {"created_at", "2024-01-01"}};
    put({full, shadow});
    const auto with = [&](Op op, const std::string& field, Value operand) {
        return selected(Filter::compare(op, field, std::move(operand)));
    };
    EXPECT_EQ(with(Op::Eq, "chunk_id", "full"), Ids{"full"});
    EXPECT_EQ(with(Op::In, "document_id", Array{"2024-01-01", "z"}), Ids{"full"});
    EXPECT_EQ(with(Op::Eq, "document_id", "2024-01-01T00:00:00Z"), Ids{}) << "ids are no times";
    EXPECT_EQ(with(Op::In, "document_id", Array{"2024-01-01T00:00:00Z"}), Ids{});
    EXPECT_EQ(with(Op::Gte, "chunk_index", 2.5), (Ids{"full", "shadow"}));
    EXPECT_EQ(with(Op::Eq, "metadata.chunk_index", 3), Ids{"shadow"});
    EXPECT_EQ(with(Op::Contains, "title", "Tit"), (Ids{"full", "shadow"}));
    EXPECT_EQ(with(Op::Eq, "section_title", "Part"), Ids{"full"});
    EXPECT_EQ(with(Op::Eq, "created_at", "2024-01-01T01:00:00+01:00"), (Ids{"full", "shadow"}));
    EXPECT_EQ(with(Op::Gt, "created_at", "2024-01-01"), Ids{});
    EXPECT_EQ(with(Op::Eq, "sensitivity", "normal"), Ids{"shadow"}) << "the default level";
    EXPECT_EQ(with(Op::Exists, "visibility_scope", true), Ids{"full"});
    EXPECT_EQ(with(Op::Exists, "content", true), Ids{}) << "content is not a filter field";
}

TEST_P(BackendConformance, TypeClashesNameTheField) {
    Schema schema = words_schema();
    schema.metadata = {{"year", MetadataType::Number},
                       {"name", MetadataType::String},
                       {"flag", MetadataType::Boolean},
                       {"when.exactly", MetadataType::Date}};
    create(schema);
    const auto refused = [&](Op op, const std::string& field, Value operand) {
        const Filter filter = Filter::compare(op, field, std::move(operand));
        expect_error(now()->count(scope({}, filter)), ErrorCode::InvalidArgument, field);
        expect_error(now()->search_leg(words_leg(scope({}, filter), {"x"})),
                     ErrorCode::InvalidArgument, field);
        expect_error(backend().remove(scope(), by_filter(filter), {}), ErrorCode::InvalidArgument,
                     field);
    };
    refused(Op::Eq, "year", "2020");
    refused(Op::In, "year", Array{2020, "2021"});
    refused(Op::Between, "metadata.year", Array{"a", "b"});
    refused(Op::Gt, "name", 3);
    refused(Op::Ne, "flag", "true");
    refused(Op::Lt, "when.exactly", "yesterday");
    refused(Op::Eq, "chunk_index", "3");
    refused(Op::Eq, "chunk_id", 3);
    refused(Op::Gt, "created_at", 2020);
    refused(Op::Gt, "created_at", "last week");
    EXPECT_EQ(selected(Filter::compare(Op::Eq, "year", 2020.5)), Ids{});
    EXPECT_EQ(selected(Filter::compare(Op::Eq, "year", nullptr)), Ids{});
    EXPECT_EQ(selected(Filter::compare(Op::Gt, "when.exactly", "2020-01-01")), Ids{});
}

TEST_P(BackendConformance, MalformedFiltersAreErrors) {
    create(words_schema());
    put({make_chunk("a", "x")});
    const auto refused = [&](Filter filter) {
        expect_error(now()->count(scope({}, std::move(filter))), ErrorCode::InvalidArgument,
                     "filter");
    };
    refused({Op::Not, {}, {}, {}});
    refused({Op::Not, {}, {}, {Filter{}, Filter{}}});
    refused(Filter::compare(Op::In, "f", 3));
    refused(Filter::compare(Op::Nin, "f", {}));
    refused(Filter::compare(Op::Between, "f", Array{1}));
    refused(Filter::compare(Op::Between, "f", 1));
    refused(Filter::compare(Op::Exists, "f", 1));
    refused(Filter::compare(Op::Gt, "f", nullptr));
    refused(Filter::compare(Op::Contains, "f", Array{}));
    refused(Filter::compare(Op::Eq, "", 1));
    Filter deep = Filter::compare(Op::Eq, "f", 1);
    for (int i = 0; i < 2000; ++i) deep = {Op::Not, {}, {}, {std::move(deep)}};
    refused(std::move(deep));
}

TEST_P(BackendConformance, LogicCombinesConditions) {
    create(words_schema());
    put(values_of_all_kinds());
    const Filter is_a = Filter::compare(Op::Eq, "f", "a");
    const Filter is_b = Filter::compare(Op::Eq, "f", "b");
    EXPECT_EQ(selected({Op::Or, {}, {}, {is_a, is_b}}), (Ids{"list_mixed", "text_a", "text_b"}));
    EXPECT_EQ(selected({Op::And, {}, {}, {is_a, is_b}}), Ids{});
    EXPECT_EQ(selected({Op::Not, {}, {}, {is_a}}), without(all_ids(), {"text_a"}));
    EXPECT_EQ(selected({Op::And, {}, {}, {}}), all_ids());
    EXPECT_EQ(selected({Op::Or, {}, {}, {}}), Ids{});
}

TEST_P(BackendConformance, RandomFiltersSelectWhatTheModelSelects) {
    for (unsigned seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        RandomData random(seed);
        create(words_schema(), "s" + std::to_string(seed));
        Model model(words_schema());
        std::vector<Chunk> chunks;
        for (int i = 0; i < 60; ++i) {
            Chunk chunk = random.chunk(0);
            chunk.chunk_id = "c" + std::to_string(i);
            model.upsert("default", chunk);
            chunks.push_back(std::move(chunk));
        }
        put(chunks);
        const ReaderPtr snapshot = now();
        for (int i = 0; i < 300; ++i) {
            const ReadScope filtered = scope({}, random.filter());
            Ids expected;
            for (const Chunk* chunk : model.chunks(filtered)) expected.push_back(chunk->chunk_id);
            const auto found = must(snapshot->scan(filtered, "", 1000, false));
            ASSERT_EQ(ids_of(found), expected) << "filter " << i;
        }
    }
}

TEST_P(BackendConformance, AFilterStopsAtTheDeadlineAndWhenItsCallerIsGone) {
    if (!GetParam().filters_here) GTEST_SKIP() << "the backend filters elsewhere";
    create(vectors_schema(2));
    std::vector<Chunk> chunks;
    for (int i = 0; i < 3000; ++i) {
        Chunk chunk = make_chunk("c" + std::to_string(i), "word", {1, 1});
        chunk.metadata = {{"n", i}};
        chunks.push_back(std::move(chunk));
    }
    put(chunks);
    std::vector<Filter> clauses;
    for (int i = 0; i < 200; ++i) {
        clauses.push_back(Filter::compare(Op::Nin, "n", Value(Array{-i - 1, "a", true})));
    }
    const ReadScope of = scope({}, Filter::all_of(clauses));
    int looks = 0;
    CallLimits watched;
    watched.gone = [&] { return ++looks < 0; };
    EXPECT_EQ(must(now()->with(watched)->count(of)), 3000U);
    EXPECT_GT(looks, 100) << "the more a filter compares, the more often it looks up";

    // Neither is so at the beginning; either turns out to be so in the middle of the work.
    for (const ErrorCode code : {ErrorCode::Cancelled, ErrorCode::DeadlineExceeded}) {
        const auto stops = [&](const auto& call) {
            WriteOptions options;
            looks = 0;
            const bool cancels = code == ErrorCode::Cancelled;
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
            if (!cancels) options.limits.deadline = end;
            options.limits.gone = [&] {
                if (++looks < 10) return false;
                if (!cancels) std::this_thread::sleep_until(end);  // then it is too late
                return cancels;
            };
            expect_error(call(options), code);
            EXPECT_LE(looks, 10);
            EXPECT_TRUE(looks == 10 || !cancels) << looks;
        };
        stops([&](const auto& options) { return now()->with(options.limits)->count(of); });
        stops([&](const auto& options) {
            return now()->with(options.limits)->search_leg(vector_leg(of, {1, 1}));
        });
        stops([&](const auto& options) {
            return now()->with(options.limits)->search_leg(words_leg(of, {"word"}));
        });
        stops([&](const auto& options) {
            return backend().remove(scope(), by_filter(*of.filter), options);
        });
    }
    EXPECT_EQ(must(now()->count(scope())), 3000U) << "a delete was not stopped";
}

}  // namespace

}  // namespace braid::testing
