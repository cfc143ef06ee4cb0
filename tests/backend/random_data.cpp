#include "backend/random_data.hpp"

#include <algorithm>

namespace braid::testing {
namespace {

using Op = Filter::Op;

const std::vector<std::string> kDates{"2024-01-01", "2024-01-01T00:00:00Z",
                                      "2024-01-01T01:00:00+01:00", "2024-06-30T12:00:00.5Z",
                                      "2023-12-31T23:59:59Z"};
const std::vector<std::string> kStrings{"red", "blue", "green", "redgreen", "", "1"};
const std::vector<std::string> kFields{"chunk_id",      "document_id",      "chunk_index",
                                       "title",         "section_title",    "created_at",
                                       "sensitivity",   "visibility_scope", "kind",
                                       "metadata.kind", "author.name",      "tags",
                                       "year",          "absent",           "dotted.key"};
constexpr std::int64_t kYear2024 = 1'704'067'200'000'000;

}  // namespace

std::string RandomData::word() {
    const std::size_t most = 1 + below(30);
    return "w" + std::to_string(below(most));
}

std::string RandomData::words(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + word();
    return text;
}

std::vector<float> RandomData::vector(std::size_t dimension) {
    std::vector<float> vector(dimension);
    for (float& x : vector) x = static_cast<float>(below(5)) - 2.0F;
    if (std::ranges::all_of(vector, [](float x) { return x == 0; })) vector.front() = 1.0F;
    return vector;
}

std::vector<float> RandomData::real_vector(std::size_t dimension) {
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    std::vector<float> vector(dimension);
    for (float& x : vector) x = uniform(rng_);
    return vector;
}

Value RandomData::value() {
    switch (below(9)) {
        case 0:
            return {};
        case 1:
            return chance(50);
        case 2:
            return static_cast<std::int64_t>(below(4)) + 2020;
        case 3:
            return static_cast<double>(below(8)) / 2 + 2020;
        case 4:
            return pick(kDates);
        case 5:
            return static_cast<std::int64_t>(below(3)) + (std::int64_t{1} << 53);
        case 6: {
            Array list;
            for (std::size_t i = below(4); i > 0; --i) list.push_back(value());
            return list;
        }
        default:
            return pick(kStrings);
    }
}

Object RandomData::metadata() {
    Object metadata;
    if (chance(70)) metadata.set("kind", pick(kStrings));
    if (chance(60)) metadata.set("year", value());
    if (chance(50)) metadata.set("author", Object{{"name", value()}});
    if (chance(50)) {
        Array tags;
        for (std::size_t i = below(4); i > 0; --i) tags.push_back(pick(kStrings));
        metadata.set("tags", std::move(tags));
    }
    if (chance(20)) metadata.set("dotted.key", value());
    if (chance(20)) metadata.set("created_at", pick(kDates));
    if (chance(20)) metadata.set("title", pick(kStrings));
    return metadata;
}

Chunk RandomData::chunk(std::size_t dimension) {
    Chunk chunk;
    chunk.chunk_id = "c" + std::to_string(below(60));
    if (chance(80)) chunk.document_id = "d" + std::to_string(below(15));
    if (chance(80)) chunk.chunk_index = static_cast<std::int64_t>(below(8)) - 2;
    chunk.content = words(below(25));
    if (chance(50)) chunk.title = words(below(4));
    if (chance(30)) chunk.section_title = words(below(3));
    chunk.metadata = metadata();
    if (chance(60)) {
        chunk.created_at = Timestamp{kYear2024 + static_cast<std::int64_t>(below(3)) * 500'000};
    }
    if (chance(60)) {
        chunk.sensitivity =
            pick(std::vector<std::string>{"public", "normal", "sensitive", "restricted"});
    }
    if (chance(30)) chunk.visibility_scope.emplace_back("red");
    if (chance(30)) chunk.visibility_scope.emplace_back("blue");
    if (dimension > 0) chunk.vector = vector(dimension);
    return chunk;
}

MetadataUpdate RandomData::update() {
    MetadataUpdate update;
    update.metadata = metadata();
    if (chance(30)) update.metadata.set("year", nullptr);
    if (chance(30)) update.metadata.set("author", Object{{"name", nullptr}, {"age", 7}});
    if (chance(30)) update.created_at = Timestamp{kYear2024};
    if (chance(30)) {
        update.sensitivity = pick(std::vector<std::string>{"public", "sensitive", "restricted"});
    }
    if (chance(20)) update.visibility_scope = std::vector<std::string>{"blue"};
    if (chance(10)) update.visibility_scope = std::vector<std::string>{};
    return update;
}

Value RandomData::operand_for(const std::string& field) {
    if (field == "created_at") return pick(kDates);
    if (field == "chunk_index") {
        return chance(50) ? Value(static_cast<std::int64_t>(below(6)))
                          : Value(static_cast<double>(below(10)) / 2);
    }
    if (field == "chunk_id") return "c" + std::to_string(below(60));
    if (field == "document_id") return "d" + std::to_string(below(15));
    if (field == "title" || field == "section_title") return words(1 + below(2));
    if (field == "sensitivity") return chance(50) ? "normal" : "sensitive";
    if (field == "visibility_scope") return chance(50) ? "red" : "blue";
    return value();
}

Filter RandomData::comparison() {
    const std::string& field = pick(kFields);
    const auto ordered = [&] {
        while (true) {
            Value operand = operand_for(field);
            if (operand.is_number() || operand.is_string() || operand.is_bool()) return operand;
        }
    };
    const auto op = static_cast<Op>(static_cast<std::size_t>(Op::Eq) + below(11));
    switch (op) {
        case Op::In:
        case Op::Nin: {
            Array list;
            for (std::size_t i = below(5); i > 0; --i) list.push_back(operand_for(field));
            return Filter::compare(op, field, std::move(list));
        }
        case Op::Exists:
            return Filter::compare(op, field, chance(50));
        case Op::Between: {
            while (true) {
                Value low = ordered();
                Value high = ordered();
                if (low.type_name() != high.type_name()) continue;
                return Filter::compare(op, field, Array{std::move(low), std::move(high)});
            }
        }
        case Op::Eq:
        case Op::Ne:
            return Filter::compare(op, field, operand_for(field));
        default:
            return Filter::compare(op, field, ordered());
    }
}

Filter RandomData::filter(std::size_t depth) {
    if (depth <= 1 || chance(40)) return comparison();
    const auto op = static_cast<Op>(below(3));
    Filter filter{op, {}, {}, {}};
    const std::size_t children = op == Op::Not ? 1 : below(4);
    for (std::size_t i = 0; i < children; ++i) filter.children.push_back(this->filter(depth - 1));
    return filter;
}

QueryClause RandomData::clauses(const std::vector<std::string>& fields, std::size_t depth) {
    using Kind = QueryClause::Kind;
    QueryClause group;
    group.kind = Kind::Group;
    for (std::size_t i = 0; i <= below(4); ++i) {
        QueryClause clause;
        if (depth > 0 && chance(20)) {
            clause = clauses(fields, depth - 1);
        } else {
            const std::vector kinds{Kind::Word, Kind::Word, Kind::Prefix, Kind::Fuzzy,
                                    Kind::Phrase};
            clause.kind = pick(kinds);
            clause.text = clause.kind == Kind::Phrase ? words(1 + below(4)) : word();
            if (clause.kind == Kind::Fuzzy) {
                clause.distance = static_cast<std::uint32_t>(1 + below(2));
            } else if (clause.kind == Kind::Phrase && chance(50)) {
                clause.distance = static_cast<std::uint32_t>(below(6));
            }
            if (chance(20)) clause.field = pick(fields);
            if (chance(20)) clause.boost = chance(50) ? 2.5 : 0.125;
        }
        const std::size_t occur = below(10);
        if (occur < 3) clause.occur = QueryClause::Occur::Must;
        if (occur == 3) clause.occur = QueryClause::Occur::Not;
        group.clauses.push_back(std::move(clause));
    }
    return group;
}

}  // namespace braid::testing
