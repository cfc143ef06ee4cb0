#pragma once

#include <array>
#include <random>
#include <string>
#include <string_view>

namespace braid::llm {

/// Pieces that mean something to the cleaners and parsers, raw bytes between them.
inline std::string random_text(std::mt19937& random, std::size_t most_pieces) {
    constexpr std::array<std::string_view, 44> pieces{"1.",
                                                      "2)",
                                                      "(3)",
                                                      "-",
                                                      "*",
                                                      "**",
                                                      "\"",
                                                      "'",
                                                      "“",
                                                      "”",
                                                      "`",
                                                      "```",
                                                      "\n",
                                                      "\r\n",
                                                      "\n\n",
                                                      " ",
                                                      "\t",
                                                      ":",
                                                      "#",
                                                      "query",
                                                      "Fox",
                                                      "é",
                                                      "東京",
                                                      "😀",
                                                      "</think>",
                                                      "<think>",
                                                      "[",
                                                      "]",
                                                      "{",
                                                      "}",
                                                      ",",
                                                      "•",
                                                      "Query:",
                                                      "Alternative 2:",
                                                      "\xE2\x80",
                                                      "\xC3",
                                                      "\xFF",
                                                      "\xF0\x9F",
                                                      "\xED\xA0\x80",
                                                      "\x1b[31m",
                                                      "\u202E",
                                                      "\u2028",
                                                      "\uFEFF",
                                                      "10"};
    std::uniform_int_distribution<std::size_t> count(0, most_pieces);
    std::uniform_int_distribution<std::size_t> piece(0, pieces.size() + 10);
    std::uniform_int_distribution<int> byte(0, 255);
    std::string text;
    for (std::size_t left = count(random); left > 0; --left) {
        const std::size_t chosen = piece(random);
        if (chosen < pieces.size()) {
            text += pieces[chosen];
        } else {
            text += static_cast<char>(byte(random));
        }
    }
    return text;
}

}  // namespace braid::llm
