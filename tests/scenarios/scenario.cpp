#include "scenarios/scenario.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "braid/json/json.hpp"

namespace braid::testing {
namespace {

constexpr std::array<std::string_view, 6> kOnACollection{"create", "add",   "update",
                                                         "delete", "count", "facets"};
constexpr std::array<std::string_view, 5> kOthers{"retrieve", "hybrid_search", "context", "explain",
                                                  "why_not"};

tl::unexpected<Error> bad(const std::string& name, std::size_t line, const std::string& what) {
    return fail(ErrorCode::InvalidArgument, name + ":" + std::to_string(line) + ": " + what);
}

std::string take_word(std::string& rest) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    std::string word = rest.substr(0, end);
    rest.erase(0, std::min(rest.find_first_not_of(' ', end), rest.size()));
    return word;
}

}  // namespace

Result<Scenario> parse_scenario(const std::string& name, const std::string& text) {
    Scenario scenario{name, {}};
    std::istringstream in(text);
    std::string rest;
    for (std::size_t line = 1; std::getline(in, rest); ++line) {
        const std::size_t begin = rest.find_first_not_of(' ');
        if (begin == std::string::npos || rest[begin] == '#') continue;
        rest.erase(0, begin);
        const std::string word = take_word(rest);
        if (begin > 0) {
            if (scenario.steps.empty()) return bad(name, line, "nothing was asked yet");
            auto value = json::parse(rest);
            if (!value) return bad(name, line, value.error().message);
            scenario.steps.back().expected.emplace_back(word, *std::move(value));
            continue;
        }
        Step step{line, word, {}, {}, {}};
        if (std::ranges::find(kOnACollection, word) != kOnACollection.end()) {
            step.collection = take_word(rest);
        } else if (std::ranges::find(kOthers, word) == kOthers.end()) {
            return bad(name, line, "unknown verb \"" + word + "\"");
        }
        auto params = json::parse(rest.empty() ? "{}" : rest);
        if (!params || !params->is_object()) return bad(name, line, "no JSON object");
        step.params = std::move(params->as_object());
        scenario.steps.push_back(std::move(step));
    }
    return scenario;
}

}  // namespace braid::testing
