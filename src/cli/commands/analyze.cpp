#include <array>
#include <string>
#include <vector>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/table.hpp"
#include "braid/core/utf8.hpp"
#include "braid/text/analyzer.hpp"

namespace braid::cli {
namespace {

constexpr auto kAnalyzeFlags = std::to_array<FlagSpec>({
    {.name = "analyzer",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "standard or simple",
     .choices = "standard|simple"},
    {.name = "language",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "language of the stemmer (default: english)"},
    {.name = "stop-words", .help = "leave out stop words"},
});

Result<> run_analyze(Session& session) {
    text::AnalyzerOptions options;
    options.name = session.arguments.text_or("analyzer", options.name);
    options.language = session.arguments.text_or("language", options.language);
    options.stop_words = session.arguments.has("stop-words");
    BRAID_TRY(const auto analyzer, text::Analyzer::create(options));

    const std::string text = session.arguments.joined_operands();
    BRAID_CHECK(core::require_utf8(text, "the text"));
    std::vector<text::Token> tokens;
    analyzer.analyze(text, tokens);
    if (session.json()) {
        Array list;
        for (const text::Token& token : tokens) {
            list.emplace_back(Object{{"term", Value(token.term)},
                                     {"position", token.position},
                                     {"begin", token.begin},
                                     {"end", token.end}});
        }
        session.out.json(Object{{"analyzer", Value(analyzer.options().name)},
                                {"language", Value(analyzer.options().language)},
                                {"tokens", std::move(list)}});
        return {};
    }
    if (tokens.empty()) {
        session.out.line("No words in this text.");
        return {};
    }
    Table table({{"position", true}, {"term"}, {"text"}, {"bytes"}});
    for (const text::Token& token : tokens) {
        table.add({std::to_string(token.position), plain(token.term),
                   plain(text.substr(token.begin, token.end - token.begin)),
                   std::to_string(token.begin) + "-" + std::to_string(token.end)});
    }
    table.print(session.out);
    return {};
}

}  // namespace

const CommandSpec kAnalyzeCommand{
    .name = "analyze",
    .operands = "TEXT",
    .min_operands = 1,
    .max_operands = 1000,
    .summary = "show the terms a text is indexed under",
    .details = R"(  braid analyze "Foxes' getUserName() hunts" --language english)",
    .flags = kAnalyzeFlags,
    .run = run_analyze,
    .paged = true,
};

}  // namespace braid::cli
