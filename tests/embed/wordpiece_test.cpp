#include "braid/embed/wordpiece.hpp"

#include <array>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "braid/embed/model_file.hpp"
#include "braid/embed/model_locator.hpp"
#include "braid/embed/piece_table.hpp"

namespace braid::embed {
namespace {

using Ids = std::vector<std::int64_t>;

constexpr std::size_t kNoLimit = 1'000'000;

/// A tokenizer.json with a small vocabulary, in which `from` is replaced by `to`.
std::string small_file(const std::string& from = "", const std::string& to = "") {
    std::string json = R"({
      "version": "1.0", "truncation": {"max_length": 4}, "padding": null,
      "added_tokens": [
        {"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false,
         "normalized": false, "special": true},
        {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false,
         "normalized": false, "special": true}],
      "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                     "strip_accents": null, "lowercase": true},
      "pre_tokenizer": {"type": "BertPreTokenizer"},
      "post_processor": {"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                   {"Sequence": {"id": "A", "type_id": 0}},
                   {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
        "pair": [], "special_tokens": {}},
      "decoder": {"type": "WordPiece"},
      "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 10,
        "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "fox": 4, "##es": 5, "red": 6,
                  ",": 7, "un": 8, "##able": 9, "##a": 10, "\"": 11, "\u4e2d": 12, "e": 13,
                  "f": 14, "##o": 15, "}{,:": 16}}})";
    if (!from.empty()) {
        const std::size_t at = json.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        json.replace(at, from.size(), to);
    }
    return json;
}

Ids encode(const WordPiece& tokenizer, std::string_view text) {
    const auto tokens = tokenizer.encode(text, kNoLimit);
    EXPECT_TRUE(tokens);
    return tokens ? Ids(tokens->ids.begin() + 1, tokens->ids.end() - 1) : Ids();
}

class SmallWordPiece : public ::testing::Test {
protected:
    WordPiece tokenizer = *WordPiece::parse(small_file());
};

TEST_F(SmallWordPiece, TakesTheLongestPieceFirst) {
    EXPECT_EQ(encode(tokenizer, "foxes red"), (Ids{4, 5, 6}));
    EXPECT_EQ(encode(tokenizer, "unaable"), (Ids{8, 10, 9}));
}

TEST_F(SmallWordPiece, MakesAWholeWordUnknownIfOnePieceIs) {
    EXPECT_EQ(encode(tokenizer, "foxz"), (Ids{1}));
    EXPECT_EQ(encode(tokenizer, "red foxz red"), (Ids{6, 1, 6}));
}

TEST_F(SmallWordPiece, LowersCaseAndStripsAccents) {
    EXPECT_EQ(encode(tokenizer,
                     "R\xC3\x89"
                     "D Fo\xCC\x81X"),
              (Ids{6, 4}));
}

TEST_F(SmallWordPiece, SetsPunctuationAndChineseApart) {
    EXPECT_EQ(encode(tokenizer, "red,fox\"fox"), (Ids{6, 7, 4, 11, 4}));
    EXPECT_EQ(encode(tokenizer,
                     "red\xE4\xB8\xAD"
                     "fox"),
              (Ids{6, 12, 4}));
}

TEST_F(SmallWordPiece, DropsControlsAndSplitsAtAnySpace) {
    EXPECT_EQ(encode(tokenizer, std::string("r\0ed\xE2\x80\x8B\xC2\xA0"
                                            "fox\n",
                                            12)),
              (Ids{6, 4}));
    EXPECT_EQ(encode(tokenizer, " \t\r\n\xE3\x80\x80"), Ids{});
    EXPECT_EQ(encode(tokenizer, ""), Ids{});
}

TEST_F(SmallWordPiece, FindsAddedTokensInTheRawTextOnly) {
    EXPECT_EQ(encode(tokenizer, "fox[SEP]fox"), (Ids{4, 3, 4}));
    EXPECT_EQ(encode(tokenizer, "[sep]").size(), 3U);
}

TEST_F(SmallWordPiece, GivesUpOnLongWords) {
    EXPECT_EQ(encode(tokenizer, "foooooooo"), (Ids{14, 15, 15, 15, 15, 15, 15, 15, 15}));
    EXPECT_EQ(encode(tokenizer, "fooooooooo"), (Ids{14, 15, 15, 15, 15, 15, 15, 15, 15, 15}));
    EXPECT_EQ(encode(tokenizer, "foooooooooo"), (Ids{1}));
}

TEST_F(SmallWordPiece, CutsAtTheLimitAndSaysSo) {
    const auto whole = tokenizer.encode("red fox red", 5);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->ids, (Ids{2, 6, 4, 6, 3}));
    EXPECT_EQ(whole->tokens, 5U);
    EXPECT_FALSE(whole->truncated);
    const auto cut = tokenizer.encode("red fox red", 4);
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->ids, (Ids{2, 6, 4, 3}));
    EXPECT_EQ(cut->tokens, 5U);
    EXPECT_TRUE(cut->truncated);
    EXPECT_EQ(tokenizer.encode("red fox red", 2)->ids, (Ids{2, 3}));
}

TEST(PieceTable, FindsWhatAMapFinds) {
    std::mt19937 random(5);
    const auto text = [&](std::size_t most) {
        std::string out;
        for (std::size_t left = 1 + random() % most; left > 0; --left) {
            constexpr std::array<std::string_view, 5> kLetters{"a", "b", "c", "\xC3\xA9",
                                                               "\xE4\xB8\xAD"};
            out += kLetters[random() % kLetters.size()];
        }
        return out;
    };
    PieceTable table(3000, 3000 * 270);
    std::map<std::string, std::int32_t, std::less<>> pieces;
    for (std::int32_t id = 0; id < 3000; ++id) {
        const std::string piece = text(id % 500 == 0 ? 90 : 6);
        EXPECT_EQ(table.insert(piece, id), pieces.emplace(piece, id).second);
    }
    for (int trial = 0; trial < 20'000; ++trial) {
        const std::string word = text(trial % 50 == 0 ? 100 : 9);
        PieceTable::Match wanted;
        for (std::size_t size = word.size(); size > 0 && wanted.id < 0; --size) {
            if (const auto found = pieces.find(word.substr(0, size)); found != pieces.end()) {
                wanted = {.id = found->second, .size = size};
            }
        }
        const PieceTable::Match found = table.longest(word);
        ASSERT_EQ(found.id, wanted.id) << word;
        ASSERT_EQ(found.size, wanted.size) << word;
    }
    EXPECT_LT(table.longest("").id, 0);
    EXPECT_LT(PieceTable(0, 0).longest("a").id, 0);
}

TEST_F(SmallWordPiece, RefusesWhatIsNotUtf8) {
    for (const std::string text :
         {"\xFF", "ok \xC3", "\xED\xA0\x80", "\xC0\x80", "\xF4\x90\x80\x80", "\x80"}) {
        const auto tokens = tokenizer.encode(text, kNoLimit);
        ASSERT_FALSE(tokens);
        EXPECT_EQ(tokens.error().code, ErrorCode::InvalidArgument);
    }
}

TEST_F(SmallWordPiece, KnowsItsLargestId) {
    EXPECT_EQ(tokenizer.largest_id(), 16);
}

ErrorCode refusal(const std::string& json) {
    const auto tokenizer = WordPiece::parse(json);
    EXPECT_FALSE(tokenizer);
    return tokenizer ? ErrorCode::Conflict : tokenizer.error().code;
}

TEST(WordPieceFile, RefusesOtherTokenizersByName) {
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"\"BertNormalizer\"", "\"NFC\""},
             {"\"BertPreTokenizer\"", "\"ByteLevel\""},
             {"\"type\": \"WordPiece\", \"unk_token\"", "\"type\": \"BPE\", \"unk_token\""},
             {"\"TemplateProcessing\"", "\"RobertaProcessing\""},
             {"\"normalized\": false", "\"normalized\": true"},
             {"{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}},", ""},
             {"\"normalizer\": {", "\"normalizer\": null, \"x\": {"}}) {
        SCOPED_TRACE(from);
        EXPECT_EQ(refusal(small_file(from, to)), ErrorCode::Unsupported);
    }
    const auto named = WordPiece::parse(small_file("\"BertNormalizer\"", "\"Lowercase\""));
    EXPECT_NE(named.error().message.find("Lowercase"), std::string::npos);
    EXPECT_NE(named.error().message.find("BertNormalizer"), std::string::npos);
}

TEST(WordPieceFile, RefusesDamage) {
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"\"fox\": 4", "\"fox\": -4"},
             {"\"fox\": 4", "\"fox\": 4.5"},
             {"\"fox\": 4", "\"fox\": \"4\""},
             {"\"fox\": 4", "\"fox\": 99999999999"},
             {"\"fox\": 4", "\"fox\": {\"a\": 1}"},
             {"\"fox\": 4", "\"red\": 4"},
             {"\"fox\": 4", "\"fox\" 4"},
             {"\"fox\": 4", "\"fox\": 04"},
             {"\"fox\": 4", "\"fox\": "},
             {"\"fox\": 4", "\"fox\": 2147483647"},
             {"\"fox\": 4,", "\"fox\": 4,,"},
             {"\"fox\": 4,", "\"fox\": 4"},
             {"\"fox\": 4", "\"fo\nx\": 4"},
             {"\"fox\": 4", "\"fo\\x\": 4"},
             {"\"fox\": 4", "\"fo\xFF\": 4"},
             {"\"[UNK]\": 1", "\"[unk]\": 1"},
             {"\"[CLS]\": 2", "\"[cls]\": 2"},
             {"\"max_input_chars_per_word\": 10", "\"max_input_chars_per_word\": -1"},
             {"\"unk_token\": \"[UNK]\",", ""},
             {"\"vocab\"", "\"words\""},
             {"\"clean_text\": true", "\"clean_text\": 1"},
             {"\"content\": \"[PAD]\"", "\"content\": \"\""}}) {
        SCOPED_TRACE(::testing::Message() << from << " -> " << to);
        EXPECT_EQ(refusal(small_file(from, to)), ErrorCode::InvalidArgument);
    }
    for (const std::string json : {"", "{}", "[]", "null", "\"", "{\"model\": {\"vocab\": {}}}"}) {
        SCOPED_TRACE(json);
        EXPECT_FALSE(WordPiece::parse(json));
    }
}

TEST(WordPieceFile, RefusesEveryTruncation) {
    const std::string json = small_file();
    for (std::size_t size = 0; size < json.size(); ++size) {
        ASSERT_FALSE(WordPiece::parse(std::string_view(json).substr(0, size))) << size;
    }
}

TEST(WordPieceFile, SurvivesFlippedBytes) {
    for (unsigned seed = 0; seed < 3000; ++seed) {
        std::mt19937 random(seed);
        std::string json = small_file();
        for (int flips = 0; flips < 3; ++flips) {
            json[random() % json.size()] = static_cast<char>(random() & 255U);
        }
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        if (const auto tokenizer = WordPiece::parse(json)) {
            EXPECT_TRUE(tokenizer->encode("red fox[SEP], unaable \xE4\xB8\xAD", 8));
        }
    }
}

TEST(WordPieceFile, UnderstandsBertProcessingToo) {
    const std::string json = small_file("\"post_processor\": {\"type\": \"TemplateProcessing\",",
                                        "\"post_processor\": {\"type\": \"BertProcessing\", "
                                        "\"sep\": [\"[SEP]\", 3], \"cls\": [\"[CLS]\", 2],");
    const auto tokenizer = WordPiece::parse(json);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(tokenizer->encode("fox", kNoLimit)->ids, (Ids{2, 4, 3}));
}

TEST(WordPieceFile, KeepsCaseAndAccentsWhereTheFileSaysSo) {
    const auto cased = WordPiece::parse(small_file("\"lowercase\": true", "\"lowercase\": false"));
    ASSERT_TRUE(cased);
    EXPECT_EQ(encode(*cased,
                     "red Red r\xC3\xA9"
                     "d"),
              (Ids{6, 1, 1}));
}

// From Hugging Face `tokenizers` 0.23.3; tokenizer_reference.py compares many more.
TEST(WordPieceFile, EncodesLikeTheReferenceWithTheModelsVocabulary) {
    const auto path = ModelLocator::standard().find("bge-small-en-v1.5/tokenizer.json");
    if (!path) GTEST_SKIP() << path.error().message;
    const auto file = read_model_file(*path, "");
    ASSERT_TRUE(file);
    const auto tokenizer = WordPiece::parse(file->text());
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(encode(*tokenizer, "Hello, world!"), (Ids{7592, 1010, 2088, 999}));
    EXPECT_EQ(encode(*tokenizer, "na\xC3\xAFve unaffable [SEP]"),
              (Ids{15743, 14477, 20961, 3468, 102}));
    EXPECT_EQ(tokenizer->largest_id(), 30521);
}

}  // namespace
}  // namespace braid::embed
