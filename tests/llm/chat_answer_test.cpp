#include "braid/llm/chat_answer.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "braid/core/utf8.hpp"
#include "braid/json/json.hpp"
#include "braid/llm/plain_text.hpp"
#include "llm/chat_server.hpp"
#include "llm/random_text.hpp"

namespace braid::llm {
namespace {

/// The error's message after its common beginning, or what was parsed.
std::string complaint_about(std::string_view body) {
    const auto answer = parse_chat_answer(body, kTestKey);
    if (answer) return "parsed: " + answer->text;
    EXPECT_EQ(answer.error().code, ErrorCode::Corruption) << body;
    const std::string_view start = "the endpoint's answer: ";
    EXPECT_TRUE(answer.error().message.starts_with(start)) << answer.error().message;
    return answer.error().message.substr(start.size());
}

TEST(ChatAnswer, GivesTheTextOfTheFirstChoice) {
    const auto answer = parse_chat_answer(chat_body(" two\nlines "), kTestKey);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->text, " two\nlines ");
    EXPECT_FALSE(answer->cut);
    EXPECT_TRUE(parse_chat_answer(chat_body("x", "length"), "")->cut);
    EXPECT_EQ(parse_chat_answer(R"({"choices":[{"message":{"content":"é"}}, 7]})", "")->text, "é");
    EXPECT_EQ(parse_chat_answer(R"({"choices":[{"finish_reason":null,"message":{"content":[
                  {"type":"text","text":"a "},{"type":"thinking","thinking":[]},7,
                  {"type":"text","text":"b"}]}}]})",
                                "")
                  ->text,
              "a b");
}

TEST(ChatAnswer, NamesWhatIsWrong) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {R"({})", "it has no 'choices'"},
        {R"([])", "it has no 'choices'"},
        {R"(null)", "it has no 'choices'"},
        {R"("choices")", "it has no 'choices'"},
        {R"({"choices":null})", "'choices' is not a list"},
        {R"({"choices":{"0":{}}})", "'choices' is not a list"},
        {R"({"choices":[]})", "'choices' is empty"},
        {R"({"choices":[null]})", "the first choice has no message"},
        {R"({"choices":["text"]})", "the first choice has no message"},
        {R"({"choices":[{"text":"old form"}]})", "the first choice has no message"},
        {R"({"choices":[{"message":"hello"}]})", "the first choice has no message"},
        {R"({"choices":[{"message":{}}]})", "the message has no content"},
        {R"({"choices":[{"message":{"content":null}}]})", "the message has no content"},
        {R"({"choices":[{"message":{"content":7}}]})", "the content is not text (number)"},
        {R"({"choices":[{"message":{"content":{"text":"x"}}}]})",
         "the content is not text (object)"},
        {R"({"choices":[{"message":{"content":[]}}]})", "the reply is blank"},
        {R"({"choices":[{"message":{"content":[1,{"text":2}]}}]})", "the reply is blank"},
        {R"({"choices":[{"message":{"content":""}}]})", "the reply is blank"},
        {R"({"choices":[{"message":{"content":" \n\u0000\u200b"}}]})", "the reply is blank"},
        {R"({"choices":[{"finish_reason":"length","message":{"content":""}}]})",
         "the reply is blank: it was cut off before it began"},
    };
    for (const auto& [body, what] : cases) EXPECT_EQ(complaint_about(body), what) << body;
    for (const std::string& body :
         {std::string(), std::string("<html>"), std::string("data: {}"),
          std::string(R"({"choices":[{"message":{"content":"cut off)"),
          std::string("{\"choices\":[{\"message\":{\"content\":\"\xFF\"}}]}"),
          std::string(100'000, '['),
          std::string(R"({"choices":[{"message":{"content":"\ud800"}}]})"),
          std::string(kTestKey)}) {
        const std::string what = complaint_about(body);
        EXPECT_TRUE(what.starts_with("not JSON: ")) << what;
        EXPECT_LT(what.size(), 400U);
        EXPECT_EQ(what.find(kTestKey), std::string::npos);
    }
}

TEST(ChatAnswer, PassesOnErrorsAndRefusalsWithoutTheSecret) {
    const std::string key(kTestKey);
    const std::vector<std::pair<std::string, std::string>> errors{
        {R"({"error":{"message":"overloaded \u001b[2J)" + key + R"(\n now","code":1}})",
         "the endpoint reports an error: overloaded [2J[key] now"},
        {R"({"error":"no model"})", "the endpoint reports an error: no model"},
        {R"({"object":"error","message":"no model"})", "the endpoint reports an error: no model"},
        {R"({"detail":"no model"})", "the endpoint reports an error: no model"},
        {R"({"error":{}})", "the endpoint reports an error: "},
    };
    const std::vector<std::pair<std::string, std::string>> refusals{
        {R"({"choices":[{"message":{"content":null,"refusal":"I will not )" + key + R"("}}]})",
         "the model declined: I will not [key]"},
        {R"({"choices":[{"finish_reason":"content_filter","message":{"content":"x"}}]})",
         "the endpoint withheld the reply (content_filter)"},
    };
    for (const auto& [body, message] : errors) {
        const auto answer = parse_chat_answer(body, key);
        ASSERT_FALSE(answer) << body;
        EXPECT_EQ(answer.error(), (Error{ErrorCode::Unavailable, message}));
    }
    for (const auto& [body, message] : refusals) {
        const auto answer = parse_chat_answer(body, key);
        ASSERT_FALSE(answer) << body;
        EXPECT_EQ(answer.error(), (Error{ErrorCode::Unsupported, message}));
    }
}

TEST(ChatAnswer, CutsMessagesAfterTheSecretIsMasked) {
    for (std::size_t padding = 250; padding < 320; ++padding) {
        const std::string body = json::print(
            Object{{"error", std::string(padding, 'x') + std::string(kTestKey) + "é end"}});
        const auto answer = parse_chat_answer(body, kTestKey);
        ASSERT_FALSE(answer);
        EXPECT_LT(answer.error().message.size(), 340U);
        EXPECT_EQ(answer.error().message.find("sk-"), std::string::npos);
        EXPECT_EQ(core::find_invalid_utf8(answer.error().message), std::string_view::npos);
    }
}

TEST(ChatAnswerFuzz, RefusesEveryTruncation) {
    const std::string body = chat_body("one\ntwo \"é\" 😀", "length");
    for (std::size_t size = 0; size < body.size(); ++size) {
        EXPECT_FALSE(parse_chat_answer(std::string_view(body).substr(0, size), kTestKey)) << size;
    }
    EXPECT_TRUE(parse_chat_answer(body, kTestKey));
}

TEST(ChatAnswerFuzz, IsNeverFooledByChangedBytes) {
    const std::string body = chat_body("one\ntwo \"é\" 😀", "length");
    for (unsigned seed = 0; seed < 20'000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 random(seed);
        std::string changed = body;
        std::uniform_int_distribution<std::size_t> place(0, body.size() - 1);
        for (unsigned changes = 1 + seed % 3; changes > 0; --changes) {
            const std::size_t at = place(random) % changed.size();
            if (random() % 2 == 0) {
                changed[at] = static_cast<char>(random());
            } else {
                changed.replace(at, random() % 8, random_text(random, 3));
            }
        }
        const auto answer = parse_chat_answer(changed, kTestKey);
        if (answer) {
            ASSERT_EQ(core::find_invalid_utf8(answer->text), std::string_view::npos);
            ASSERT_FALSE(harmless_lines(answer->text).empty());
        } else {
            ASSERT_EQ(core::find_invalid_utf8(answer.error().message), std::string_view::npos);
        }
    }
}

}  // namespace
}  // namespace braid::llm
