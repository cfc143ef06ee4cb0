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

std::optional<std::string> text_member(const Object& record,
                                       std::span<const std::string_view> keys) {
    for (const std::string_view key : keys) {
        const Value* const value = record.find(key);
        if (value != nullptr && value->is_string()) return value->as_string();
    }
    return std::nullopt;
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
        if (auto text = text_member(members, kTextKeys)) {
            const auto title = text_member(members, kTitleKeys);
            builder.heading(2, title.value_or(""));
            builder.block(*text, line);
            return;
        }
    }
    std::string lines;
    add_lines(lines, record, "");
    builder.block(lines, line);
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
    BRAID_TRY(const Value whole, json::parse(text, kJsonLimits));
    DocumentBuilder builder;
    const Array* records = whole.is_array() ? &whole.as_array() : nullptr;
    Value rest = whole;
    if (whole.is_object()) {
        // {"documents": [{…}, …], …}
        for (const auto& [key, value] : whole.as_object()) {
            const bool list = value.is_array() && !value.as_array().empty() &&
                              value.as_array().front().is_object();
            if (list && (records == nullptr || records->size() < value.as_array().size())) {
                records = &value.as_array();
                rest = whole;
                rest.as_object().erase(key);
            }
        }
        if (const auto title = text_member(whole.as_object(), kTitleKeys)) {
            builder.set_title(*title);
        }
        add_record(builder, rest, 1);
    }
    if (records != nullptr) {
        for (const Value& record : *records) add_record(builder, record, 0);
    } else if (!whole.is_object()) {
        add_record(builder, whole, 1);
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
