#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "braid/text/analyzer.hpp"

namespace braid::text {

/// A text and its terms as `shown` shows them.
struct Case {
    std::string_view text;
    std::string_view terms;
};

inline Analyzer make_analyzer(std::string_view language = "english", bool stop_words = false) {
    auto made = Analyzer::create({"standard", std::string(language), stop_words});
    EXPECT_TRUE(made) << language;
    return *std::move(made);
}

inline Analyzer simple_analyzer() {
    return *Analyzer::create({"simple", "english", false});
}

inline std::vector<Token> tokens_of(const Analyzer& analyzer, std::string_view text) {
    std::vector<Token> tokens;
    analyzer.analyze(text, tokens);
    return tokens;
}

/// The terms, those of one position joined by `|`: "getusernam|get user name".
inline std::string shown(const std::vector<Token>& tokens) {
    std::string out;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (i > 0) out += tokens[i].position == tokens[i - 1].position ? '|' : ' ';
        out += tokens[i].term;
    }
    return out;
}

inline std::string shown(const Analyzer& analyzer, std::string_view text) {
    return shown(tokens_of(analyzer, text));
}

}  // namespace braid::text
