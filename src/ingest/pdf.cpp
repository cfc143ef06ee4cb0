#include "braid/ingest/pdf.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "braid/core/utf8.hpp"
#include "braid/ingest/markdown.hpp"
#include "braid/ingest/markup.hpp"

namespace braid::ingest {
namespace {

constexpr double kLargerThanText = 1.15;  // the size of a heading relative to the text's
constexpr double kSameSize = 1.04;        // fonts of one size differ slightly in height
constexpr double kMostOfAll = 0.25;  // a larger size that makes up more of the text is no heading
constexpr std::size_t kLongestHeading = 160;
constexpr std::size_t kFewestLetters = 3;
constexpr std::size_t kMostLevels = 6;
constexpr double kGap = 0.1;  // of a line's height: a smaller gap between words is not a space

/// One line, as pdftotext found it on the page.
struct PdfLine {
    std::uint64_t page = 0;
    bool begins_block = false;
    int height = 0;  // of most of its text, in tenths of a point
    std::string text;
};

double number_of(const MarkupToken& token, std::string_view name) {
    const std::string value = attribute_of(token, name).value_or("");
    double number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return std::isfinite(number) ? std::clamp(number, -1e6, 1e6) : 0;
}

/// Reads the output of "pdftotext -bbox-layout": pages, blocks, lines and words with their
/// positions.
class PdfLayout {
public:
    PdfLayout(std::string_view xml, DocumentBuilder& builder) : builder_(builder) {
        each_token(
            MarkupReader(xml, MarkupReader::Dialect::Xml),
            [this](const MarkupToken& token) { add_text(token); },
            [this](const MarkupToken& token) { open(token); },
            [this](const std::string& name) { close(name); });
    }

    const std::vector<PdfLine>& lines() const noexcept { return lines_; }

private:
    void add_text(const MarkupToken& token) {
        if (in_title_) add_title(without_entities(token.text));
        if (in_word_) word_ += without_entities(token.text);
    }

    /// Programs that print to PDF name themselves and their file, or nothing.
    void add_title(std::string_view title) {
        constexpr std::string_view kWord = "Microsoft Word - ";
        title = trimmed(title);
        if (title.starts_with(kWord)) title.remove_prefix(kWord.size());
        if (lower_ascii(title) != "untitled") builder_.set_title(title);
    }

    void open(const MarkupToken& token) {
        const std::string& name = token.name;
        if (name == "title") in_title_ = !token.empty;
        if (name == "meta") note(token);
        if (name == "page") ++page_;
        if (name == "block") begins_block_ = true;
        if (name == "line") {
            line_ = {.page = page_, .begins_block = begins_block_, .height = 0, .text = {}};
            heights_.clear();
            begins_block_ = false;
        }
        if (name == "word") {
            in_word_ = !token.empty;
            word_.clear();
            const double left = number_of(token, "xMin");
            const double right = number_of(token, "xMax");
            height_ = number_of(token, "yMax") - number_of(token, "yMin");
            // Lines in some scripts run to the left.
            const double gap = std::max(left - right_, left_ - right);
            if (!line_.text.empty() && gap > kGap * height_) line_.text += ' ';
            left_ = left;
            right_ = right;
        }
    }

    void close(const std::string& name) {
        if (name == "title") in_title_ = false;
        if (name == "word" && std::exchange(in_word_, false)) {
            line_.text += word_;
            heights_[static_cast<int>(std::lround(height_ * 10))] += word_.size();
        }
        if (name == "line" && !heights_.empty()) {
            line_.height = std::ranges::max_element(heights_, {}, [](const auto& entry) {
                               return entry.second;
                           })->first;
            lines_.push_back(std::move(line_));
            line_ = {};
            heights_.clear();
        }
    }

    void note(const MarkupToken& token) {
        const std::string name = attribute_of(token, "name").value_or("");
        const std::string value = attribute_of(token, "content").value_or("");
        if (name == "Author") builder_.note("author", value);
        if (name == "Subject") builder_.note("description", value);
        if (name == "Keywords") builder_.note("keywords", value);
        if (name == "CreationDate") builder_.date(value);
    }

    DocumentBuilder& builder_;
    std::vector<PdfLine> lines_;
    std::uint64_t page_ = 0;
    bool in_title_ = false;
    bool in_word_ = false;
    bool begins_block_ = false;
    PdfLine line_;
    std::string word_;
    std::map<int, std::size_t> heights_;  // of the line's words, with the bytes of each
    double height_ = 0;
    double left_ = 0;
    double right_ = 0;
};

/// The sizes used for headings, largest first: those that are clearly larger than most of the text,
/// and rare.
class HeadingSizes {
public:
    explicit HeadingSizes(const std::vector<PdfLine>& lines) {
        std::map<int, std::size_t, std::greater<>> bytes;
        std::size_t all = 0;
        for (const PdfLine& line : lines) {
            bytes[line.height] += line.text.size();
            all += line.text.size();
        }
        if (bytes.empty()) return;
        const int text = std::ranges::max_element(bytes, {}, [](const auto& entry) {
                             return entry.second;
                         })->first;
        struct Size {
            int largest;
            int smallest;
            std::size_t bytes;
        };
        std::vector<Size> sizes;
        for (const auto& [height, count] : bytes) {
            if (height < text * kLargerThanText) break;
            if (!sizes.empty() && sizes.back().smallest <= height * kSameSize) {
                sizes.back().smallest = height;
                sizes.back().bytes += count;
            } else {
                sizes.push_back({height, height, count});
            }
        }
        for (const Size& size : sizes) {
            if (static_cast<double>(size.bytes) > kMostOfAll * static_cast<double>(all)) continue;
            smallest_.push_back(size.smallest);
            largest_.push_back(size.largest);
        }
    }

    /// From 1; 0: it is text.
    std::size_t level_of(const PdfLine& line) const {
        const std::string_view text = trimmed(line.text);
        if (text.size() > kLongestHeading || text.find(". . .") != std::string_view::npos ||
            text.find("....") != std::string_view::npos || text.ends_with(',') ||
            text.ends_with(';')) {
            return 0;
        }
        const auto letters = std::ranges::count_if(text, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                   (static_cast<unsigned char>(c) & 0x80U) != 0;
        });
        if (letters < static_cast<std::ptrdiff_t>(kFewestLetters)) return 0;
        for (std::size_t i = 0; i < smallest_.size(); ++i) {
            if (line.height >= smallest_[i] && line.height <= largest_[i]) {
                return std::min(i + 1, kMostLevels);
            }
        }
        return 0;
    }

private:
    std::vector<int> smallest_;  // of each level, in tenths of a point
    std::vector<int> largest_;
};

bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

/// Rejoins a word that was hyphenated at the end of a line.
void add_line(std::string& text, std::string_view line) {
    const bool cut = text.size() > 1 && text.back() == '-' && is_lower(text[text.size() - 2]) &&
                     !line.empty() && is_lower(line.front());
    if (cut) {
        text.pop_back();
    } else if (!text.empty()) {
        text += '\n';
    }
    text += line;
}

void add_lines(DocumentBuilder& builder, const std::vector<PdfLine>& lines) {
    const HeadingSizes sizes(lines);
    std::uint64_t page = 0;
    std::string text;
    std::size_t level = 0;  // of what is in `text`
    const auto flush = [&] {
        if (text.empty()) return;
        if (level > 0) {
            builder.heading(level, text);
        } else {
            builder.block(text);
        }
        text.clear();
    };
    for (const PdfLine& line : lines) {
        const std::size_t next = sizes.level_of(line);
        if (line.begins_block || next != level || line.page != page) flush();
        if (line.page != page) {
            page = line.page;
            builder.page(page);
        }
        level = next;
        add_line(text, trimmed(line.text));
    }
    flush();
}

/// Without positions: for what is too long to be printed with them.
Result<SourceDocument> parse_pages(std::string_view bytes, const ChildLimits& limits) {
    BRAID_TRY(const std::string printed,
              run_apart({"pdftotext", "-q", "-enc", "UTF-8", "-", "-"}, bytes, limits));
    BRAID_CHECK(core::require_utf8(printed, "what pdftotext printed"));
    DocumentBuilder builder;
    std::string_view rest = printed;
    for (std::uint64_t page = 1; !rest.empty(); ++page) {
        const std::size_t end = std::min(rest.find('\f'), rest.size());
        builder.page(page);
        const SourceDocument text = parse_plain(rest.substr(0, end));
        for (const Section& section : text.sections) {
            for (const Block& block : section.blocks) builder.block(text.text_of(block));
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return builder.take();
}

}  // namespace

Result<SourceDocument> parse_pdf(std::string_view bytes, const ChildLimits& limits) {
    auto printed =
        run_apart({"pdftotext", "-q", "-enc", "UTF-8", "-bbox-layout", "-", "-"}, bytes, limits);
    if (!printed && printed.error().code == ErrorCode::NotFound) {
        return invalid_argument("PDF needs the program pdftotext (Debian: poppler-utils)");
    }
    if (!printed && printed.error().code == ErrorCode::ResourceExhausted) {
        auto pages = parse_pages(bytes, limits);
        if (!pages) return invalid_argument(pages.error().message);
        return pages;
    }
    if (!printed) return tl::unexpected<Error>(std::move(printed).error());
    BRAID_CHECK(core::require_utf8(*printed, "what pdftotext printed"));
    DocumentBuilder builder;
    const PdfLayout layout(*printed, builder);
    add_lines(builder, layout.lines());
    return builder.take();
}

}  // namespace braid::ingest
