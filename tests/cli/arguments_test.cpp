#include "braid/cli/args/arguments.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/cli/args/help.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/text/display_width.hpp"
#include "cli/program_run.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;

Result<Arguments> parse(const std::vector<std::string>& words) {
    return parse_arguments(words, all_commands());
}

std::string complaint(const std::vector<std::string>& words) {
    const auto arguments = parse(words);
    if (arguments) return "(accepted)";
    EXPECT_EQ(arguments.error().code, ErrorCode::InvalidArgument);
    return arguments.error().message;
}

TEST(Arguments, GlobalFlagsStandBeforeOrAfterTheCommand) {
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"--data", "d", "--json", "stats"}, {"stats", "--json", "--data=d"}}) {
        const auto arguments = parse(words);
        ASSERT_TRUE(arguments) << arguments.error().message;
        EXPECT_EQ(arguments->command, &kStatsCommand);
        EXPECT_EQ(arguments->text("data"), "d");
        EXPECT_TRUE(arguments->has("json"));
    }
}

TEST(Arguments, ReadsOperandsFlagsAndLetters) {
    const auto arguments = parse({"retrieve", "-k", "5", "red", "--filter={\"a\":1}", "fox",
                                  "--collection", "a", "--collection", "b", "--exact"});
    ASSERT_TRUE(arguments) << arguments.error().message;
    EXPECT_EQ(arguments->operands, (std::vector<std::string>{"red", "fox"}));
    const auto values = arguments->keyed_values(request_flags());
    ASSERT_TRUE(values);
    EXPECT_EQ(Value(*values), Value(Object{{"top_k", 5},
                                           {"collections", Array{"a", "b"}},
                                           {"filter", Object{{"a", 1}}},
                                           {"exact", true}}));
    EXPECT_EQ(parse({"retrieve", "-k5", "x"})->text("top-k"), "5");
}

TEST(Arguments, ADashIsAnOperandAndTwoEndTheFlags) {
    EXPECT_EQ(parse({"ingest", "-"})->operands, std::vector<std::string>{"-"});
    EXPECT_EQ(parse({"retrieve", "--", "--exact"})->operands, std::vector<std::string>{"--exact"});
    EXPECT_EQ(parse({"retrieve", "x", "--score-threshold", "-1"})->text("score-threshold"), "-1");
}

TEST(Arguments, CommandsMayHaveTwoWords) {
    EXPECT_EQ(parse({"collections"})->command, &kCollectionsCommand);
    const auto create = parse({"collections", "create", "notes"});
    ASSERT_TRUE(create);
    EXPECT_EQ(create->command, &kCollectionsCreateCommand);
    EXPECT_EQ(create->operands, std::vector<std::string>{"notes"});
    EXPECT_TRUE(has(complaint({"config"}), "show"));
}

TEST(Arguments, MistakesNameWhatWasMeant) {
    EXPECT_TRUE(has(complaint({"retreive", "x"}), "\"retrieve\""));
    EXPECT_TRUE(has(complaint({"retrieve", "x", "--topk", "5"}), "\"--top-k\""));
    EXPECT_TRUE(has(complaint({"ingest", "f", "--colection", "c"}), "\"--collection\""));
    EXPECT_TRUE(has(complaint({"--jsn", "stats"}), "\"--json\""));
    EXPECT_TRUE(has(complaint({"retrieve", "-z"}), "\"-z\""));
}

TEST(Arguments, WrongUsageIsRefused) {
    EXPECT_TRUE(has(complaint({"ingest"}), "PATH"));
    EXPECT_TRUE(has(complaint({"stats", "x"}), "\"x\""));
    EXPECT_TRUE(has(complaint({"retrieve", "--top-k"}), "needs a value"));
    EXPECT_TRUE(has(complaint({"retrieve", "--exact=yes"}), "takes no value"));
    EXPECT_TRUE(has(complaint({"retrieve", "-k", "1", "-k", "2"}), "twice"));
    EXPECT_TRUE(has(complaint({"ingest", "f", "--metric", "l2"}), "cosine, dot, euclidean"));
    EXPECT_TRUE(parse({"--json", "--json", "stats"}));
}

TEST(Arguments, NumbersAndJsonAreChecked) {
    const auto arguments = parse({"ingest", "f", "--batch", "0", "--dimension", "x"});
    ASSERT_TRUE(arguments);
    EXPECT_TRUE(has(arguments->integer("batch", 1, 10).error().message, "--batch: must be"));
    EXPECT_FALSE(arguments->keyed_values(kIngestCommand.shared_flags));
    EXPECT_EQ(arguments->integer("progress-every", 1, 10).value(), std::nullopt);
    for (const auto& words :
         std::vector<std::vector<std::string>>{{"retrieve", "x", "--filter", "{"},
                                               {"retrieve", "x", "--top-k", "2.5"},
                                               {"retrieve", "x", "--dense-weight", "half"},
                                               {"retrieve", "x", "--dense-weight", "nan"}}) {
        const auto values = parse(words)->keyed_values(request_flags());
        ASSERT_FALSE(values);
        EXPECT_TRUE(has(values.error().message, words[2]));
    }
}

TEST(Arguments, HelpAndVersionNeedNothingElse) {
    EXPECT_TRUE(parse({"ingest", "--help"}));
    EXPECT_TRUE(parse({"--version"}));
    EXPECT_EQ(parse({})->command, nullptr);
}

TEST(Help, EveryCommandAndFlagIsDescribedWithinEightyColumns) {
    const auto check = [](const std::string& text) {
        std::size_t begin = 0;
        while (begin < text.size()) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            EXPECT_LE(text::display_width(text.substr(begin, end - begin)), 80U)
                << text.substr(begin, end - begin);
            begin = end + 1;
        }
    };
    const std::string all = overview(all_commands(), Style::none());
    check(all);
    for (const CommandSpec* command : all_commands()) {
        EXPECT_TRUE(has(all, std::string(command->name)));
        EXPECT_FALSE(command->summary.empty());
        const std::string help = command_help(*command, all_commands(), Style::none());
        check(help);
        for (const auto flags : {command->flags, command->shared_flags}) {
            for (const FlagSpec& flag : flags) {
                EXPECT_TRUE(has(help, "--" + std::string(flag.name)));
                EXPECT_FALSE(flag.help.empty()) << flag.name;
                EXPECT_EQ(flag.kind == FlagKind::Switch, flag.value.empty()) << flag.name;
            }
        }
    }
}

TEST(Help, NoCommandHasTwoFlagsOfOneName) {
    for (const CommandSpec* command : all_commands()) {
        std::vector<std::string_view> names;
        for (const auto flags : {command->flags, command->shared_flags, global_flags()}) {
            for (const FlagSpec& flag : flags) {
                EXPECT_EQ(std::ranges::find(names, flag.name), names.end())
                    << command->name << " --" << flag.name;
                names.push_back(flag.name);
            }
        }
    }
}

}  // namespace
}  // namespace braid::cli
