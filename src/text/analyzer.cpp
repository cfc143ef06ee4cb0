#include "braid/text/analyzer.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "braid/core/utf8.hpp"
#include "braid/text/language.hpp"
#include "braid/text/nearest.hpp"
#include "braid/text/simple.hpp"
#include "braid/text/standard.hpp"
#include "braid/text/stemmer.hpp"
#include "braid/text/stop_words.hpp"
#include "braid/text/token_writer.hpp"

namespace braid::text {
namespace {

constexpr std::string_view kStandard = "standard";
constexpr std::string_view kSimple = "simple";
constexpr std::string_view kAuto = "auto";
// What a text whose language cannot be told is taken for: in Latin letters, in others.
constexpr std::string_view kDefault = "english";
constexpr std::string_view kNone = "none";

/// A name from a request, short enough for a message.
std::string quoted(std::string_view name) {
    static constexpr std::size_t kShown = 64;
    return "'" + std::string(core::cut_at_most(name, kShown)) +
           (name.size() > kShown ? "...'" : "'");
}

/// What one call of analyze() works with.
struct Scratch {
    std::optional<StandardTokenizer> standard;  // none: the analyzer is `simple`
    std::string word;
};

std::vector<std::string> terms_of(std::vector<Token> tokens) {
    std::vector<std::string> terms;
    terms.reserve(tokens.size());
    for (Token& token : tokens) terms.push_back(std::move(token.term));
    return terms;
}

}  // namespace

struct Analyzer::State {
    AnalyzerOptions options;

    mutable std::mutex mutex;
    mutable std::map<std::string, Analyzer, std::less<>> languages;  // those met so far, of "auto"
    mutable std::vector<std::unique_ptr<Scratch>> idle;

    std::unique_ptr<Scratch> borrow() const {
        {
            const std::lock_guard lock(mutex);
            if (!idle.empty()) {
                auto scratch = std::move(idle.back());
                idle.pop_back();
                return scratch;
            }
        }
        auto scratch = std::make_unique<Scratch>();
        if (options.name == kStandard) {
            scratch->standard.emplace(StandardTokenizer::Options{options.language});
        }
        return scratch;
    }

    void give_back(std::unique_ptr<Scratch> scratch) const {
        const std::lock_guard lock(mutex);
        idle.push_back(std::move(scratch));
    }
};

Analyzer::Analyzer(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}

Result<Analyzer> Analyzer::create(const AnalyzerOptions& options) {
    static constexpr std::string_view kNames[] = {kStandard, kSimple};
    if (options.name != kStandard && options.name != kSimple) {
        std::string message = "unknown analyzer " + quoted(options.name);
        if (const auto near = nearest_name(options.name, kNames)) {
            message += "; did you mean '" + std::string(*near) + "'?";
        }
        message += " The analyzers are 'standard' and 'simple'.";
        return invalid_argument(std::move(message));
    }
    const auto language =
        options.language == kAuto ? std::optional(kAuto) : language_by_name(options.language);
    if (!language) {
        std::string message = "unknown language " + quoted(options.language) + "; nearest are";
        const char* separator = " '";
        for (const std::string_view name :
             nearest_names(options.language, analyzer_languages(), 3)) {
            message += separator + std::string(name) + "'";
            separator = ", '";
        }
        message += "; 'none' stems nothing, 'auto' detects the language of each text";
        return invalid_argument(std::move(message));
    }
    if (options.stop_words && *language != kAuto && StopWords::of(*language).empty()) {
        return invalid_argument("no stop words are known for the language '" +
                                std::string(*language) + "'");
    }
    // One state for all analyzers of the same options: what they work with takes 250 kB.
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<const State>> states;
    const std::string key = options.name + " " + std::string(*language) +
                            (options.stop_words ? " without stop words" : "");
    const std::scoped_lock lock(mutex);
    if (auto known = states[key].lock()) return Analyzer(std::move(known));
    auto state = std::make_shared<State>();
    state->options = options;
    state->options.language = *language;
    states[key] = state;
    return Analyzer(std::move(state));
}

bool Analyzer::is_auto() const noexcept {
    return state_->options.language == kAuto && state_->options.name == kStandard;
}

Analyzer Analyzer::of_language(std::string_view language) const {
    {
        const std::lock_guard lock(state_->mutex);
        const auto found = state_->languages.find(language);
        if (found != state_->languages.end()) return found->second;
    }
    AnalyzerOptions options = state_->options;
    options.language = language;
    options.stop_words = options.stop_words && !StopWords::of(language).empty();
    auto made = create(options);  // the languages of `language.cpp` all have a stemmer
    const std::lock_guard lock(state_->mutex);
    return state_->languages.emplace(language, *std::move(made)).first->second;
}

Analyzer Analyzer::for_text(std::string_view text) const {
    if (!is_auto()) return *this;
    const LanguageClues clues = language_clues(text);
    if (!clues.told.empty()) return of_language(clues.told);
    return of_language(clues.of_script.front() == kDefault ? kDefault : kNone);
}

void Analyzer::analyze(std::string_view text, std::vector<Token>& out) const {
    if (is_auto()) return for_text(text).analyze(text, out);
    run(text, out, state_->options.stop_words);
}

void Analyzer::analyze_query(std::string_view text, std::vector<Token>& out) const {
    run_query(text, out, state_->options.stop_words);
}

void Analyzer::run_query(std::string_view text, std::vector<Token>& out, bool stop_words) const {
    if (!is_auto()) return run(text, out, stop_words);
    const auto [language, of_script] = language_clues(text);
    std::vector<std::string_view> possible{language};
    if (language.empty()) possible.assign(of_script.begin(), of_script.end());
    // What does not tell its language is indexed as one of these.
    for (const std::string_view one : {kDefault, kNone}) {
        if (std::ranges::find(possible, one) == possible.end()) possible.push_back(one);
    }
    std::vector<Token> tokens;
    out.clear();
    std::set<std::uint32_t> kept;  // positions of words that say something in its language
    for (const std::string_view one : possible) {
        of_language(one).run(text, tokens, stop_words);
        for (const Token& token : tokens) {
            if (one == language) kept.insert(token.position);
            if (language.empty() || kept.contains(token.position)) out.push_back(token);
        }
    }
    const auto key = [](const Token& token) { return std::tie(token.position, token.term); };
    std::ranges::stable_sort(out, {}, key);
    const auto same = std::ranges::unique(out, {}, key);
    out.erase(same.begin(), same.end());
}

void Analyzer::run(std::string_view text, std::vector<Token>& out, bool stop_words) const {
    text = core::cut_at_most(text, std::numeric_limits<std::uint32_t>::max());
    TokenWriter writer(out);
    auto scratch = state_->borrow();
    if (auto& standard = scratch->standard) {
        standard->run(text, writer, stop_words);
    } else {
        simple_words(text, writer, scratch->word);
    }
    state_->give_back(std::move(scratch));
    writer.finish();
}

std::vector<std::string> Analyzer::terms(std::string_view text) const {
    std::vector<Token> tokens;
    analyze(text, tokens);
    return terms_of(std::move(tokens));
}

void Analyzer::analyze_content(std::string_view text, std::vector<Token>& out) const {
    run_query(text, out, true);
}

std::vector<std::string> Analyzer::query_terms(std::string_view query) const {
    std::vector<Token> tokens;
    analyze_content(query, tokens);
    if (tokens.empty()) analyze_query(query, tokens);
    return terms_of(std::move(tokens));
}

const AnalyzerOptions& Analyzer::options() const noexcept {
    return state_->options;
}

std::span<const std::string_view> analyzer_languages() noexcept {
    return stemmer_languages();
}

}  // namespace braid::text
