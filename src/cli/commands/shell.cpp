#include <string>

#include "braid/cli/args/completion.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/manual.hpp"
#include "braid/cli/session.hpp"

namespace braid::cli {
namespace {

Result<> run_completion(Session& session) {
    const std::string& shell = session.arguments.operands.front();
    if (shell == "bash") {
        session.out.text(bash_completion(all_commands()));
    } else if (shell == "zsh") {
        session.out.text(zsh_completion(all_commands()));
    } else if (shell == "fish") {
        session.out.text(fish_completion(all_commands()));
    } else {
        return invalid_argument("completion exists for bash, zsh and fish, not for \"" + shell +
                                "\"");
    }
    return {};
}

Result<> run_manual(Session& session) {
    session.out.text(manual_page(all_commands()));
    return {};
}

}  // namespace

const CommandSpec kCompletionCommand{
    .name = "completion",
    .operands = "bash|zsh|fish",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "print a script that completes commands and flags",
    .details = R"(  source <(braid completion bash)
  braid completion zsh > ~/.zfunc/_braid
  braid completion fish > ~/.config/fish/completions/braid.fish)",
    .flags = {},
    .run = run_completion,
};

const CommandSpec kManualCommand{
    .name = "man",
    .operands = "",
    .summary = "print the manual page",
    .details = R"(  braid man | man -l -)",
    .flags = {},
    .run = run_manual,
};

}  // namespace braid::cli
