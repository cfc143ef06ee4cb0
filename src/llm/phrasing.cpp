#include "braid/llm/phrasing.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "braid/core/utf8.hpp"
#include "braid/json/json.hpp"
#include "braid/llm/list_marks.hpp"
#include "braid/llm/plain_text.hpp"

namespace braid::llm {
namespace {

/// What a reasoning model thought aloud is no part of its reply.
std::string_view without_reasoning(std::string_view text) {
    constexpr std::array<std::string_view, 2> tags{"think", "thinking"};
    for (const std::string_view tag : tags) {
        const std::string close = "</" + std::string(tag) + ">";
        if (const std::size_t end = text.rfind(close); end != std::string_view::npos) {
            text.remove_prefix(end + close.size());
        }
        const std::string open = "<" + std::string(tag) + ">";
        text = text.substr(0, text.find(open));
    }
    return text;
}

void collect_strings(const Value& value, std::vector<std::string>& out) {
    if (value.is_string()) {
        // Longer than a phrasing may be, if it is: a cut within a character takes up to 3 bytes.
        out.push_back(harmless_line(value.as_string(), kMostPhrasingBytes + 4));
    } else if (value.is_array()) {
        for (const Value& element : value.as_array()) collect_strings(element, out);
    } else if (value.is_object()) {
        for (const auto& [key, member] : value.as_object()) collect_strings(member, out);
    }
}

bool is_fence(std::string_view line) {
    return line.starts_with("```") || line.starts_with("~~~");
}

std::vector<std::string> lines_in(const Completion& reply) {
    std::vector<std::string> lines = harmless_lines(without_reasoning(reply.text));
    std::erase_if(lines, is_fence);
    return lines;
}

/// The strings of a reply that is JSON though it was not asked to be; empty if it is not.
std::vector<std::string> json_strings(const std::vector<std::string>& lines) {
    std::vector<std::string> strings;
    if (lines.empty() || (lines.front().front() != '[' && lines.front().front() != '{')) {
        return strings;
    }
    std::string text;
    for (const std::string& line : lines) text += line + ' ';
    constexpr std::size_t max_depth = 8;
    if (const auto value = json::parse(text, {.max_depth = max_depth})) {
        collect_strings(*value, strings);
    }
    return strings;
}

/// Equal for texts that differ only in ASCII case and in closing punctuation.
std::string comparable(std::string_view text) {
    text = text.substr(0, text.find_last_not_of(" .?!") + 1);
    std::string folded(text);
    for (char& c : folded) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return folded;
}

}  // namespace

std::vector<std::string> phrasings_in(const Completion& reply, std::string_view query) {
    std::vector<std::string> lines = lines_in(reply);
    if (reply.cut && lines.size() > 1) lines.pop_back();
    std::erase_if(lines, [](const std::string& line) { return is_announcement(line); });
    if (std::vector<std::string> strings = json_strings(lines); !strings.empty()) {
        lines = std::move(strings);
    }
    std::vector<std::string> seen{comparable(harmless_line(query, query.size()))};
    std::vector<std::string> phrasings;
    for (const std::string& line : lines) {
        if (phrasings.size() == kMostPhrasings) break;
        const std::string_view bare = without_marks(line);
        if (!has_word(bare) || is_announcement(bare) || bare.size() > kMostPhrasingBytes) continue;
        std::string key = comparable(bare);
        if (std::ranges::find(seen, key) != seen.end()) continue;
        seen.push_back(std::move(key));
        phrasings.emplace_back(bare);
    }
    return phrasings;
}

std::string paragraph_in(const Completion& reply) {
    std::vector<std::string> lines = lines_in(reply);
    if (lines.size() > 1 && is_announcement(without_marks(lines.front()))) {
        lines.erase(lines.begin());
    }
    std::string paragraph;
    for (const std::string& line : lines) {
        const std::string_view bare = without_marks(line);
        if (!has_word(bare)) continue;
        if (!paragraph.empty()) paragraph += ' ';
        paragraph += bare;
        if (paragraph.size() > kMostParagraphBytes) break;
    }
    paragraph.resize(core::cut_at_most(paragraph, kMostParagraphBytes).size());
    paragraph.resize(paragraph.find_last_not_of(' ') + 1);
    return paragraph;
}

}  // namespace braid::llm
