#include "braid/ingest/records.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "braid/core/utf8.hpp"
#include "braid/ingest/markdown.hpp"
#include "braid/json/json.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kMostPrinted = 4000;  // bytes of a cell's output
constexpr std::size_t kMostNamedLines = 5;
constexpr std::string_view kFirstLine = "line 1, ";  // in the parser's message about a line

constexpr json::ParseLimits kJsonLimits{
    .max_depth = 64, .max_bytes = std::size_t{256} << 20, .max_members = 10'000};

constexpr std::array<std::string_view, 4> kTextKeys = {"text", "content", "page_content", "body"};
constexpr std::array<std::string_view, 3> kTitleKeys = {"title", "name", "heading"};

/// One row starting at `at`, which moves past it. Adds the lines it took to `line`.
std::vector<std::string> csv_row(std::string_view text, std::size_t& at, char separator,
                                 std::uint64_t& line) {
    std::vector<std::string> row(1);
    bool quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        line += c == '\n';
        if (quoted) {
            if (c != '"') {
                row.back() += c;
            } else if (at + 1 < text.size() && text[at + 1] == '"') {
                row.back() += text[++at];
            } else {
                quoted = false;
            }
        } else if (c == '"' && trimmed(row.back()).empty()) {
            row.back().clear();
            quoted = true;
        } else if (c == separator) {
            row.emplace_back();
        } else if (c == '\n') {
            ++at;
            break;
        } else if (c != '\r') {
            row.back() += c;
        }
    }
    return row;
}

char separator_in(std::string_view text) {
    const std::string_view first = text.substr(0, text.find('\n'));
    char best = ',';
    std::ptrdiff_t most = 0;
    for (const char candidate : {',', ';', '\t', '|'}) {
        const auto count = std::count(first.begin(), first.end(), candidate);
        if (count > most) {
            most = count;
            best = candidate;
        }
    }
    return best;
}

/// The first of these members that is a text; none: an empty key.
std::string_view text_key(const Object& record, std::span<const std::string_view> keys) {
    for (const std::string_view key : keys) {
        const Value* const value = record.find(key);
        if (value != nullptr && value->is_string()) return key;
    }
    return {};
}
std::string text_at(const Object& record, std::string_view key) {
    return key.empty() ? std::string() : record.find(key)->as_string();
}

/// Such as a vector: no words.
bool is_list_of_numbers(const Value& value) {
    return value.is_array() && value.as_array().size() > 1 &&
           std::ranges::all_of(value.as_array(), &Value::is_number);
}

/// "a.b: value", one line for every scalar.
void add_lines(std::string& out, const Value& value, const std::string& path) {
    if (value.is_object()) {
        for (const auto& [key, inner] : value.as_object()) {
            add_lines(out, inner, path.empty() ? key : path + "." + key);
        }
    } else if (value.is_array()) {
        for (const Value& inner : value.as_array()) add_lines(out, inner, path);
    } else if (!value.is_null()) {
        if (!path.empty()) out += path + ": ";
        out += (value.is_string() ? value.as_string() : json::print(value)) + "\n";
    }
}

void add_record(DocumentBuilder& builder, const Value& record, std::uint64_t line) {
    if (record.is_object()) {
        const Object& members = record.as_object();
        const std::string_view text = text_key(members, kTextKeys);
        if (!text.empty()) {
            const std::string_view title = text_key(members, kTitleKeys);
            builder.heading(2, text_at(members, title));
            std::string others;
            for (const auto& [key, value] : members) {
                if (key == text || key == title || is_list_of_numbers(value)) continue;
                add_lines(others, value, key);
            }
            std::string whole(trimmed(text_at(members, text)));
            if (!others.empty()) whole += "\n\n" + others;
            builder.block(whole, line);
            return;
        }
    }
    std::string lines;
    add_lines(lines, record, "");
    builder.block(lines, line);
}

/// Where the elements of a list begin in a JSON text that was parsed: of the whole, or of the
/// member `key` of the whole. Lines, from 1.
std::vector<std::uint64_t> lines_of_elements(std::string_view text, const std::string& key) {
    const std::size_t wanted = key.empty() ? 1 : 2;  // depth
    std::vector<std::uint64_t> lines;
    std::uint64_t line = 1;
    std::size_t depth = 0;
    bool inside = key.empty();  // of the list, once it is deep enough
    bool expected = false;      // the next thing begins an element
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        line += c == '\n';
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
        if (c == ']' || c == '}') {
            --depth;
            inside = key.empty() || (inside && depth >= wanted);
            expected = false;
            continue;
        }
        if (expected) {
            lines.push_back(line);
            expected = false;
        }
        if (c == '[' || c == '{') {
            ++depth;
            expected = inside && depth == wanted && c == '[';
        } else if (c == ',') {
            expected = inside && depth == wanted;
        } else if (c == '"') {
            const std::size_t begin = at;
            for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
            if (key.empty() || depth != 1) continue;
            const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
            if (next == std::string_view::npos || text[next] != ':') continue;
            const auto name = json::parse(text.substr(begin, at + 1 - begin), kJsonLimits);
            inside = name && *name == Value(key);
        }
    }
    return lines;
}

/// A text, or a list of its lines, as notebooks write them.
std::string lines_of_cell(const Value* source) {
    std::string text;
    if (source == nullptr) return text;
    if (source->is_string()) return source->as_string();
    if (!source->is_array()) return text;
    for (const Value& line : source->as_array()) {
        if (line.is_string()) text += line.as_string();
    }
    return text;
}

std::string printed_by(const Value& cell) {
    std::string text;
    const Value* const outputs = cell.find("outputs");
    if (outputs == nullptr || !outputs->is_array()) return text;
    for (const Value& output : outputs->as_array()) {
        text += lines_of_cell(output.find("text"));
        if (const Value* const data = output.find("data")) {
            text += lines_of_cell(data->find("text/plain"));
        }
    }
    return std::string(core::cut_at_most(text, kMostPrinted));
}

}  // namespace

void add_row(DocumentBuilder& builder, const std::vector<std::string>& columns,
             const std::vector<std::string>& row, std::uint64_t line) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string value = squeezed(row[i]);
        if (value.empty()) continue;
        if (!text.empty()) text += '\n';
        if (i < columns.size() && !columns[i].empty()) text += columns[i] + ": ";
        text += value;
    }
    builder.block(text, line);
}

SourceDocument parse_csv(std::string_view text, char separator) {
    if (separator == 0) separator = separator_in(text);
    DocumentBuilder builder;
    std::size_t at = 0;
    std::uint64_t line = 1;
    std::vector<std::string> columns = csv_row(text, at, separator, line);
    for (std::string& column : columns) column = squeezed(column);
    if (at >= text.size()) add_row(builder, {}, columns, 1);  // the only row
    while (at < text.size()) {
        const std::uint64_t first = line;
        add_row(builder, columns, csv_row(text, at, separator, line), first);
    }
    return builder.take();
}

Result<SourceDocument> parse_json(std::string_view text) {
    BRAID_TRY(Value whole, json::parse(text, kJsonLimits));
    DocumentBuilder builder;
    Array records;
    std::string list;  // the member that holds them
    if (whole.is_array()) {
        records = std::move(whole.as_array());
    } else if (whole.is_object()) {
        // {"documents": [{…}, …], …}
        Array* longest = nullptr;
        for (auto& [key, value] : whole.as_object()) {
            const bool is_list = value.is_array() && !value.as_array().empty() &&
                                 value.as_array().front().is_object();
            if (!is_list || (longest && longest->size() >= value.as_array().size())) continue;
            longest = &value.as_array();
            list = key;
        }
        builder.set_title(text_at(whole.as_object(), text_key(whole.as_object(), kTitleKeys)));
        if (longest) {
            records = std::move(*longest);
            whole.as_object().erase(list);
        }
        add_record(builder, whole, 1);
    } else {
        add_record(builder, whole, 1);
    }
    const std::vector<std::uint64_t> lines = lines_of_elements(text, list);
    for (std::size_t i = 0; i < records.size(); ++i) {
        add_record(builder, records[i], i < lines.size() ? lines[i] : 0);
    }
    return builder.take();
}

SourceDocument parse_json_lines(std::string_view text, FailedLines& failed) {
    DocumentBuilder builder;
    std::uint64_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (line.empty()) continue;
        const auto record = json::parse(line, kJsonLimits);
        if (record) {
            add_record(builder, *record, number);
        } else {
            if (failed.count++ >= kMostNamedLines) continue;
            std::string_view why = record.error().message;
            if (why.starts_with(kFirstLine)) why.remove_prefix(kFirstLine.size());
            failed.first.push_back(std::to_string(number) + ": " + std::string(why));
        }
    }
    return builder.take();
}

Result<SourceDocument> parse_notebook(std::string_view text) {
    BRAID_TRY(const Value whole, json::parse(text, kJsonLimits));
    const Value* const cells = whole.find("cells");
    if (cells == nullptr || !cells->is_array()) {
        return invalid_argument("it has no \"cells\": it is not a format 4 notebook");
    }
    std::string language = "python";
    if (const Value* const metadata = whole.find("metadata")) {
        if (const Value* const info = metadata->find("language_info")) {
            const Value* const name = info->find("name");
            if (name != nullptr && name->is_string()) language = name->as_string();
        }
    }
    std::string markdown;
    for (const Value& cell : cells->as_array()) {
        const Value* const type = cell.find("cell_type");
        const std::string source = lines_of_cell(cell.find("source"));
        if (trimmed(source).empty()) continue;
        if (type == nullptr || *type != Value("code")) {
            markdown += source + "\n\n";
            continue;
        }
        markdown += "~~~~~~ " + language + "\n" + source + "\n~~~~~~\n\n";
        const std::string printed = printed_by(cell);
        if (!printed.empty()) markdown += "~~~~~~\n" + printed + "\n~~~~~~\n\n";
    }
    SourceDocument document = parse_markdown(markdown);
    document.verbatim = false;  // its lines are not those of the file
    document.metadata.set("language", language);
    return document;
}

}  // namespace braid::ingest
