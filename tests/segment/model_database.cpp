#include "segment/model_database.hpp"

#include <algorithm>
#include <regex>

#include "backend/dump.hpp"

namespace braid::testing {
namespace {

/// How a list was found is the one thing in which engines may differ.
std::string without_methods(const std::string& text) {
    static const std::regex method(" by (exhaustive|exact scan|inverted index)");
    return std::regex_replace(text, method, "");
}

}  // namespace

std::string shown(const ReaderPtr& snapshot, const Principal& principal, unsigned seed) {
    RandomData random(seed);
    DumpPlan plan;
    plan.collection = "c";
    std::vector<std::string> fields;
    for (const TextField& field : must(snapshot->schema("c")).text_fields) {
        fields.push_back(field.name);
    }
    for (int i = 0; i < 4; ++i) plan.clauses.push_back(random.clauses(fields));
    plan.namespaces = {"default", "other"};
    plan.queries = {random.words(3), random.words(6)};
    plan.vectors = {random.vector(3), random.real_vector(3)};
    plan.filters = {random.filter(), random.filter()};
    plan.facet_fields = {"kind", "tags", "sensitivity", "document_id"};
    for (int i = 0; i < 60; i += 7) plan.chunk_ids.push_back("c" + std::to_string(i));
    for (int i = 0; i < 15; i += 3) plan.documents.push_back("d" + std::to_string(i));
    plan.versions = DumpPlan::Versions::Named;
    return without_methods(dump(snapshot, principal, plan));
}

const std::vector<Principal>& principals() {
    static const std::vector<Principal> all{{},
                                            {"low", "normal", {}},
                                            {"high", "restricted", {"red"}},
                                            {"mid", "sensitive", {"secret"}}};
    return all;
}

void change(RandomData& random, Timestamp now, Database& one, Database& other) {
    const auto soon = [&] {
        return Timestamp{now.micros + static_cast<std::int64_t>(random.below(120)) - 5};
    };
    const std::string space = random.chance(80) ? "default" : "other";
    const auto both = [&](const auto& write) {
        const auto a = write(one.backend());
        const auto b = write(other.backend());
        ASSERT_EQ(a.has_value(), b.has_value());
        if (!a) {
            EXPECT_EQ(a.error().message, b.error().message);
            return;
        }
        EXPECT_EQ(a->written, b->written);
        EXPECT_EQ(a->replaced, b->replaced);
        EXPECT_EQ(a->removed, b->removed);
        EXPECT_EQ(a->unchanged, b->unchanged);
    };
    const std::size_t kind = random.below(10);
    if (kind < 6) {
        std::vector<Chunk> chunks;
        for (std::size_t i = 0; i <= random.below(4); ++i) {
            Chunk chunk = random.chunk(3);
            if (random.chance(30)) chunk.expires_at = soon();
            const auto same = [&](const Chunk& c) { return c.chunk_id == chunk.chunk_id; };
            if (std::ranges::none_of(chunks, same)) chunks.push_back(std::move(chunk));
        }
        WriteOptions options;
        options.replace_documents = random.chance(20);
        options.skip_unchanged = random.chance(20);
        both([&](Backend& backend) { return backend.upsert("c", space, chunks, options); });
    } else if (kind < 8) {
        MetadataUpdate update = random.update();
        if (random.chance(30)) update.expires_at = soon();
        both([&](Backend& backend) { return backend.update("c", space, {update}, {}); });
    } else {
        DeleteSelector selector;
        if (random.chance(10)) {
            selector.filter = Filter{};  // all of the namespace
        } else if (random.chance(40)) {
            selector.filter = random.filter();
        } else if (random.chance(50)) {
            selector.document_ids = {"d" + std::to_string(random.below(15))};
        } else {
            selector.chunk_ids = {"c" + std::to_string(random.below(60))};
        }
        ReadScope scope = scope_of("c");
        scope.namespace_ = space;
        both([&](Backend& backend) { return backend.remove(scope, selector, {}); });
    }
}

}  // namespace braid::testing
