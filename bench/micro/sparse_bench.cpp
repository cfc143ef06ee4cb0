// The sparse index on real text: bytes, build, queries per second against exhaustive scoring in the
// same process.
//
//     sparse_bench DOCUMENTS.jsonl QUERIES.jsonl [documents] [queries]
//
// Each line of the first is {"title", "text"}, of the second {"text"}.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "braid/json/json.hpp"
#include "braid/sparse/index_builder.hpp"
#include "braid/sparse/search.hpp"
#include "braid/store/memory_sections.hpp"
#include "braid/text/analyzer.hpp"

namespace {

using namespace braid;          // NOLINT(google-build-using-namespace): a program of its own
using namespace braid::sparse;  // NOLINT(google-build-using-namespace): the same

template <class T>
T must(Result<T> result) {
    if constexpr (!std::is_void_v<T>) {
        if (result) return *std::move(result);
    } else {
        if (result) return;
    }
    std::cerr << result.error().message << "\n";
    std::exit(1);  // NOLINT(concurrency-mt-unsafe): nothing else runs
}

/// Of this process: other programs do not count.
double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string field(const Value& line, const char* name) {
    const Value* found = line.find(name);
    return found == nullptr ? std::string() : found->as_string();
}

/// What exhaustive scoring walks: rows and frequencies of each term.
struct Flat {
    struct Posting {
        std::uint32_t row;
        float tf;
    };
    std::unordered_map<std::string, std::vector<Posting>> lists;
    std::vector<double> lengths;
    double total = 0;

    std::vector<ScoredRow> search(const Query& query, std::size_t k) const {
        std::vector<double> scores(lengths.size(), 0.0);
        for (const QueryTerm& term : query.terms) {
            if (term.df == 0) continue;
            const double weight = term_weight(query, term);
            for (const Posting& posting : lists.at(term.term)) {
                scores[posting.row] +=
                    weight * saturation(query.bm25, static_cast<double>(posting.tf),
                                        lengths[posting.row], query.corpus.average_length());
            }
        }
        std::vector<ScoredRow> rows;
        for (std::uint32_t row = 0; row < scores.size(); ++row) {
            if (scores[row] > 0) rows.push_back({row, scores[row]});
        }
        const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(k, rows.size()));
        std::ranges::partial_sort(rows, end, better);
        rows.erase(end, rows.end());
        return rows;
    }
};

class Bench {
public:
    void read_documents(const char* path, std::size_t most) {
        std::ifstream in(path);
        std::string line;
        double indexing = 0;
        while (builder_.rows() < most && std::getline(in, line)) {
            const Value value = must(json::parse(line));
            std::map<std::string, FieldCounts> terms;
            std::array<std::uint32_t, 2> lengths{};
            const std::array<std::string, 2> texts{field(value, "title"), field(value, "text")};
            for (std::size_t f = 0; f < 2; ++f) {
                for (const std::string& term : analyzer_.terms(texts[f])) {
                    ++terms[term][f];
                    ++lengths[f];
                }
            }
            const auto row = builder_.rows();
            std::vector<TermCounts> counts;
            for (const auto& [term, count] : terms) {
                counts.push_back({term, count});
                flat_.lists[term].push_back({row, static_cast<float>(count[0] + count[1])});
            }
            flat_.lengths.push_back(lengths[0] + lengths[1]);
            flat_.total += lengths[0] + lengths[1];
            const double before = cpu_seconds();
            must(builder_.add(0, lengths, counts));
            indexing += cpu_seconds() - before;
        }
        const double before = cpu_seconds();
        must(builder_.finish(sections_));
        const double finishing = cpu_seconds() - before;
        std::printf("%u rows; CPU seconds: %.2f adding, %.2f writing\n", builder_.rows(), indexing,
                    finishing);
    }

    void print_sections() const {
        for (const auto name : {kHeaderSection, kLengthsSection, kClassesSection, kLabelsSection,
                                kForwardOffsetsSection, kForwardSection, kPostingsSection,
                                kColumnsSection, kTermsSection, kTermIndexSection}) {
            std::printf("  %-24s %10.2f MB\n", std::string(name).c_str(),
                        static_cast<double>(must(sections_.section(name)).size()) / 1e6);
        }
        std::printf("  %-24s %10.2f MB\n", "all",
                    static_cast<double>(sections_.size_bytes()) / 1e6);
    }

    Query query(const std::vector<std::string>& words) const {
        Query query{.field_weights = {1, 1}};
        query.corpus = {builder_.rows(), flat_.total};
        for (const std::string& word : words) {
            const auto known = std::ranges::find(query.terms, word, &QueryTerm::term);
            if (known != query.terms.end()) {
                known->repeated += 1;
                continue;
            }
            const auto list = flat_.lists.find(word);
            query.terms.push_back({word, 1, list == flat_.lists.end() ? 0 : list->second.size()});
        }
        return query;
    }

    void read_queries(const char* path, std::size_t most) {
        std::ifstream in(path);
        std::string line;
        while (natural_.size() < most && std::getline(in, line)) {
            const std::string text = field(must(json::parse(line)), "text");
            natural_.push_back(query(analyzer_.terms(text)));
            without_.push_back(query(analyzer_.query_terms(text)));
        }
    }

    void measure(const char* name, const std::vector<Query>& queries, SearchOptions options) {
        const IndexReader reader = must(IndexReader::open(sections_));
        std::vector<double> best(queries.size(), 1e9);
        double cpu = 1e9;
        for (int round = 0; round < 3; ++round) {
            const double begin = cpu_seconds();
            for (std::size_t i = 0; i < queries.size(); ++i) {
                const auto before = std::chrono::steady_clock::now();
                const auto found = must(search(reader, std::span(&queries[i], 1), options));
                const std::chrono::duration<double, std::micro> took =
                    std::chrono::steady_clock::now() - before;
                best[i] = std::min(best[i], took.count());
            }
            cpu = std::min(cpu, cpu_seconds() - begin);
        }
        std::ranges::sort(best);
        std::printf("%-28s %9.0f q/s of CPU   p50 %6.1f  p90 %6.1f  p99 %6.1f us\n", name,
                    static_cast<double>(queries.size()) / cpu, best[best.size() / 2],
                    best[best.size() * 9 / 10], best[best.size() * 99 / 100]);
    }

    void compare_with_exhaustive() const {
        const IndexReader reader = must(IndexReader::open(sections_));
        const std::size_t count = std::min<std::size_t>(natural_.size(), 200);
        std::size_t equal = 0;
        double cpu = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double before = cpu_seconds();
            const auto expected = flat_.search(natural_[i], 10);
            cpu += cpu_seconds() - before;
            const auto found = must(search(reader, std::span(&natural_[i], 1), {}));
            equal += found.rows == expected ? 1 : 0;
        }
        std::printf("%-28s %9.0f q/s of CPU   %zu of %zu answers equal\n", "exhaustive, top 10",
                    static_cast<double>(count) / cpu, equal, count);
    }

    void run() {
        compare_with_exhaustive();
        measure("natural, top 10", natural_, {.k = 10});
        measure("natural, top 100", natural_, {.k = 100});
        measure("without stop words, top 10", without_, {.k = 10});
        measure("without stop words, top 100", without_, {.k = 100});
        measure("natural, top 10, counted", natural_, {.k = 10, .count_all = true});
        for (const std::uint32_t every : {2, 10, 100, 1000}) {
            std::vector<std::uint64_t> mask((builder_.rows() + 63) / 64);
            for (std::uint64_t row = 0; row < builder_.rows(); ++row) {
                const std::uint64_t mixed = (row * 0x9E3779B97F4A7C15ULL) >> 40;
                if (mixed % every == 0) mask[row / 64] |= std::uint64_t{1} << (row % 64);
            }
            const std::string name = "natural, top 10, 1 of " + std::to_string(every);
            measure(name.c_str(), natural_, {.k = 10, .allowed = mask});
        }
        for (const std::size_t terms : {30, 100}) {
            std::vector<Query> queries;
            for (std::size_t i = 0; i + 40 < natural_.size() && queries.size() < 300; ++i) {
                std::vector<std::string> words;
                for (std::size_t j = i; words.size() < terms && j < natural_.size(); ++j) {
                    for (const QueryTerm& term : without_[j].terms) {
                        if (words.size() < terms) words.push_back(term.term);
                    }
                }
                queries.push_back(query(words));
            }
            const std::string name = std::to_string(terms) + " terms, top 10";
            measure(name.c_str(), queries, {.k = 10});
        }
    }

private:
    text::Analyzer analyzer_ = must(text::Analyzer::create({}));
    IndexBuilder builder_{2};
    store::MemorySections sections_;
    Flat flat_;
    std::vector<Query> natural_;
    std::vector<Query> without_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::cerr << "usage: sparse_bench DOCUMENTS.jsonl QUERIES.jsonl [documents] [queries]\n";
        return 2;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    Bench bench;
    bench.read_documents(argv[1], argc > 3 ? std::stoul(argv[3]) : 1'000'000'000);
    bench.print_sections();
    bench.read_queries(argv[2], argc > 4 ? std::stoul(argv[4]) : 2000);
    bench.run();
    return 0;
}
