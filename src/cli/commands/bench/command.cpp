#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "braid/backend.hpp"
#include "braid/cli/commands/bench/index.hpp"
#include "braid/cli/commands/bench/options.hpp"
#include "braid/cli/commands/bench/rounds.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"
#include "braid/ingest/npy.hpp"

namespace braid::cli {
namespace {

constexpr auto kSparseFlags = std::to_array<FlagSpec>({
    {.name = "corpus", .kind = FlagKind::Text, .value = "FILE", .help = "one document per line"},
    {.name = "queries", .kind = FlagKind::Text, .value = "FILE", .help = "one query per line"},
    {.name = "analyzer",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "standard (default) or simple",
     .choices = "standard|simple"},
    {.name = "stop-words", .help = "leave out stop words"},
    {.name = "match",
     .kind = FlagKind::Text,
     .value = "WHAT",
     .help = "hits hold any word (default), all, or the phrase",
     .choices = "any|all|phrase"},
    {.name = "selectivity",
     .kind = FlagKind::Number,
     .value = "S",
     .help = "filter that lets this share of the documents through"},
    {.name = "see-half", .help = "search as a caller who may see half of them"},
});

constexpr auto kDenseFlags = std::to_array<FlagSpec>({
    {.name = "base", .kind = FlagKind::Text, .value = "FILE.npy", .help = "vectors to search"},
    {.name = "queries", .kind = FlagKind::Text, .value = "FILE.npy", .help = "query vectors"},
    {.name = "recall",
     .kind = FlagKind::Number,
     .value = "R",
     .help = "recall to reach (default: 0.95)"},
    {.name = "selectivity",
     .kind = FlagKind::Number,
     .value = "S",
     .help = "filter that lets this share of the vectors through"},
    {.name = "shares",
     .kind = FlagKind::Text,
     .value = "S,S",
     .help = "shares that the index prepares for"},
    {.name = "recent",
     .kind = FlagKind::Text,
     .value = "FILE.npy",
     .help = "queries it has seen before"},
    {.name = "metric",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "cosine (default), dot or euclidean",
     .choices = "cosine|dot|euclidean"},
    {.name = "precision",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "of stored vectors: f32 (default), f16 or int8",
     .choices = "f32|f16|int8"},
});

constexpr const FlagSpec& kSelectivity = kSparseFlags[5];

/// Whether row `index` is in the share that a filter lets through: the same rows for everybody who
/// measures with this share.
bool is_allowed(std::uint64_t index, double share) {
    const auto hash = static_cast<std::uint32_t>(index * 2'654'435'761U);
    return static_cast<double>(hash) < share * 4'294'967'296.0;
}

/// The field that says whether a chunk belongs to a share.
std::string share_field(double share) {
    std::string name = "allowed_" + core::brief(share, 6);
    std::ranges::replace(name, '.', '_');
    return name;
}

std::vector<std::uint64_t> rows_of(const LegResult& result) {
    std::vector<std::uint64_t> rows;
    rows.reserve(result.hits.size());
    for (const LegHit& hit : result.hits) rows.push_back(std::stoull(hit.chunk_id));
    return rows;
}

/// A query whose words a hit must all hold, or hold as a phrase.
std::shared_ptr<const QueryClause> joint_clause(const std::string& query, bool phrase) {
    QueryClause root{.kind = QueryClause::Kind::Group};
    if (phrase) {
        root.clauses.push_back({.kind = QueryClause::Kind::Phrase, .text = query});
    } else {
        for (std::size_t at = 0; at < query.size();) {
            const std::size_t end = std::min(query.find(' ', at), query.size());
            if (end > at) {
                root.clauses.push_back(
                    {.occur = QueryClause::Occur::Must, .text = query.substr(at, end - at)});
            }
            at = end + 1;
        }
    }
    return std::make_shared<const QueryClause>(std::move(root));
}

Result<> run_sparse(Session& session) {
    const Arguments& arguments = session.arguments;
    BRAID_TRY(const std::string corpus_path, bench_file(arguments, "corpus"));
    BRAID_TRY(const std::string queries_path, bench_file(arguments, "queries"));
    BRAID_TRY(const BenchSizes sizes, bench_sizes(arguments));
    BRAID_TRY(const auto corpus, read_bench_lines(corpus_path));
    BRAID_TRY(const auto queries, read_bench_lines(queries_path));
    Schema schema;
    schema.analyzer = arguments.text_or("analyzer", schema.analyzer);
    schema.stop_words = arguments.has("stop-words");
    const std::string match = arguments.text_or("match", "any");
    schema.positions = match == "phrase";
    BRAID_TRY(const double share, bench_share(arguments, kSelectivity, 1.0));
    const bool half = arguments.has("see-half");
    BRAID_TRY(BenchIndex built, build_bench(session, schema, corpus.size(), [&](std::uint64_t i) {
                  Chunk chunk;
                  chunk.content = corpus[i];
                  if (share < 1) chunk.metadata.set(share_field(share), is_allowed(i, share));
                  if (half && is_allowed(i, 0.5)) chunk.visibility_scope = {"others"};
                  return Result<Chunk>(std::move(chunk));
              }));
    BRAID_CHECK(finish_bench(built));
    if (const Value* const seconds = built.facts.find("build_seconds")) {
        built.facts.set("index_seconds", *seconds);
    }
    const Backend& backend = built.database.backend();
    const std::vector<std::string> names{kBenchCollection};
    BRAID_TRY(const ReaderPtr snapshot, backend.snapshot(names, {}));
    ReadScope whole;
    whole.collection = kBenchCollection;
    BRAID_TRY(const CollectionStats stats, snapshot->stats(whole));
    for (const StoredPart& part : stats.parts) {
        if (part.name == "words") built.facts.set("words_bytes", part.bytes);
    }
    ReadScope scope = whole;
    if (share < 1) {
        scope.filter = Filter::compare(Filter::Op::Eq, share_field(share), Value(true));
    }
    if (half) scope.principal = {"half", schema.levels.names.back(), {}};
    // Queries are prepared before the clock starts, as for other engines.
    std::vector<Leg> legs;
    legs.reserve(queries.size());
    for (const std::string& query : queries) {
        Leg& leg = legs.emplace_back();
        leg.scope = scope;
        leg.depth = sizes.top_k;
        if (match == "any") {
            BRAID_TRY(auto terms, snapshot->analyze(kBenchCollection, query));
            leg.phrasings.push_back(std::move(terms));
        } else {
            leg.clause = joint_clause(query, match == "phrase");
        }
    }
    BenchSubject subject{queries.size(), sizes.threads, {}, built.facts};
    subject.search = [&](std::size_t i) -> Result<std::vector<std::uint64_t>> {
        BRAID_TRY(const LegResult result, snapshot->search_leg(legs[i]));
        return rows_of(result);
    };
    return bench_measure(session, subject);
}

double recall_of(const std::vector<std::vector<std::uint64_t>>& found,
                 const std::vector<std::vector<std::uint64_t>>& truth) {
    std::size_t hits = 0;
    std::size_t wanted = 0;
    for (std::size_t q = 0; q < truth.size(); ++q) {
        for (const std::uint64_t row : truth[q]) {
            hits += std::ranges::count(found[q], row) > 0 ? 1 : 0;
        }
        wanted += truth[q].size();
    }
    return wanted == 0 ? 1.0 : static_cast<double>(hits) / static_cast<double>(wanted);
}

Result<std::vector<double>> shares_of(const Arguments& arguments, double share) {
    std::vector<double> shares;
    std::string rest = arguments.text_or("shares", "");
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        double one = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + comma, one);
        if (error != std::errc() || end != rest.data() + comma || !(one > 0 && one < 1)) {
            return invalid_argument("--shares: \"" + rest.substr(0, comma) +
                                    "\" is not a number between 0 and 1");
        }
        shares.push_back(one);
        rest.erase(0, comma + 1);
    }
    if (shares.empty() && share < 1) shares.push_back(share);
    if (share < 1 && std::ranges::find(shares, share) == shares.end()) {
        return invalid_argument("--selectivity must be one of --shares");
    }
    return shares;
}

Result<> run_dense(Session& session) {
    const Arguments& arguments = session.arguments;
    BRAID_TRY(const std::string base_path, bench_file(arguments, "base"));
    BRAID_TRY(const std::string queries_path, bench_file(arguments, "queries"));
    BRAID_TRY(const BenchSizes sizes, bench_sizes(arguments));
    BRAID_TRY(const double wanted_recall, bench_share(arguments, kDenseFlags[2], 0.95));
    BRAID_TRY(const double share, bench_share(arguments, kDenseFlags[3], 1.0));
    BRAID_TRY(const auto shares, shares_of(arguments, share));
    BRAID_TRY(const auto base, ingest::NpyFile::open(base_path));
    BRAID_TRY(const auto queries, read_bench_rows(queries_path));
    BRAID_TRY(const auto recent, read_bench_rows(arguments.text_or("recent", queries_path)));
    Schema schema;
    schema.vectors.embedder = "external";
    schema.vectors.dimension = base.dimension();
    schema.vectors.metric =
        metric_by_name(arguments.text_or("metric", "cosine")).value_or(Metric::Cosine);
    schema.vectors.precision =
        precision_by_name(arguments.text_or("precision", "f32")).value_or(Precision::F32);
    BRAID_TRY(BenchIndex built,
              build_bench(session, schema, base.rows(), [&](std::uint64_t i) -> Result<Chunk> {
                  Chunk chunk;
                  chunk.content = "-";
                  for (const double one : shares) {
                      chunk.metadata.set(share_field(one), is_allowed(i, one));
                  }
                  BRAID_TRY(chunk.vector, base.row(i));
                  return chunk;
              }));
    const Backend& backend = built.database.backend();
    const std::vector<std::string> names{kBenchCollection};
    BRAID_TRY(ReaderPtr snapshot, backend.snapshot(names, {}));
    const auto ask = [&](const std::vector<float>& query,
                         bool exact) -> Result<std::vector<std::uint64_t>> {
        Leg leg;
        leg.kind = LegKind::Dense;
        leg.scope.collection = kBenchCollection;
        if (share < 1) {
            leg.scope.filter = Filter::compare(Filter::Op::Eq, share_field(share), Value(true));
        }
        leg.vector = query;
        leg.depth = sizes.top_k;
        leg.exact = exact;
        leg.recall = wanted_recall;
        BRAID_TRY(const LegResult result, snapshot->search_leg(leg));
        return rows_of(result);
    };
    const auto search = [&](std::size_t i, bool exact) { return ask(queries[i], exact); };
    // A collection in use has seen queries, and knows how deep to search for them.
    const auto calibrate = [&]() -> Result<> {
        for (const auto& query : recent) BRAID_CHECK(ask(query, false));
        BRAID_CHECK(built.database.compact(kBenchCollection));
        return {};
    };
    BRAID_CHECK(finish_bench(built, calibrate));
    BRAID_TRY(snapshot, backend.snapshot(names, {}));  // the previous one continues as it began
    const BenchSubject subject{queries.size(), sizes.threads,
                               [&](std::size_t i) { return search(i, false); }, built.facts};
    if (arguments.has("wait")) return bench_wait(session, subject);
    std::vector<std::vector<std::uint64_t>> truth;
    std::vector<std::vector<std::uint64_t>> found;
    BRAID_TRY(const BenchRound exact, bench_round(
                                          queries.size(), sizes.threads,
                                          [&](std::size_t i) { return search(i, true); }, &truth));
    BRAID_CHECK(bench_round(queries.size(), sizes.threads, subject.search, &found));
    const double recall = recall_of(found, truth);
    if (recall < wanted_recall) {
        session.warn("recall " + core::fixed(recall, 4) + " is below the " +
                     core::fixed(wanted_recall, 4) + " asked for");
    }
    return bench_measure(session, subject,
                         [&] { return Object{{"recall", recall}, {"exact_qps", exact.qps}}; });
}

}  // namespace

const CommandSpec kBenchSparseCommand{
    .name = "bench sparse",
    .operands = "",
    .summary = "measure sparse search on your own text",
    .details = R"(Builds the index in a temporary folder and runs every query in one warm-up and
five measured rounds; reports the median round. Answers are chunk ids with
scores; texts are not fetched. "words_bytes" is the size of the inverted index.

  braid bench sparse --corpus lines.txt --queries questions.txt -k 10 --json)",
    .flags = kSparseFlags,
    .shared_flags = kBenchFlags,
    .shared_title = "For every bench command",
    .run = run_sparse,
};

const CommandSpec kBenchDenseCommand{
    .name = "bench dense",
    .operands = "",
    .summary = "measure dense search on your own vectors",
    .details = R"(Like "bench sparse". "recall" is the share of the exact hits that are found,
"exact_qps" the speed of exact search in the same run. Before it measures, it
lets the collection see the queries of --recent (or those it measures with) and
learn how deep to search for the required recall.

  braid bench dense --base base.npy --queries q.npy --recall 0.95 --json
  braid bench dense --base base.npy --queries q.npy --selectivity 0.01)",
    .flags = kDenseFlags,
    .shared_flags = kBenchFlags,
    .shared_title = "For every bench command",
    .run = run_dense,
};

}  // namespace braid::cli
