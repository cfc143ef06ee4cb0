#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "braid/json/strict_parse.hpp"
#include "json/random_value.hpp"

namespace braid::json {
namespace {

/// The fast path and the reference agree: on the value, or on the error.
void expect_agreement(Parser& parser, const std::string& text) {
    const Result<Value> fast = parser.parse(text);
    const Result<Value> slow = parse_strictly(text, {});
    ASSERT_EQ(fast.has_value(), slow.has_value())
        << text << ": " << (fast ? slow.error().message : fast.error().message);
    if (!fast) {
        ASSERT_EQ(fast.error(), slow.error());
        return;
    }
    ASSERT_TRUE(identical(*fast, *slow)) << text;
    const Result<Value> again = parser.parse(print(*fast));
    ASSERT_TRUE(again && identical(*again, *fast)) << text;
}

const std::string kSample = R"( {"id": "a-1", "n": [0, -1, 2.50, 1e3, -0, 12345678901234567890123],
 "t": true, "f": false, "z": null, "s": "q\"\\\u00e9\ud83d\ude00 é😀",
 "o": {"k": {}, "l": []}} )";

TEST(ParseFuzz, RefusesEveryTruncation) {
    Parser parser;
    ASSERT_TRUE(parser.parse(kSample));
    for (std::size_t length = 0; length < kSample.size() - 1; ++length) {
        SCOPED_TRACE(::testing::Message() << "length " << length);
        const std::string text = kSample.substr(0, length);
        expect_agreement(parser, text);
        EXPECT_FALSE(parser.parse(text));
    }
}

constexpr std::string_view kTelling = "{}[]:,\"\\/ \n-+.eEu019abtfnDC\x1f\x7f\x80\xC3\xED\xFF";

TEST(ParseFuzz, AgreesOnChangesOfOneByte) {
    Parser parser;
    for (std::size_t at = 0; at < kSample.size(); ++at) {
        // Every byte at some place, and the ones that matter at all places.
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const auto c = static_cast<char>(byte);
            if (kTelling.find(c) == std::string_view::npos && (at + byte) % 8 != 0) continue;
            std::string text = kSample;
            text[at] = c;
            expect_agreement(parser, text);
            if (HasFatalFailure()) return;
        }
    }
}

std::string mutate(std::mt19937_64& rng, std::string text) {
    static const std::vector<std::string> kPieces{"{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  ",",
                                                  ":",
                                                  "\"",
                                                  "\\",
                                                  "\\u",
                                                  "\\ud800",
                                                  "\\udc00",
                                                  "0",
                                                  "-0",
                                                  "-",
                                                  "1e",
                                                  "e",
                                                  ".",
                                                  "+",
                                                  "null",
                                                  "true",
                                                  "9999999999999999999",
                                                  "1e309",
                                                  "1e-330",
                                                  " ",
                                                  "\n",
                                                  "\x01",
                                                  "\x80",
                                                  "\xC3\xA9",
                                                  "\xED\xA0\x80",
                                                  "\"a\":",
                                                  "//",
                                                  "NaN"};
    const std::size_t changes = 1 + rng() % 4;
    for (std::size_t i = 0; i < changes; ++i) {
        const std::size_t at = rng() % (text.size() + 1);
        const std::size_t length = std::min<std::size_t>(rng() % 8, text.size() - at);
        switch (rng() % 5) {
            case 0:
                text.insert(at, kPieces[rng() % kPieces.size()]);
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.replace(at, length, kPieces[rng() % kPieces.size()]);
                break;
            case 3:
                text.insert(at, text.substr(rng() % (text.size() + 1), rng() % 16));
                break;
            default:
                if (at < text.size()) text[at] = static_cast<char>(rng());
        }
    }
    return text;
}

TEST(ParseFuzz, AgreesOnMutatedTexts) {
    Parser parser;
    for (unsigned seed = 0; seed < 1500; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Value value = random_value(rng, 4);
        const std::string text = rng() % 2 == 0 ? print(value) : print_pretty(value, rng() % 3);
        for (int i = 0; i < 20; ++i) {
            expect_agreement(parser, mutate(rng, rng() % 4 == 0 ? kSample : text));
            if (HasFatalFailure()) return;
        }
    }
}

TEST(ParseFuzz, AgreesOnRandomNumbers) {
    Parser parser;
    const auto digits = [](std::mt19937_64& rng, std::size_t max) {
        std::string out;
        const std::size_t count = rng() % (max + 1);
        for (std::size_t i = 0; i < count; ++i) out += static_cast<char>('0' + rng() % 10);
        return out;
    };
    for (unsigned seed = 0; seed < 40'000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        std::string text = rng() % 3 == 0 ? "-" : "";
        text += rng() % 3 == 0 ? "0" : "7" + digits(rng, seed % 50 == 0 ? 400 : 22);
        if (rng() % 2 == 0) text += "." + digits(rng, seed % 50 == 0 ? 800 : 22);
        if (rng() % 2 == 0) {
            text += rng() % 2 == 0 ? "e" : "E-";
            text += std::to_string(rng() % (rng() % 2 == 0 ? 20 : 360));
        }
        expect_agreement(parser, text);
        if (HasFatalFailure()) return;
    }
}

TEST(ParseFuzz, AgreesOnRandomBytes) {
    Parser parser;
    for (unsigned seed = 0; seed < 20'000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        std::string text(rng() % 24, ' ');
        for (char& c : text) c = kTelling[rng() % kTelling.size()];
        expect_agreement(parser, text);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace braid::json
