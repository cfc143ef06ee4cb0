#include <string>

#include <gtest/gtest.h>

#include "braid/cli/view/answer.hpp"
#include "braid/text/display_width.hpp"

namespace braid::cli {
namespace {

Hit hit(std::size_t rank, const std::string& title, const std::string& content) {
    Hit out;
    out.collection = "default";
    out.namespace_ = "default";
    out.chunk.chunk_id = "chunk-" + std::to_string(rank);
    out.chunk.title = title;
    out.chunk.content = content;
    out.rank = rank;
    out.score = 0.0328 / static_cast<double>(rank);
    out.receipt.method = "rrf";
    out.receipt.rank_base = 1;
    out.receipt.sources = {{"dense", 0.83, {}, rank, {}, 0.5, 0.008, false, nullptr},
                           {"sparse", 7.1, {}, rank + 3, {}, 0.5, 0.0078, false, nullptr}};
    out.receipt.score = out.score;
    return out;
}

AnswerViewOptions options(std::size_t width = 80) {
    AnswerViewOptions out;
    out.width = width;
    return out;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

TEST(AnswerView, ShowsRankTitleScoreLegsAndSnippet) {
    Answer answer;
    answer.query = "fox hunting";
    answer.hits = {hit(1, "Foxes", "Red foxes hunt mice."), hit(2, "Owls", "Owls sleep.")};
    answer.hits[0].chunk.section_title = "Diet";
    answer.hits[0].matches = {{4, 9}, {10, 14}};
    answer.total_candidates = 73;
    answer.timings = {0, 0, 1.0, 2.1, 0.9, 0.1, 0.2, 4.24};
    EXPECT_EQ(joined(answer_lines(answer, options())),
              " 1  Foxes › Diet                                    0.0328  dense #1 · sparse #4\n"
              "    Red *foxes* *hunt* mice.\n"
              "    chunk-1\n"
              "\n"
              " 2  Owls                                            0.0164  dense #2 · sparse #5\n"
              "    Owls sleep.\n"
              "    chunk-2\n"
              "\n"
              "2 hits of 73 candidates · 4.2 ms (embed 1.0, dense 2.1, sparse 0.9, fusion 0.1)\n");
}

TEST(AnswerView, ShowsWhatALanguageModelMadeOfTheQuery) {
    Answer answer;
    answer.query = "fox";
    answer.hits = {hit(1, "Foxes", "Red foxes.")};
    answer.hits[0].dense_score = 0.83;
    answer.hits[0].legs = {{"dense", 0.83, 1, 50}, {"sparse", 0.0, std::nullopt, 50}};
    answer.hits.push_back(hit(2, "Owls", "Owls."));
    answer.hits[1].sparse_score = 7.1;
    answer.hits[1].legs = {{"dense", 0.1, 1073, 50}, {"sparse", 7.1, 3, 50}};
    answer.phrasings = {"vulpine predator", "red fox"};
    answer.hypothetical_answer = "Foxes hunt\nat dusk.";
    const std::string text = joined(answer_lines(answer, options()));
    EXPECT_NE(text.find("\nAlso searched: \"vulpine predator\", \"red fox\"\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("\nSearched by meaning: \"Foxes hunt at dusk.\"\n"), std::string::npos);
    EXPECT_NE(text.find("\n    chunk-1\n    sparse · not found\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\n    chunk-2\n    dense · rank 1,073, below the depth of 50\n"),
              std::string::npos)
        << text;
}

TEST(AnswerView, EveryLineFitsWhateverTheTexts) {
    const std::string wide(200, 'w');
    std::string cjk;
    for (int i = 0; i < 200; ++i) cjk += "\u72d0";
    Answer answer;
    answer.query = "\u72d0\u72d0 w";
    answer.hits = {hit(1, wide, wide), hit(2, cjk, cjk), hit(3, "a\nb\x1b[2J", "x\n\n\ty"),
                   hit(100, "", "")};
    answer.hits[1].collection = "other";
    answer.hits[1].receipt.sources[0].nested = std::make_shared<Receipt>(answer.hits[0].receipt);
    answer.hits[3].chunk.title.reset();
    answer.hits[0].matches = {{0, 200}};
    answer.hits[1].matches = {{10, 12}, {90, 91}};
    answer.hits[2].matches = {{2, 1}, {0, 1}, {0, 9}, {1, 1000}};  // no server of ours sends these
    answer.warnings = {wide + " " + cjk};
    answer.unused = {"hybrid_weight"};
    answer.phrasings = {wide, cjk};
    answer.hypothetical_answer = cjk + "\x1b[2J";
    answer.complete = false;
    answer.sources = {{"dense", "default", false, 0, 0, 0, true, 0, "", "endpoint is down"}};
    for (const std::size_t width : {40U, 60U, 80U, 120U}) {
        for (const bool explain : {false, true}) {
            AnswerViewOptions chosen = options(width);
            chosen.explain = explain;
            for (const std::string& line : answer_lines(answer, chosen)) {
                EXPECT_LE(text::display_width(line), width) << line;
                EXPECT_EQ(line.find('\x1b'), std::string::npos);
            }
        }
    }
}

TEST(AnswerView, SaysPlainlyWhatIsMissing) {
    Answer answer;
    answer.query = "fox";
    answer.complete = false;
    answer.sources = {{"dense", "notes", false, 0, 50, 0, true, 0, "", "the endpoint is down"}};
    answer.warnings = {"sparse only"};
    const std::string text = joined(answer_lines(answer, options()));
    for (const char* words :
         {"No hits for \"fox\".", "0 hits of 0 candidates", "! This answer is incomplete.",
          "! dense search of \"notes\": the endpoint is down", "! sparse only"}) {
        EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
    }
}

TEST(AnswerView, RanksCountFromOneForPeople) {
    Answer answer;
    answer.hits = {hit(1, "T", "x")};
    answer.hits[0].receipt.rank_base = 0;
    answer.hits[0].receipt.sources = {{"notes", 1, {}, 0, {}, 1, 1, false, nullptr}};
    EXPECT_NE(joined(answer_lines(answer, options())).find("notes #1"), std::string::npos);
}

TEST(AnswerView, MarksTheMatchesAndNothingElse) {
    Answer answer;
    answer.query = "title:owl fo* -\"brown fox\"";
    answer.hits = {hit(1, "Owl", "\u00dcber den brown owl: f\u00f6x, fox.")};
    answer.hits[0].matches = {{15, 18}, {20, 23}};
    EXPECT_NE(
        joined(answer_lines(answer, options())).find("\u00dcber den brown *owl*: *f\u00f6x*, fox."),
        std::string::npos)
        << joined(answer_lines(answer, options()));
    answer.hits[0].matches.clear();
    EXPECT_EQ(joined(answer_lines(answer, options())).find('*'), std::string::npos);
}

TEST(AnswerView, ColoursEndWhereTheyBegin) {
    Answer answer;
    answer.query = "fox";
    answer.hits = {hit(1, "Foxes", "A fox.")};
    answer.hits[0].matches = {{2, 5}};
    AnswerViewOptions chosen = options();
    chosen.style = Style::colors();
    for (const std::string& line : answer_lines(answer, chosen)) {
        if (line.find('\x1b') == std::string::npos) continue;
        EXPECT_EQ(line.rfind("\x1b["), line.rfind("\x1b[0m")) << line;
    }
}

}  // namespace
}  // namespace braid::cli
