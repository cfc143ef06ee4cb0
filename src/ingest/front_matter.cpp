#include "braid/ingest/front_matter.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

#include "braid/core/utf8.hpp"
#include "braid/ingest/source_document.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kMostKeys = 64;
constexpr std::size_t kMostItems = 256;
constexpr std::size_t kMostValueBytes = 4096;

struct YamlLine {
    std::size_t indent = 0;
    std::string_view text;  // trimmed
};

std::string unquoted(std::string_view value) {
    value = trimmed(value);
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front()) {
        const char quote = value.front();
        std::string out;
        value = value.substr(1, value.size() - 2);
        for (std::size_t i = 0; i < value.size(); ++i) {
            const bool pair = i + 1 < value.size() &&
                              ((quote == '"' && value[i] == '\\') ||
                               (quote == '\'' && value[i] == '\'' && value[i + 1] == '\''));
            if (pair) ++i;
            out += pair && quote == '"' && value[i] == 'n' ? '\n' : value[i];
        }
        return out;
    }
    return std::string(value);
}

/// Without a comment, which begins with " #" outside quotes.
std::string_view without_comment(std::string_view value) {
    char quote = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (quote != 0) {
            if (value[i] == quote) quote = 0;
        } else if ((value[i] == '"' || value[i] == '\'') && i == 0) {
            quote = value[i];
        } else if (value[i] == '#' && (i == 0 || value[i - 1] == ' ' || value[i - 1] == '\t')) {
            return trimmed(value.substr(0, i));
        }
    }
    return trimmed(value);
}

Value scalar_of(std::string_view value) {
    if (value == "true" || value == "True") return true;
    if (value == "false" || value == "False") return false;
    std::int64_t integer = 0;
    const char* const end = value.data() + value.size();
    const bool plain = value.size() == 1 || (!value.starts_with('0') && !value.starts_with('+'));
    if (plain && std::from_chars(value.data(), end, integer).ptr == end && !value.empty()) {
        return integer;
    }
    return Value(core::cut_at_most(unquoted(value), kMostValueBytes));
}

Array items_of(std::string_view list) {
    Array items;
    while (!list.empty() && items.size() < kMostItems) {
        std::size_t end = std::min(list.find(','), list.size());
        const std::string_view start = trimmed(list);
        if (start.starts_with('"') || start.starts_with('\'')) {
            const auto open = static_cast<std::size_t>(start.data() - list.data());
            const std::size_t close = list.find(start.front(), open + 1);
            if (close != std::string_view::npos) end = std::min(list.find(',', close), list.size());
        }
        const std::string_view item = trimmed(list.substr(0, end));
        if (!item.empty()) items.push_back(scalar_of(item));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return items;
}

std::vector<YamlLine> yaml_lines(std::string_view text) {
    std::vector<YamlLine> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        lines.push_back({std::min(line.find_first_not_of(' '), line.size()), trimmed(line)});
    }
    return lines;
}

/// "key", if the line is "key: value"; the value goes to `value`.
std::optional<std::string> key_in(std::string_view line, std::string_view& value) {
    std::size_t colon = line.find(':');
    while (colon != std::string_view::npos && colon + 1 < line.size() && line[colon + 1] != ' ') {
        colon = line.find(':', colon + 1);
    }
    if (colon == std::string_view::npos || colon == 0 || colon > 200) return std::nullopt;
    value = without_comment(trimmed(line.substr(colon + 1)));
    return unquoted(line.substr(0, colon));
}

class FrontMatterReader {
public:
    explicit FrontMatterReader(std::string_view text) : lines_(yaml_lines(text)) {}

    FrontMatter read() {
        while (at_ < lines_.size()) read_key("");
        return std::move(out_);
    }

private:
    void read_key(const std::string& above) {
        const YamlLine line = lines_[at_++];
        std::string_view value;
        if (line.text.empty() || line.text.front() == '#') return;
        const auto key = key_in(line.text, value);
        if (!key) return;
        if (value.starts_with('[') && value.ends_with(']')) {
            return keep(above, *key, items_of(value.substr(1, value.size() - 2)));
        }
        if (value.starts_with('|') || value.starts_with('>')) {
            return keep(above, *key, Value(block_text(line.indent, value.front() == '|')));
        }
        if (!value.empty()) return keep(above, *key, scalar_of(value));
        Array items;
        while (at_ < lines_.size() && (lines_[at_].text.starts_with("- ") ||
                                       lines_[at_].text == "-" || lines_[at_].text.empty())) {
            std::string_view item = lines_[at_++].text;
            if (!item.empty()) item = trimmed(item.substr(1));
            if (!item.empty() && items.size() < kMostItems) {
                items.push_back(scalar_of(without_comment(item)));
            }
        }
        if (!items.empty()) return keep(above, *key, std::move(items));
        while (above.empty() && at_ < lines_.size() &&
               (lines_[at_].indent > line.indent || lines_[at_].text.empty())) {
            read_key(*key);
        }
    }

    std::string block_text(std::size_t indent, bool lines) {
        std::string text;
        while (at_ < lines_.size() && (lines_[at_].indent > indent || lines_[at_].text.empty())) {
            if (!text.empty()) text += lines ? '\n' : ' ';
            text += lines_[at_++].text;
        }
        return std::string(core::cut_at_most(trimmed(text), kMostValueBytes));
    }

    void keep(const std::string& above, const std::string& key, Value value) {
        if (!above.empty()) {
            if (!is_free_key(above) || out_.metadata.size() >= kMostKeys) return;
            Value* outer = out_.metadata.find(above);
            if (outer == nullptr) outer = &out_.metadata.set(above, Object{});
            if (outer->is_object() && outer->as_object().size() < kMostKeys) {
                outer->as_object().set(key, std::move(value));
            }
            return;
        }
        const std::string name = lower_ascii(key);
        if (name == "title" && value.is_string()) {
            out_.title = core::cut_at_most(value.as_string(), kMostHeadingBytes);
            return;
        }
        if ((name == "date" || name == "created" || name == "created_at") && value.is_string()) {
            out_.date = parse_date(value.as_string());
            if (out_.date) return;
        }
        if (!is_free_key(key) || out_.metadata.size() >= kMostKeys) return;
        out_.metadata.set(key, std::move(value));
    }

    std::vector<YamlLine> lines_;
    std::size_t at_ = 0;
    FrontMatter out_;
};

}  // namespace

bool is_free_key(std::string_view key) {
    constexpr std::array<std::string_view, 8> own = {
        "trust",    "hop",        "chunk_index", "created_at", "sensitivity", "visibility_scope",
        "chunk_id", "document_id"};
    return !key.empty() && !key.starts_with("source") && !key.starts_with('$') &&
           std::ranges::find(own, key) == own.end();
}

FrontMatter read_front_matter(std::string_view text) {
    const std::size_t first = text.find('\n');
    if (first == std::string_view::npos || trimmed(text.substr(0, first)) != "---") return {};
    for (std::size_t begin = first + 1; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = trimmed(text.substr(begin, end - begin));
        if (line == "---" || line == "...") {
            FrontMatter front = FrontMatterReader(text.substr(first + 1, begin - first - 1)).read();
            front.bytes = std::min(end + 1, text.size());
            return front;
        }
        begin = end + 1;
    }
    return {};  // never closed: it is text
}

}  // namespace braid::ingest
