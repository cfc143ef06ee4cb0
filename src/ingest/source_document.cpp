#include "braid/ingest/source_document.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "braid/core/rfc3339.hpp"
#include "braid/core/utf8.hpp"
#include "braid/json/json.hpp"

namespace braid::ingest {
namespace {

constexpr std::string_view kSpaces = " \t\n\r\f\v";

/// Of the metadata of a document, which each of its chunks repeats: so much in any case, and so
/// much in all its chunks together, if these are short.
constexpr std::size_t kMetadataOfOne = 2048;
constexpr std::size_t kMetadataOfAll = std::size_t{256} << 10;
constexpr std::size_t kShortChunk = 256;  // bytes
constexpr std::size_t kLeastCut = 100;    // a text is not cut shorter than this, but left out

std::string joined_headings(const std::vector<std::pair<std::size_t, std::string>>& path) {
    std::string text;
    for (const auto& [level, heading] : path) join_heading(text, heading);
    return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t at = text.find_first_not_of(kSpaces); at != std::string_view::npos;
         at = text.find_first_not_of(kSpaces, at)) {
        const std::size_t end = std::min(text.find_first_of(kSpaces, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

/// "Tue, 3 Mar 2020 10:22:01 +0100 (CET)", the day's name or the zone perhaps missing.
std::optional<std::string> mail_date_as_rfc3339(std::string_view text) {
    constexpr std::array<std::string_view, 12> months = {"jan", "feb", "mar", "apr", "may", "jun",
                                                         "jul", "aug", "sep", "oct", "nov", "dec"};
    std::vector<std::string_view> words = words_of(text);
    if (!words.empty() && words.front().ends_with(',')) words.erase(words.begin());
    if (words.size() < 4) return std::nullopt;
    const std::string name = lower_ascii(words[1].substr(0, 3));
    const auto month = std::ranges::find(months, name);
    std::string day(words[0]);
    const std::string_view year = words[2];
    if (month == months.end() || year.size() != 4 || day.empty() || day.size() > 2) {
        return std::nullopt;
    }
    if (day.size() == 1) day.insert(day.begin(), '0');
    std::string time(words[3]);
    if (time.size() == 5) time += ":00";
    std::string zone = "Z";
    if (words.size() > 4 && words[4].size() == 5 && (words[4][0] == '+' || words[4][0] == '-')) {
        zone = std::string(words[4].substr(0, 3)) + ":" + std::string(words[4].substr(3));
    }
    const auto number = static_cast<std::size_t>(month - months.begin()) + 1;
    return std::string(year) + (number < 10 ? "-0" : "-") + std::to_string(number) + "-" + day +
           "T" + time + zone;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

std::string squeezed(std::string_view text) {
    std::string out;
    for (const std::string_view word : words_of(text)) {
        if (!out.empty()) out += ' ';
        out += word;
    }
    return out;
}

std::string lower_ascii(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

std::optional<Timestamp> parse_date(std::string_view text) {
    std::string date(trimmed(text));
    if (date.size() == 10) date += "T00:00:00Z";
    if (date.size() > 10 && date[10] == ' ') date[10] = 'T';
    if (date.size() == 16) date += ":00";
    if (date.size() == 19) date += "Z";
    if (const auto time = core::parse_rfc3339(date)) return *time;
    if (const auto mail = mail_date_as_rfc3339(text)) {
        if (const auto time = core::parse_rfc3339(*mail)) return *time;
    }
    return std::nullopt;
}

std::vector<std::string> FailedLines::as_warnings(const std::string& file) const {
    std::vector<std::string> warnings;
    for (const std::string& line : first) warnings.push_back(file + ":" + line);
    const std::uint64_t rest = count - std::min<std::uint64_t>(count, first.size());
    if (rest > 0) {
        warnings.push_back(file + ": " + std::to_string(rest) + (first.empty() ? "" : " more") +
                           (rest == 1 ? " line" : " lines") + " could not be read");
    }
    return warnings;
}

void DocumentBuilder::set_title(std::string_view title) {
    if (document_.title) return;
    std::string text = squeezed(title);
    if (text.empty()) return;
    if (text.size() > kMostHeadingBytes) {
        block(text);
        text.resize(core::cut_at_most(text, kMostHeadingBytes).size());
    }
    document_.title = std::move(text);
}

void DocumentBuilder::heading(std::size_t level, std::string_view text) {
    std::string heading = squeezed(text);
    if (heading.size() > kMostHeadingBytes) return block(text);
    if (bare_ && level <= bare_->first) add_bare_heading();
    open_ = false;
    if (!heading.empty()) bare_.emplace(level, heading);
    if (level == 1 && !document_.title) {
        set_title(heading);
        path_.clear();
        return;
    }
    while (!path_.empty() && path_.back().first >= level) path_.pop_back();
    if (level == 1 && document_.title == heading) return;
    if (!heading.empty()) path_.emplace_back(level, std::move(heading));
}

void DocumentBuilder::add_bare_heading() {
    const std::string text = std::move(bare_->second);
    block(text);
}

SourceDocument DocumentBuilder::take() {
    if (bare_) add_bare_heading();
    return std::move(document_);
}

void DocumentBuilder::page(std::uint64_t number) {
    if (bare_) add_bare_heading();
    page_ = number;
    open_ = false;
}

void DocumentBuilder::block(std::string_view text, std::uint64_t line) {
    text = trimmed(text);
    if (text.empty()) return;
    bare_.reset();
    if (!open_) {
        Section& section = document_.sections.emplace_back();
        if (!path_.empty()) section.heading = joined_headings(path_);
        section.page = page_;
        open_ = true;
    }
    if (!document_.text.empty()) document_.text += "\n\n";
    const std::size_t begin = document_.text.size();
    document_.text += text;
    document_.sections.back().blocks.push_back({begin, document_.text.size(), line});
}

void join_heading(std::string& path, std::string_view heading) {
    if (!path.empty()) path += kHeadingSeparator;
    path += heading;
    while (path.size() > kMostPathBytes) {
        const std::size_t end = path.find(kHeadingSeparator);
        if (end == std::string::npos) {
            path.resize(core::cut_at_most(path, kMostPathBytes).size());
            return;
        }
        path.erase(0, end + kHeadingSeparator.size());
    }
}

std::vector<std::string> bound_metadata(SourceDocument& document) {
    const std::size_t chunks = document.text.size() / kShortChunk + 1;
    const std::size_t most = kMetadataOfOne + kMetadataOfAll / chunks;
    std::vector<std::pair<std::size_t, std::string>> sizes;
    std::size_t sum = 0;
    for (const auto& [key, value] : document.metadata) {
        const std::size_t size =
            value.is_string() ? value.as_string().size() : json::print(value).size();
        sizes.emplace_back(key.size() + size, key);
        sum += sizes.back().first;
    }
    std::ranges::stable_sort(sizes, std::greater(), [](const auto& one) { return one.first; });
    std::vector<std::string> cut;
    for (const auto& [size, key] : sizes) {
        if (sum <= most) break;
        const std::size_t excess = sum - most;
        Value& value = *document.metadata.find(key);
        cut.push_back(key);
        if (value.is_string() && value.as_string().size() >= excess + kLeastCut) {
            std::string& text = value.as_string();
            text.resize(core::cut_at_most(text, text.size() - excess).size());
            break;
        }
        sum -= size;
        document.metadata.erase(key);
    }
    return cut;
}

void DocumentBuilder::note(std::string_view key, std::string_view value) {
    std::string text(core::cut_at_most(squeezed(value), kMostNoteBytes));
    if (!text.empty() && document_.metadata.find(key) == nullptr) {
        document_.metadata.set(key, std::move(text));
    }
}

void DocumentBuilder::date(std::string_view value) {
    if (document_.created_at) return;
    document_.created_at = parse_date(value);
    if (!document_.created_at) note("date", value);
}

}  // namespace braid::ingest
