#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "braid/cli/commands/bench/index.hpp"
#include "braid/cli/commands/bench/options.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/core/timings.hpp"
#include "braid/fusion/fuse.hpp"
#include "braid/ingest/npy.hpp"

namespace braid::cli {
namespace {

constexpr auto kBenchHybridFlags = std::to_array<FlagSpec>({
    {.name = "corpus", .kind = FlagKind::Text, .value = "FILE", .help = "one document per line"},
    {.name = "base", .kind = FlagKind::Text, .value = "FILE.npy", .help = "a vector for each"},
    {.name = "queries", .kind = FlagKind::Text, .value = "FILE", .help = "one query per line"},
    {.name = "query-vectors",
     .kind = FlagKind::Text,
     .value = "FILE.npy",
     .help = "a vector for each"},
    {.name = "embedder",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "embed every query with this model instead"},
    {.name = "docs", .kind = FlagKind::Integer, .value = "N", .help = "only the first N documents"},
    {.name = "recall",
     .kind = FlagKind::Number,
     .value = "R",
     .help = "recall of the dense leg (default: 0.98)"},
    {.name = "recent",
     .kind = FlagKind::Text,
     .value = "FILE.npy",
     .help = "query vectors it has seen before"},
    {.name = "analyzer",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "standard (default) or simple",
     .choices = "standard|simple"},
});

constexpr std::size_t kHybridDepth = 50;  // of each leg, the usual one

/// What the answers report about their own time, added up.
class AnswerTimes {
public:
    void add(const Timings& timings) {
        const std::lock_guard lock(mutex_);
        ++count_;
        core::add(sum_, timings);
    }

    /// Means. What remains of the whole after the other parts is the time of both legs together.
    Object figures() const {
        const auto n = static_cast<double>(count_);
        const double legs = sum_.total_ms - sum_.embed_ms - sum_.fusion_ms - sum_.hydrate_ms;
        return Object{{"mean_embed_ms", sum_.embed_ms / n},
                      {"mean_dense_ms", sum_.dense_ms / n},
                      {"mean_sparse_ms", sum_.sparse_ms / n},
                      {"mean_both_legs_ms", legs / n},
                      {"mean_fusion_ms", sum_.fusion_ms / n},
                      {"mean_hydrate_ms", sum_.hydrate_ms / n},
                      {"mean_total_ms", sum_.total_ms / n},
                      {"fusion_share", sum_.fusion_ms / sum_.total_ms}};
    }

private:
    std::mutex mutex_;
    std::size_t count_ = 0;
    Timings sum_;
};

/// Microseconds to fuse two lists of 1,000 candidates each, half of them common: the median of 101.
Result<double> time_of_fusing() {
    constexpr std::size_t candidates = 1000;
    constexpr std::size_t rounds = 101;
    constexpr std::size_t count = candidates * 3 / 2;
    std::vector<std::string> ids;
    ids.reserve(count);
    for (std::size_t i = 0; i < count; ++i) ids.push_back("chunk-" + std::to_string(i));
    std::vector<fusion::Entry> dense;
    std::vector<fusion::Entry> sparse;
    for (std::size_t i = 0; i < candidates; ++i) {
        const double score = 1.0 / static_cast<double>(i + 1);
        dense.push_back({ids[i], score, i});
        sparse.push_back({ids[ids.size() - 1 - i], 10 * score, i});
    }
    const std::array<fusion::RankedList, 2> lists{{{"dense", 0.7, dense}, {"sparse", 0.3, sparse}}};
    std::vector<double> times;
    for (std::size_t i = 0; i < rounds; ++i) {
        const auto start = std::chrono::steady_clock::now();
        BRAID_CHECK(fusion::fuse(lists, {}));
        const auto time = std::chrono::steady_clock::now() - start;
        times.push_back(std::chrono::duration<double, std::micro>(time).count());
    }
    std::ranges::nth_element(times, times.begin() + rounds / 2);
    return times[rounds / 2];
}

struct HybridInput {
    std::vector<std::string> corpus;
    std::vector<std::string> queries;
    std::vector<std::vector<float>> vectors;  // of the queries; none: they are embedded
    std::vector<std::vector<float>> recent;   // of queries before them
    double recall = kUsualRecall;
};

Result<HybridInput> read_hybrid_input(const Arguments& arguments, const ingest::NpyFile& base) {
    HybridInput input;
    BRAID_TRY(const std::string corpus_path, bench_file(arguments, "corpus"));
    BRAID_TRY(const std::string queries_path, bench_file(arguments, "queries"));
    BRAID_TRY(const auto docs, arguments.integer("docs", 1, 1'000'000'000));
    BRAID_TRY(input.corpus, read_bench_lines(corpus_path));
    BRAID_TRY(input.queries, read_bench_lines(queries_path));
    bool fits = base.rows() == input.corpus.size();
    if (!arguments.has("embedder")) {
        BRAID_TRY(const std::string vectors_path, bench_file(arguments, "query-vectors"));
        BRAID_TRY(input.vectors, read_bench_rows(vectors_path));
        fits = fits && input.vectors.size() == input.queries.size();
    }
    if (const auto recent = arguments.text("recent")) {
        BRAID_TRY(input.recent, read_bench_rows(*recent));
    }
    BRAID_TRY(input.recall, bench_share(arguments, kBenchHybridFlags[6], kUsualRecall));
    if (!fits) {
        return invalid_argument("there must be one vector for each document and each query");
    }
    if (docs && static_cast<std::size_t>(*docs) < input.corpus.size()) {
        input.corpus.resize(static_cast<std::size_t>(*docs));
    }
    return input;
}

Result<> run_hybrid(Session& session) {
    const Arguments& arguments = session.arguments;
    BRAID_TRY(const std::string base_path, bench_file(arguments, "base"));
    BRAID_TRY(const BenchSizes sizes, bench_sizes(arguments));
    BRAID_TRY(const auto base, ingest::NpyFile::open(base_path));
    BRAID_TRY(const HybridInput input, read_hybrid_input(arguments, base));
    Schema schema;
    schema.analyzer = arguments.text_or("analyzer", schema.analyzer);
    schema.vectors.embedder = arguments.text_or("embedder", "external");
    schema.vectors.dimension = base.dimension();
    BRAID_TRY(BenchIndex built, build_bench(session, schema, input.corpus.size(),
                                            [&](std::uint64_t i) -> Result<Chunk> {
                                                Chunk chunk;
                                                chunk.content = input.corpus[i];
                                                BRAID_TRY(chunk.vector, base.row(i));
                                                return chunk;
                                            }));
    AnswerTimes times;
    const auto ask = [&](const Request& request) -> Result<std::vector<std::uint64_t>> {
        BRAID_TRY(const Answer answer, built.database.retrieve(request));
        if (!answer.complete) {
            return fail(ErrorCode::Unavailable,
                        "an answer is incomplete: " + answer.warnings.front());
        }
        times.add(answer.timings);
        std::vector<std::uint64_t> rows;
        rows.reserve(answer.hits.size());
        for (const Hit& hit : answer.hits) rows.push_back(std::stoull(hit.chunk.chunk_id));
        return rows;
    };
    Request usual;
    usual.collections = {kBenchCollection};
    usual.top_k = sizes.top_k;
    usual.recall = input.recall;
    usual.dense_weight = 0.5;      // both legs alike, as others fuse
    usual.highlight = false;       // rivals do not say where the words are,
    usual.typos = false;           // look for similar ones,
    usual.keep_duplicates = true;  // or compare the texts of hits
    Request dense = usual;
    dense.strategy = Strategy::Dense;
    dense.top_k = kHybridDepth;
    // As with "bench dense": a collection in use has learnt from queries.
    const auto calibrate = [&]() -> Result<> {
        for (const auto& vector : input.recent) {
            dense.query_embedding = vector;
            BRAID_CHECK(built.database.retrieve(dense));
        }
        BRAID_CHECK(built.database.compact(kBenchCollection));
        return {};
    };
    BRAID_CHECK(finish_bench(built, calibrate));
    std::atomic<std::size_t> asked{0};
    BenchSubject subject{input.queries.size(), sizes.threads, {}, built.facts};
    subject.search = [&](std::size_t i) {
        Request request = usual;
        request.query = input.queries[i];
        if (input.vectors.empty()) {
            request.query += " " + std::to_string(asked++);  // never asked before: not remembered
        } else {
            request.query_embedding = input.vectors[i];
        }
        return ask(request);
    };
    subject.dense_leg = [&](std::size_t i) -> Result<std::vector<std::uint64_t>> {
        if (input.vectors.empty()) return invalid_argument("the dense leg needs --query-vectors");
        Request request = dense;
        request.query_embedding = input.vectors[i];
        return ask(request);
    };
    BRAID_TRY(const double fuse_us, time_of_fusing());
    return bench_measure(session, subject, [&] {
        Object figures = times.figures();
        figures.set("fuse_2x1000_us", fuse_us);
        return figures;
    });
}

}  // namespace

const CommandSpec kBenchHybridCommand{
    .name = "bench hybrid",
    .operands = "",
    .summary = "measure whole answers on your own text and vectors",
    .details = R"(Like "bench sparse", but each query is a whole request: both legs, rrf with
equal weights, texts and receipts. With --embedder that model embeds every
query, every time. The means are the timings the answers report: the legs run in
parallel, so "both legs" is less than their sum where cores are free.
"fusion_share" is the share spent on fusion and receipts. The collection first
sees the queries of --recent, and learns from them how deep to search.

  braid bench hybrid --corpus lines.txt --base base.npy --queries questions.txt
                     --query-vectors q.npy --json
  braid bench hybrid --corpus lines.txt --base base.npy --queries questions.txt
                     --embedder bge --docs 10000)",
    .flags = kBenchHybridFlags,
    .shared_flags = kBenchFlags,
    .shared_title = "For every bench command",
    .run = run_hybrid,
};

}  // namespace braid::cli
