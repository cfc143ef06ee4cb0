#include "recovery/workload.hpp"

#include <algorithm>
#include <map>

#include "backend/dump.hpp"
#include "backend/helpers.hpp"

namespace braid::testing {
namespace {

Chunk wordy(const std::string& id, const std::string& words, std::vector<float> vector = {}) {
    Chunk chunk = make_chunk(id, "all " + words, std::move(vector));
    chunk.document_id = "d" + id.substr(0, 1);
    chunk.title = "title of " + id;
    chunk.metadata = {{"year", static_cast<std::int64_t>(words.size())}, {"tags", Array{"x", id}}};
    return chunk;
}

/// Larger than a sector, so that it can be torn in the middle.
std::vector<Chunk> large_batch(int count) {
    std::vector<Chunk> chunks;
    for (int i = 0; i < count; ++i) {
        std::string words;
        for (int j = 0; j < 40; ++j) words += "word" + std::to_string(i * j % 17) + " ";
        chunks.push_back(wordy("L" + std::to_string(i), words, {1, static_cast<float>(i)}));
    }
    return chunks;
}

Step upsert(const std::string& collection, const std::string& namespace_,
            const std::vector<Chunk>& chunks) {
    return {"upsert into " + collection, [=](Backend& backend) -> Result<> {
                BRAID_CHECK(backend.upsert(collection, namespace_, chunks, {}));
                return {};
            }};
}

/// All of the old documents gone, the new ones in: visible only as a whole.
Step replace_documents(const std::string& collection, const std::vector<Chunk>& chunks) {
    return {"replace documents of " + collection, [=](Backend& backend) -> Result<> {
                WriteOptions options;
                options.replace_documents = true;
                BRAID_CHECK(backend.upsert(collection, "default", chunks, options));
                return {};
            }};
}

Step begin(const std::string& collection, const Schema& schema) {
    return {"begin " + collection,
            [=](Backend& backend) { return backend.begin_collection(collection, schema); }};
}

Step finish(const std::string& collection) {
    return {"finish " + collection,
            [=](Backend& backend) { return backend.finish_collection(collection); }};
}

Step create(const std::string& collection, const Schema& schema) {
    return {"create " + collection,
            [=](Backend& backend) { return backend.create_collection(collection, schema); }};
}

Step drop(const std::string& collection) {
    return {"drop " + collection,
            [=](Backend& backend) { return backend.drop_collection(collection); }};
}

Step remove(const std::string& collection, const DeleteSelector& selector) {
    return {"delete from " + collection, [=](Backend& backend) -> Result<> {
                BRAID_CHECK(backend.remove(scope_of(collection), selector, {}));
                return {};
            }};
}

Step drop_namespace(const std::string& collection, const std::string& namespace_) {
    return {"drop " + namespace_ + " of " + collection, [=](Backend& backend) -> Result<> {
                ReadScope scope = scope_of(collection);
                scope.namespace_ = namespace_;
                BRAID_CHECK(backend.remove(scope, by_filter(Filter{}), {}));
                return {};
            }};
}

Step update(const std::string& collection, const std::string& id) {
    return {"update " + id, [=](Backend& backend) -> Result<> {
                MetadataUpdate change{.chunk_id = id, .metadata = {{"year", nullptr}, {"n", 1}}};
                change.sensitivity = "public";
                BRAID_CHECK(backend.update(collection, "default", {change}, {}));
                return {};
            }};
}

/// Copies a collection, every chunk changed, and puts the copy in its place.
Result<> carry_out(Rewrite& work, void (*change)(Chunk&)) {
    while (true) {
        BRAID_TRY(Rewrite::Batch batch, work.pending(4));
        if (batch.chunks.empty()) break;
        for (Chunk& chunk : batch.chunks) change(chunk);
        BRAID_CHECK(work.put(std::move(batch)));
    }
    BRAID_TRY(const bool finished, work.finish());
    if (!finished) return fail(ErrorCode::Conflict, "nobody else was writing");
    return {};
}

/// A step that is visible only as a whole, although it writes a copy chunk by chunk.
Step rewrite(const std::string& collection, const Schema& schema) {
    return {"rewrite " + collection, [=](Backend& backend) -> Result<> {
                BRAID_TRY(const auto work, backend.rewrite(collection, schema));
                return carry_out(*work, [](Chunk& chunk) { chunk.vector.push_back(5); });
            }};
}

/// A step that nobody sees.
Step compact(const std::string& collection) {
    return {"compact " + collection, [=](Backend& backend) -> Result<> {
                BRAID_TRY(const auto work, backend.compaction(collection));
                return carry_out(*work, [](Chunk&) {});
            }};
}

}  // namespace

const std::vector<Step>& workload() {
    static const std::vector<Step> kSteps{
        create("docs", vectors_schema(2)),
        upsert("docs", "default",
               {wordy("a1", "red fox", {1, 0}), wordy("a2", "blue fox", {0, 1}),
                wordy("b1", "green", {1, 1})}),
        create("notes", words_schema()),
        upsert("docs", "default", {wordy("a1", "replaced", {0, 2}), wordy("c1", "new", {3, 1})}),
        upsert("notes", "default", {wordy("n1", "first note"), wordy("n2", "second")}),
        update("docs", "a2"),
        replace_documents(
            "docs", {wordy("a3", "in place of two", {1, 3}), wordy("c1", "the same id", {3, 3})}),
        upsert("docs", "default", {wordy("a2", "once more", {2, 1})}),
        begin("filled", words_schema()),
        upsert("filled", "default", {wordy("f1", "not to be seen yet")}),
        finish("filled"),
        upsert("docs", "tenant", {wordy("a1", "of another namespace", {2, 2})}),
        remove("docs", by_ids({"b1"})),
        upsert("docs", "default", large_batch(6)),
        create("brief", vectors_schema(0)),
        upsert("brief", "default", {wordy("x1", "soon gone", {1, 2, 3})}),
        remove("docs", by_documents({"dL"})),
        drop("brief"),
        remove("notes", by_filter(Filter::compare(Filter::Op::Eq, "chunk_id", "n1"))),
        upsert("docs", "tenant", {wordy("t1", "soon gone", {2, 2}), wordy("t2", "too", {2, 3})}),
        drop_namespace("docs", "tenant"),
        upsert("docs", "tenant", {wordy("t1", "there again", {4, 2})}),
        compact("docs"),
        rewrite("docs", vectors_schema(3, Metric::Dot)),
        upsert("docs", "default", {wordy("z1", "after the rewrite", {1, 1, 1})}),
        create("brief", words_schema()),
        upsert("brief", "default", {wordy("y1", "back again")}),
        drop("notes"),
    };
    return kSteps;
}

std::string state_of(const Backend& backend, ShownVersions versions) {
    std::string state;
    std::map<Version, Version> numbered;
    for (const CollectionInfo& info : must(backend.collections({}))) {
        state += info.name + " dimension " + std::to_string(info.schema.vectors.dimension) + " " +
                 std::string(name_of(info.schema.vectors.metric)) + info.damage + "\n";
        if (!info.damage.empty()) continue;
        const std::vector<std::string> names{info.name};
        const auto snapshot = backend.snapshot(names, {});
        if (!snapshot) continue;
        for (const std::string& space : info.namespaces) {
            const ReadScope scope{.collection = info.name, .namespace_ = space};
            for (Chunk& chunk : must((*snapshot)->scan(scope, "", 1000, true))) {
                if (versions == ShownVersions::Named) {
                    chunk.version =
                        numbered.try_emplace(chunk.version, numbered.size()).first->second;
                }
                state += "  " + space + ": " + print_chunk(chunk) + "\n";
            }
        }
    }
    return state;
}

void expect_check_is_clean(const Backend& backend) {
    for (const std::string& problem : must(backend.check({})).problems) ADD_FAILURE() << problem;
}

void expect_both_legs_agree(const Backend& backend) {
    for (const CollectionInfo& info : must(backend.collections({}))) {
        if (!info.damage.empty()) continue;
        const std::vector<std::string> names{info.name};
        const ReaderPtr snapshot = must(backend.snapshot(names, {}));
        for (const std::string& space : info.namespaces) {
            const ReadScope scope{.collection = info.name, .namespace_ = space};
            const auto chunks = must(snapshot->scan(scope, "", 1000, true));
            Ids sparse = ids_of(must(snapshot->search_leg(words_leg(scope, {"all"}))));
            std::ranges::sort(sparse);
            EXPECT_EQ(sparse, ids_of(chunks)) << info.name << "/" << space;
            if (!info.schema.vectors.has_vectors()) continue;
            const std::vector<float> query(info.schema.vectors.dimension, 1.0F);
            Ids dense = ids_of(must(snapshot->search_leg(vector_leg(scope, query))));
            std::ranges::sort(dense);
            EXPECT_EQ(dense, ids_of(chunks)) << info.name << "/" << space;
        }
    }
}

}  // namespace braid::testing
