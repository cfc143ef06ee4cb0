#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "backend/helpers.hpp"
#include "backend/random_data.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/store/memory_directory.hpp"
#include "core/temporary_folder.hpp"

namespace braid::testing {
namespace {

constexpr int kPackageMissing = 77;

struct Case {
    std::vector<std::string> texts;
    std::string query;
    Bm25 bm25;
};

Case random_case(unsigned seed) {
    RandomData random(seed);
    Case random_case;
    for (std::size_t i = 2 + random.below(30); i > 0; --i) {
        random_case.texts.push_back(random.words(1 + random.below(20)));
    }
    random_case.query = random.words(1 + random.below(5));
    random_case.bm25 = {.variant = Bm25Variant::Okapi, .k1 = 1.5, .b = 0.75, .epsilon = 0.25};
    if (seed % 3 == 1) random_case.bm25.k1 = 0.9;
    if (seed % 3 == 2) random_case.bm25.epsilon = 0.6;
    return random_case;
}

std::string word_list(const std::string& text) {
    std::istringstream in(text);
    std::string list;
    for (std::string word; in >> word;) list += (list.empty() ? "\"" : ", \"") + word + "\"";
    return "[" + list + "]";
}

std::string json_of(const Case& one) {
    std::ostringstream out;
    out << R"({"corpus": [)";
    for (std::size_t i = 0; i < one.texts.size(); ++i) {
        out << (i == 0 ? "" : ", ") << word_list(one.texts[i]);
    }
    out << R"(], "query": )" << word_list(one.query) << R"(, "k1": )" << one.bm25.k1 << R"(, "b": )"
        << one.bm25.b << R"(, "epsilon": )" << one.bm25.epsilon << "}\n";
    return out.str();
}

std::vector<double> scores_of(const Case& one) {
    const auto opened = must(local::open_local_backend(store::make_memory_directory(), {}));
    Schema schema = words_schema();
    schema.bm25 = one.bm25;
    must(opened.backend->create_collection("c", schema));
    std::vector<Chunk> chunks;
    Ids ids;
    for (std::size_t i = 0; i < one.texts.size(); ++i) {
        ids.push_back("c" + std::to_string(i));
        chunks.push_back(make_chunk(ids.back(), one.texts[i]));
    }
    must(opened.backend->upsert("c", "default", chunks, {}));
    const Ids names{"c"};
    const ReaderPtr snapshot = must(opened.backend->snapshot(names, {}));
    std::vector<double> scores;
    for (const auto& score : must(snapshot->score(words_leg(scope_of("c"), {one.query}), ids))) {
        scores.push_back(present(score));
    }
    return scores;
}

TEST(Okapi, ScoresAreThoseOfThePackageRankBm25) {
    const char* chosen = std::getenv("BRAID_PYTHON");  // NOLINT(concurrency-mt-unsafe): one thread
    const std::string python = chosen != nullptr ? chosen : BRAID_DEFAULT_PYTHON;
    if (!std::filesystem::exists(python)) {
        GTEST_SKIP() << "no Python at " << python << "; BRAID_PYTHON names another";
    }
    constexpr unsigned cases = 60;
    const TemporaryFolder folder;
    std::string input;
    for (unsigned seed = 0; seed < cases; ++seed) input += json_of(random_case(seed));
    const std::string command = "'" + python + "' '" + BRAID_RANK_BM25_SCRIPT + "' < '" +
                                folder.write("cases", input) + "' > '" + (folder / "scores") + "'";
    const int status = std::system(command.c_str());  // NOLINT: paths of our own
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kPackageMissing) {
        GTEST_SKIP() << python << " has no package rank-bm25";
    }
    ASSERT_EQ(WEXITSTATUS(status), 0);

    std::ifstream lines(folder / "scores");
    for (unsigned seed = 0; seed < cases; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::string line;
        ASSERT_TRUE(std::getline(lines, line));
        std::istringstream in(line);
        for (const double score : scores_of(random_case(seed))) {
            double expected = 0;
            ASSERT_TRUE(in >> expected);
            EXPECT_NEAR(score, expected, 1e-12);
        }
    }
}

}  // namespace
}  // namespace braid::testing
