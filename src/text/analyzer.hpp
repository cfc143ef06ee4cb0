#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"

namespace braid::text {

/// How a collection turns text into terms; stored with the collection, since a query must be
/// analyzed exactly as the documents were.
struct AnalyzerOptions {
    std::string name = "standard";     // or "simple"
    std::string language = "english";  // a stemmer's name or ISO code ("de"), "none" or "auto"
    bool stop_words = false;           // leave out the language's function words, if it has a list

    friend bool operator==(const AnalyzerOptions&, const AnalyzerOptions&) = default;
};

/// One term of a text. Positions count words from 0 and never decrease from token to token; an
/// identifier and its parts share positions. [begin, end) are byte offsets into the analyzed text,
/// always on character boundaries.
struct Token {
    std::string term;
    std::uint32_t position = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    friend bool operator==(const Token&, const Token&) = default;
};

/// No term is longer: a longer word is cut after the last character that fits.
inline constexpr std::size_t kMaxTermBytes = 255;

/// Bytes to terms. Immutable and safe for concurrent use; copies are cheap and share one state.
///
/// `standard`: Unicode words, NFKC, case folded, stemmed, without accents (`Cafés` and `cafe` are
/// one term). Scripts written without spaces, and Hangul, give overlapping pairs of characters.
/// Compounds (`getUserName`, `kebab-case`, `foo.bar`, `user@example.com`, `C++`) give the whole,
/// unstemmed, and their parts. src/text/README.md has the rules.
///
/// With the language "auto", each text is analyzed in its own, told by its small words; where they
/// do not tell, as English, or unstemmed in other scripts. Queries are short and often do not tell:
/// their words are looked for as every language they may be in would write them.
///
/// `simple`: what Python's `re.findall(r'\w+', text.lower())` gives, but for the cut at
/// kMaxTermBytes. Language and stop words do not apply to it.
class Analyzer {
public:
    /// InvalidArgument for an unknown name or language (the message lists the nearest), or for
    /// stop words in a language that has no list of them.
    static Result<Analyzer> create(const AnalyzerOptions& options);

    /// Replaces `out` by the tokens of `text`, reusing the strings it holds. Any bytes will do:
    /// those that are no UTF-8 separate words. Bytes past 4 GiB are not read.
    void analyze(std::string_view text, std::vector<Token>& out) const;

    /// For the other texts of a chunk, whose own words may not tell the language: the analyzer of
    /// this text's language. But for "auto" it is this one.
    Analyzer for_text(std::string_view text) const;

    /// Of a query: with "auto", the terms of several languages share their positions.
    void analyze_query(std::string_view text, std::vector<Token>& out) const;
    /// The same without words that say nothing in a query, see query_terms(): perhaps no token.
    void analyze_content(std::string_view text, std::vector<Token>& out) const;

    /// The terms of `text` in token order, repetitions included.
    std::vector<std::string> terms(std::string_view text) const;

    /// The terms to look for. Words like "the" are searched only where a query has no others: they
    /// match nearly everything and say nothing (docs/decisions/0008).
    std::vector<std::string> query_terms(std::string_view query) const;

    /// As given to create(), the language by its full name ("german" for "de").
    const AnalyzerOptions& options() const noexcept;

private:
    struct State;
    explicit Analyzer(std::shared_ptr<const State> state) noexcept;

    bool is_auto() const noexcept;
    void run(std::string_view text, std::vector<Token>& out, bool stop_words) const;
    Analyzer of_language(std::string_view language) const;
    void run_query(std::string_view text, std::vector<Token>& out, bool stop_words) const;

    std::shared_ptr<const State> state_;
};

/// The languages `standard` stems, by full name, sorted; "none" included.
std::span<const std::string_view> analyzer_languages() noexcept;

}  // namespace braid::text
