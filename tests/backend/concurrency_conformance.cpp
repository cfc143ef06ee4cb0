#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <map>
#include <thread>

#include "backend/conformance.hpp"
#include "backend/dump.hpp"

namespace braid::testing {
namespace {

/// Threads that are joined at the end of the block.
class Crew {
public:
    template <class Work>
    void add(int threads, Work work) {
        for (int i = 0; i < threads; ++i) threads_.emplace_back([work, i] { work(i); });
    }
    void join() { threads_.clear(); }

private:
    std::vector<std::jthread> threads_;
};

/// The chunks of one group, all with the same stamp.
std::vector<Chunk> group(int number, int stamp, std::size_t size) {
    std::vector<Chunk> chunks;
    for (std::size_t i = 0; i < size; ++i) {
        Chunk chunk = make_chunk("g" + std::to_string(number) + "-" + std::to_string(i),
                                 "everywhere stamp" + std::to_string(stamp),
                                 {static_cast<float>(number + 1), static_cast<float>(stamp + 1)});
        chunk.document_id = "g" + std::to_string(number);
        chunk.metadata = {{"stamp", stamp}};
        chunks.push_back(std::move(chunk));
    }
    return chunks;
}

/// Every group of the snapshot is there whole and with one stamp, and both legs hold it.
void expect_whole_groups(const ReaderPtr& snapshot, std::size_t size) {
    const ReadScope scope = scope_of("c");
    const auto chunks = must(snapshot->scan(scope, "", 100'000, true));
    std::map<std::string, std::vector<Value>> stamps;
    Ids ids;
    for (const Chunk& chunk : chunks) {
        stamps[chunk.document_id].push_back(*chunk.metadata.find("stamp"));
        ids.push_back(chunk.chunk_id);
        EXPECT_EQ(chunk.content,
                  "everywhere stamp" + std::to_string(stamps[chunk.document_id].back().as_int()));
    }
    for (const auto& [document, seen] : stamps) {
        EXPECT_EQ(seen.size(), size) << document;
        EXPECT_EQ(std::ranges::count(seen, seen.front()), static_cast<std::ptrdiff_t>(size))
            << document;
    }
    const std::vector<Leg> legs{words_leg(scope, {"everywhere"}, 100'000),
                                vector_leg(scope, {1, 1}, 100'000)};
    for (const auto& result : snapshot->search(legs)) {
        Ids found = ids_of(must(result));
        std::ranges::sort(found);
        EXPECT_EQ(found, ids);
    }
}

TEST_P(BackendConformance, ConcurrentReadersSeeBatchesWholeOrNotAtAll) {
    if (!promised().atomic_batches || !promised().snapshots) {
        GTEST_SKIP() << "the backend promises neither atomic batches nor snapshots";
    }
    constexpr int writers = 3;
    constexpr int batches = 60;
    constexpr std::size_t size = 12;  // 3 x 60 x 12 versions die: enough to be cleaned up
    create(vectors_schema(2));
    std::atomic<int> writing = writers;
    Crew crew;
    crew.add(writers, [&](int number) {
        for (int stamp = 0; stamp < batches; ++stamp) {
            must(backend().upsert("c", "default", group(number, stamp, size), {}));
            if (stamp % 10 == 9) {
                const auto document = by_documents({"g" + std::to_string(number)});
                EXPECT_EQ(must(backend().remove(scope_of("c"), document, {})).written, size);
            }
        }
        --writing;
    });
    crew.add(2, [&](int) {
        while (writing > 0) expect_whole_groups(now(), size);
    });
    crew.join();
    expect_whole_groups(now(), size);
}

TEST_P(BackendConformance, ASnapshotDoesNotMoveWhileOthersWrite) {
    if (!promised().snapshots) GTEST_SKIP() << "the backend does not promise snapshots";
    create(vectors_schema(2));
    put(group(0, 0, 10));
    std::atomic<bool> stop = false;
    Crew crew;
    crew.add(2, [&](int number) {
        for (int stamp = 1; !stop; ++stamp) {
            must(backend().upsert("c", "default", group(number, stamp, 10), {}));
        }
    });
    crew.add(2, [&](int) {
        DumpPlan plan;
        plan.collection = "c";
        plan.queries = {"everywhere", "stamp0 stamp1"};
        plan.vectors = {{1, 2}};
        plan.facet_fields = {"stamp"};
        plan.chunk_ids = {"g0-1", "g1-3"};
        for (int round = 0; round < 15; ++round) {
            const ReaderPtr snapshot = now();
            const std::string before = dump(snapshot, {}, plan);
            for (int i = 0; i < 3; ++i) EXPECT_EQ(dump(snapshot, {}, plan), before);
        }
        stop = true;
    });
}

TEST_P(BackendConformance, ConcurrentWritersLoseNothing) {
    create(vectors_schema(2));
    constexpr int writers = 6;
    constexpr int writes = 20;
    std::array<std::vector<Version>, writers> versions;
    Crew crew;
    crew.add(writers, [&](int writer) {
        for (int i = 0; i < writes; ++i) {
            const std::string id = "w" + std::to_string(writer) + "-" + std::to_string(i);
            const WriteReport report =
                must(backend().upsert("c", "default", {make_chunk(id, "word", {1, 1})}, {}));
            versions.at(static_cast<std::size_t>(writer)).push_back(report.version);
            if (promised().read_your_writes) {
                const Ids ids{id};
                const auto read = must(now()->fetch(scope_of("c"), ids, false));
                EXPECT_EQ(present(read.at(0)).version, report.version);
            }
        }
    });
    crew.join();
    std::vector<Version> all;
    for (const auto& own : versions) {
        all.insert(all.end(), own.begin(), own.end());
    }
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << "a version was given twice";
    EXPECT_EQ(must(now()->count(scope())), std::size_t{writers} * writes);
    EXPECT_EQ(find_words("word").size(), std::size_t{writers} * writes);
    EXPECT_EQ(find_near({1, 0}).size(), std::size_t{writers} * writes);
}

TEST_P(BackendConformance, IfVersionLetsOneOfSeveralWritersThrough) {
    create(words_schema());
    put({make_chunk("counter", "0")});
    constexpr int writers = 4;
    constexpr int steps = 15;
    std::atomic<int> conflicts = 0;
    Crew crew;
    crew.add(writers, [&](int writer) {
        for (int done = 0; done < steps;) {
            const Chunk read = present(get("counter"));
            const Chunk next = make_chunk("counter", std::to_string(std::stoi(read.content) + 1));
            const WriteOptions if_same{.if_version = read.version};
            const auto written =
                writer % 2 == 0 ? backend().upsert("c", "default", {next}, if_same)
                                : backend().upsert("c", "default", {next, make_chunk("other", "x")},
                                                   {.if_version = read.version});
            if (writer % 2 == 1) {
                // The second chunk never has that version: all or nothing.
                expect_error(written, ErrorCode::Conflict);
                ++done;
            } else if (written) {
                ++done;
            } else {
                expect_error(written, ErrorCode::Conflict);
                ++conflicts;
            }
        }
    });
    crew.join();
    EXPECT_EQ(present(get("counter")).content, std::to_string(writers / 2 * steps));
    EXPECT_EQ(all_ids(), Ids{"counter"});
}

TEST_P(BackendConformance, OneOfSeveralFirstVectorsSetsTheDimension) {
    for (int round = 0; round < 5; ++round) {
        create(vectors_schema(0), "c" + std::to_string(round));
        std::atomic<int> accepted = 0;
        Crew crew;
        crew.add(4, [&](int thread) {
            const std::size_t dimension = 2 + static_cast<std::size_t>(thread) % 2;
            const std::string id = "t" + std::to_string(thread);
            const auto written =
                backend().upsert(collection(), "default",
                                 {make_chunk(id, "x", std::vector<float>(dimension, 1.0F))}, {});
            if (written) {
                ++accepted;
            } else {
                expect_error(written, ErrorCode::InvalidArgument, "dimensions");
            }
        });
        crew.join();
        EXPECT_EQ(accepted.load(), 2);
        const auto chunks = must(now()->scan(scope(), "", 10, true));
        ASSERT_EQ(chunks.size(), 2U);
        EXPECT_EQ(chunks[0].vector.size(), chunks[1].vector.size());
        EXPECT_EQ(schema().vectors.dimension, chunks[0].vector.size());
    }
}

TEST_P(BackendConformance, CollectionsComeAndGoWhileOthersAreRead) {
    create(words_schema());
    put({make_chunk("a", "word")});
    std::atomic<int> working = 2;
    Crew crew;
    crew.add(2, [&](int thread) {
        const std::string name = "own" + std::to_string(thread);
        for (int i = 0; i < 15; ++i) {
            must(backend().create_collection(name, words_schema()));
            must(backend().upsert(name, "default", {make_chunk("x", "word")}, {}));
            must(backend().drop_collection(name));
        }
        --working;
    });
    crew.add(2, [&](int) {
        while (working > 0) {
            EXPECT_EQ(find_words("word"), Ids{"a"});
            EXPECT_GE(must(backend().collections({})).size(), 1U);
            const Ids names{"c", "own0"};
            const auto both = backend().snapshot(names, {});
            if (!both) expect_error(both, ErrorCode::NotFound, "own0");
        }
    });
    crew.join();
    EXPECT_EQ(must(backend().collections({})).size(), 1U);
}

TEST_P(BackendConformance, ACheckFindsNothingWrongWhileOthersWrite) {
    create(vectors_schema(2));
    if (const auto supported = backend().check({}); !supported) {
        GTEST_SKIP() << supported.error().message;
    }
    constexpr int writers = 2;
    std::atomic<int> writing = writers;
    Crew crew;
    crew.add(writers, [&](int number) {
        for (int stamp = 0; stamp < 80; ++stamp) {
            must(backend().upsert("c", "default", group(number, stamp, 12), {}));
            if (stamp % 10 == 9) {
                must(backend().remove(scope_of("c"), by_documents({"g" + std::to_string(number)}),
                                      {}));
            }
            if (stamp % 20 == 5) {
                const std::string name = "other" + std::to_string(number);
                must(backend().create_collection(name, words_schema()));
                must(backend().upsert(name, "default", {make_chunk("a", "word")}, {}));
                must(backend().drop_collection(name));
            }
        }
        --writing;
    });
    crew.add(2, [&](int) {
        while (writing > 0) {
            for (const std::string& problem : must(backend().check({})).problems) {
                ADD_FAILURE() << problem;
            }
        }
    });
    crew.join();
    EXPECT_EQ(must(backend().check({})).problems, Ids{});
}

/// Limits of a call that stops in the middle of its work, until it is let go on.
class Midway {
public:
    explicit Midway(int looks_before) : looks_before_(looks_before) {
        limits_.gone = [this] {
            if (looks_++ != looks_before_) return false;
            inside_.count_down();
            go_on_.wait();
            return false;
        };
    }
    const CallLimits& limits() const { return limits_; }
    void wait_until_there() { inside_.wait(); }
    void go_on() { go_on_.count_down(); }

private:
    int looks_before_;
    int looks_ = 0;
    CallLimits limits_;
    std::latch inside_{1};
    std::latch go_on_{1};
};

/// Chunks enough that every scan looks at its limits on the way.
std::vector<Chunk> many_chunks() {
    std::vector<Chunk> chunks;
    for (int i = 0; i < 9000; ++i) {
        const auto x = static_cast<float>(i % 7 + 1);
        Chunk chunk = make_chunk("c" + std::to_string(i), "word", {x, 1});
        chunk.metadata = {{"n", i}};
        chunks.push_back(std::move(chunk));
    }
    return chunks;
}

TEST_P(BackendConformance, AWriterDoesNotWaitForAReader) {
    if (!promised().snapshots) GTEST_SKIP() << "no snapshots promised";
    create(vectors_schema(2));
    put(many_chunks());
    const ReadScope of =
        scope({}, Filter::compare(Filter::Op::Nin, "n", Value(Array{1, 2, "three"})));
    using Read = std::function<std::uint64_t(const ReaderPtr&, const CallLimits&)>;
    const std::vector<std::pair<std::string, Read>> reads{
        {"count",
         [&](const auto& at, const auto& limits) { return must(at->with(limits)->count(of)); }},
        {"dense",
         [&](const auto& at, const auto& limits) {
             return must(at->with(limits)->search_leg(vector_leg(of, {1, 1}))).matched.count;
         }},
        {"sparse",
         [&](const auto& at, const auto& limits) {
             return must(at->with(limits)->search_leg(words_leg(of, {"word"}))).matched.count;
         }},
        {"facets",
         [&](const auto& at, const auto& limits) {
             return must(at->with(limits)->facets(of, "n", 100'000)).size();
         }},
        {"stats", [&](const auto& at,
                      const auto& limits) { return must(at->with(limits)->stats(of)).chunks; }},
        {"scan", [&](const auto& at, const auto& limits) {
             return must(at->with(limits)->scan(of, "", 100'000, false)).size();
         }}};
    int written = 0;
    for (const auto& [name, read] : reads) {
        SCOPED_TRACE(name);
        const ReaderPtr before = now();
        const std::uint64_t expected = read(before, {});
        Midway midway(1);  // the first look comes before the work
        std::uint64_t found = 0;
        std::jthread reader([&] { found = read(before, midway.limits()); });
        midway.wait_until_there();
        // Each of these would wait for ever if the reader had to be done first.
        const std::string id = "new" + std::to_string(written++);
        put({make_chunk(id, "word", {3, 3})});
        put({make_chunk("c5", "replaced", {3, 3})});
        EXPECT_EQ(erase(by_filter(Filter::compare(Filter::Op::Eq, "chunk_id", id))).written, 1U);
        midway.go_on();
        reader.join();
        EXPECT_EQ(found, expected);
    }
}

TEST_P(BackendConformance, AWriterDoesNotWaitWhileAFilterLooksForWhatToDelete) {
    create(vectors_schema(2));
    put(many_chunks());
    Midway midway(0);
    const DeleteSelector large = by_filter(Filter::compare(Filter::Op::Gte, "n", 4000));
    WriteReport report;
    std::jthread remover(
        [&] { report = must(backend().remove(scope(), large, {.limits = midway.limits()})); });
    midway.wait_until_there();
    // What is written meanwhile is judged as it is when the delete happens.
    Chunk in = make_chunk("c3", "word", {1, 1});
    in.metadata = {{"n", 5000}};
    Chunk out = make_chunk("c8000", "word", {1, 1});
    out.metadata = {{"n", 1}};
    Chunk fresh = make_chunk("fresh", "word", {1, 1});
    fresh.metadata = {{"n", 9000}};
    put({in, out, fresh});
    erase(by_ids({"c7000"}));
    midway.go_on();
    remover.join();
    EXPECT_EQ(report.written, 5000U - 2 + 2);
    EXPECT_FALSE(get("c3").has_value());
    EXPECT_FALSE(get("fresh").has_value());
    EXPECT_TRUE(get("c8000").has_value());
    EXPECT_EQ(must(now()->count(scope())), 4000U);
}

}  // namespace
}  // namespace braid::testing
