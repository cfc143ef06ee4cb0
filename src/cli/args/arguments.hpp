#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

class Session;

enum class FlagKind {
    Switch,   // takes no value
    Text,     //
    Integer,  //
    Number,   //
    Json,     // any JSON value
    List,     // text; may be given several times
};

/// One flag of a command. Commands and flags are data: parsing, help and suggestions use the same
/// tables.
struct FlagSpec {
    std::string_view name;  // without "--"
    FlagKind kind = FlagKind::Switch;
    std::string_view value{};  // what stands for the value in help: "N"
    std::string_view help{};
    std::string_view key{};      // of the JSON object the command builds from its flags
    char letter = 0;             // "-k"; 0: none
    std::string_view choices{};  // "cosine|dot|euclidean"; empty: any text
};

/// Whether `value` is one of the words between the bars of `choices`.
bool is_choice(std::string_view choices, std::string_view value);

struct CommandSpec {
    std::string_view name;      // "ingest", "collections create"
    std::string_view operands;  // "PATH..."
    std::size_t min_operands = 0;
    std::size_t max_operands = 0;
    std::string_view summary;
    std::string_view details;  // paragraphs and examples below the flags
    std::span<const FlagSpec> flags;
    std::span<const FlagSpec> shared_flags{};  // flags of several commands
    std::string_view shared_title{};           // over them in help
    Result<> (*run)(Session&) = nullptr;
    bool whole_database = false;     // works on all of it, on nobody's behalf: --as is refused
    bool paged = false;              // prints what people read, perhaps more than a screen of it
    bool low_memory = false;         // writes with little memory, unless it is told how much
    std::string_view former_name{};  // still accepted, not listed; empty: none
};

/// The command line, checked against the tables.
class Arguments {
public:
    const CommandSpec* command = nullptr;  // none: only global flags were given
    std::string group;                     // "keys": help on the commands that begin with this word
    std::vector<std::string> operands;

    /// The operands as one text: the words of a question.
    std::string joined_operands() const;
    bool has(std::string_view flag) const { return values_.find(flag) != values_.end(); }
    /// The value of a flag that takes one; nullopt if it was not given.
    std::optional<std::string> text(std::string_view flag) const;
    std::string text_or(std::string_view flag, std::string_view otherwise) const;
    std::vector<std::string> list(std::string_view flag) const;
    /// InvalidArgument "--batch: must be an integer from 1 to 10, got 0".
    Result<std::optional<std::int64_t>> integer(std::string_view flag, std::int64_t min,
                                                std::int64_t max) const;
    /// Of the type that the flag's kind says: true, a string, a number, parsed JSON, or a list of
    /// strings; null if it was not given.
    Result<Value> value(const FlagSpec& flag) const;
    /// The values of all given flags that have a key, by key.
    Result<Object> keyed_values(std::span<const FlagSpec> flags) const;

    void add(std::string_view flag, std::string value) {
        values_[std::string(flag)].push_back(std::move(value));
    }

private:
    std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

/// Flags every command takes, before or after its name.
std::span<const FlagSpec> global_flags();

/// Reads `arguments`, without the program's name. A command's name may have two words. "--" ends
/// the flags, "-" is an operand. InvalidArgument names what is wrong and what may have been meant.
Result<Arguments> parse_arguments(std::span<const std::string> arguments,
                                  std::span<const CommandSpec* const> commands);

}  // namespace braid::cli
