// Every format braid reads, and what is no such file.

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/core/utf8.hpp"
#include "braid/ingest/chunker.hpp"
#include "braid/ingest/compression.hpp"
#include "braid/ingest/html.hpp"
#include "braid/ingest/pdf.hpp"
#include "braid/ingest/read_source.hpp"
#include "braid/ingest/records.hpp"
#include "braid/ingest/structured_text.hpp"
#include "braid/ingest/zip_archive.hpp"
#include "core/temporary_folder.hpp"
#include "ingest/ordinary_files.hpp"
#include "ingest/sources.hpp"

namespace braid::ingest {
namespace {

SourceDocument read(const std::string& name, const std::string& bytes) {
    auto source = read_source(name, bytes);
    EXPECT_TRUE(source) << name << ": " << (source ? "" : source.error().message);
    return source ? std::move(source->document) : SourceDocument{};
}

std::string block(const SourceDocument& document, std::size_t section, std::size_t index = 0) {
    if (section >= document.sections.size() || index >= document.sections[section].blocks.size()) {
        return "(none)";
    }
    return std::string(document.text_of(document.sections[section].blocks[index]));
}

std::vector<std::string> texts(const SourceDocument& document) {
    std::vector<std::string> out;
    for (const Section& section : document.sections) {
        for (const Block& one : section.blocks) {
            out.push_back(section.heading.value_or("") + ": " +
                          std::string(trimmed(document.text_of(one))));
        }
    }
    return out;
}

TEST(Formats, ASheetOfOneRowIsFound) {
    const std::string sheet =
        zipped({{"xl/workbook.xml", "<workbook><sheets><sheet name=\"S\"/></sheets></workbook>"},
                {"xl/worksheets/sheet1.xml",
                 "<worksheet><sheetData><row><c><v>Salt</v></c></row></sheetData></worksheet>"}});
    EXPECT_EQ(texts(read("a.xlsx", sheet)), std::vector<std::string>{"S: Salt"});
}

TEST(Formats, AHeadingWithNothingBelowItIsFound) {
    using Texts = std::vector<std::string>;
    const Texts wanted{"Salt > Sea: Sea", "Salt > Rock: Mined.", "Pepper: Pepper"};
    EXPECT_EQ(texts(read("a.md", "# T\n## Salt\n### Sea\n### Rock\nMined.\n\nPepper\n------\n")),
              wanted);
    EXPECT_EQ(
        texts(
            read("a.html",
                 "<html><h1>T</h1><h2>Salt</h2><h3>Sea</h3><h3>Rock</h3><p>Mined.<h2>Pepper</h2>")),
        wanted);
    EXPECT_EQ(texts(read("a.org", "* Salt\n** Sea\n** Rock\nMined.\n* Pepper\n")).size(), 3U);
    EXPECT_EQ(texts(read("a.md", "# Only a title #\n")), Texts{": Only a title"});
    const SourceDocument last = read("a.md", "text\n\n  ## Später ##\n");
    EXPECT_EQ(last.text.substr(last.sections.back().blocks[0].begin, 7), "Später");
}

TEST(Formats, OfficeDocumentsKeepHeadingsTablesAndProperties) {
    const SourceDocument word = read("a.docx", docx("One < two."));
    EXPECT_EQ(word.title, "The Report");
    EXPECT_EQ(*word.metadata.find("author"), Value("Ada"));
    EXPECT_TRUE(word.created_at);
    ASSERT_EQ(word.sections.size(), 1U);
    EXPECT_EQ(word.sections[0].heading, "Part one");
    EXPECT_EQ(block(word, 0, 1), "Left | A & B |");
    const SourceDocument slides = read("a.pptx", pptx("Go."));
    ASSERT_EQ(slides.sections.size(), 3U);
    EXPECT_EQ(slides.sections[1].heading, "Plan");
    EXPECT_EQ(slides.sections[1].page, 2U);
    EXPECT_EQ(slides.sections[2].heading, "Last");
    const SourceDocument sheet = read("a.xlsx", xlsx("many"));
    ASSERT_EQ(sheet.sections.size(), 1U);
    EXPECT_EQ(sheet.sections[0].heading, "Stock");
    EXPECT_EQ(block(sheet, 0), "Item: 7\nNote: many");
    const SourceDocument book = read("a.epub", epub("End."));
    EXPECT_EQ(book.title, "The Book");
    ASSERT_EQ(book.sections.size(), 2U);
    EXPECT_EQ(book.sections[1].heading, "Second");
    // By what they hold, whatever they are called.
    EXPECT_EQ(read_source("letter", docx("x"))->format, "docx");
    EXPECT_FALSE(read_source("a.zip", zipped({{"a.bin", "x"}})));
}

TEST(Formats, WordsHeadingsAreKnownByTheirIdsWhereNoStyleDescribesThem) {
    const SourceDocument report = read(
        "a.docx",
        zipped({{"[Content_Types].xml", "<Types/>"},
                {"word/document.xml",
                 "<w:document><w:body><w:p><w:pPr><w:pStyle w:val=\"Heading2\"/></w:pPr><w:r><w:t>"
                 "Fares</w:t></w:r></w:p><w:p><w:pPr><w:pStyle w:val=\"BodyText\"/></w:pPr><w:r>"
                 "<w:t>Nine crowns.</w:t></w:r></w:p></w:body></w:document>"}}));
    ASSERT_EQ(report.sections.size(), 1U);
    EXPECT_EQ(report.sections[0].heading, "Fares");
    EXPECT_EQ(block(report, 0), "Nine crowns.");
}

TEST(Formats, PagesKeepTheirMainText) {
    const SourceDocument page = parse_html(
        "<!DOCTYPE html><html lang=en><head><title>A &amp; B</title><meta name=author "
        "content='Ada'><meta property=\"article:published_time\" content=\"2024-05-01\"><link "
        "rel=canonical "
        "href=\"https://example.org/a\"><style>p{}</style></head>\n<body><nav>Menu<p>x</nav>\n"
        "<h1>Head</h1>\n<p>One<br>two &mdash; three.</p><script>if (a < b) "
        "{}</script>\n<h2>Sub</h2><ul><li>a"
        "<li>b</ul><table><tr><th>k<th>v<tr><td>1<td>2</table><pre>x\n  y</pre><footer>F</footer>");
    EXPECT_EQ(page.title, "A & B");
    EXPECT_TRUE(page.created_at);
    EXPECT_EQ(*page.metadata.find("author"), Value("Ada"));
    EXPECT_EQ(*page.metadata.find("url"), Value("https://example.org/a"));
    ASSERT_EQ(page.sections.size(), 2U);
    EXPECT_EQ(page.sections[0].heading, "Head");
    EXPECT_EQ(block(page, 0), "One\ntwo — three.");
    EXPECT_EQ(page.sections[0].blocks[0].line, 4U);
    EXPECT_EQ(page.sections[1].heading, "Head > Sub");
    EXPECT_EQ(block(page, 1, 0), "- a\n- b");
    EXPECT_EQ(block(page, 1, 1), "k | v\n1 | 2");
    EXPECT_EQ(block(page, 1, 2), "x\n  y");
    const SourceDocument anchors = parse_html(
        "<h1>Guide<a class=headerlink href=#g>¶</a></h1><h2><a href=#c>C#</a> <a href=#x>#</a></h2>"
        "<p>Text.</p>");
    EXPECT_EQ(anchors.title, "Guide");
    EXPECT_EQ(anchors.sections[0].heading, "C#");
    EXPECT_EQ(block(parse_html("<div>out</div><main><p>in</p></main>after"), 0), "in");
    EXPECT_EQ(read("a.html", "<html><meta charset=\"iso-8859-5\"><p>\xBF\xE0\xD8\xD2\xD5\xE2").text,
              "Привет");
}

TEST(Formats, RecordsAreTextsUnderTheirNames) {
    EXPECT_EQ(block(parse_csv("a;b\n1;\"x \"\"y\"\"\nz\"\n"), 0), "a: 1\nb: x \"y\" z");
    EXPECT_EQ(parse_csv("a,b\n1,2\n3,4").sections[0].blocks[1].line, 3U);
    FailedLines failed;
    const SourceDocument lines = parse_json_lines(
        "{\"title\": \"T\", \"text\": \"one\"}\nnot json\n{\"k\": {\"x\": [1, 2]}}\n", failed);
    EXPECT_EQ(failed.count, 1U);
    EXPECT_EQ(failed.as_warnings("a.jsonl"),
              std::vector<std::string>{"a.jsonl:2: column 1: expected a value, found 'not'"});
    EXPECT_EQ(lines.sections[0].heading, "T");
    EXPECT_EQ(block(lines, 0, 1), "k.x: 1\nk.x: 2");
    EXPECT_FALSE(read_source("a.json", "{broken"));
    const auto langchain =
        parse_json(R"([{"page_content": "words", "metadata": {"source": "x"}}])");
    EXPECT_EQ(block(*langchain, 0), "words\n\nmetadata.source: x");
}

TEST(Formats, MailsAndStructuredTexts) {
    const SourceDocument mail = parse_mail(
        "Subject: =?iso-8859-1?B?R3L832Uh?=\nFrom: a@b.c\nDate: 3 Mar 2020 10:22 "
        "+0000\nContent-Type: "
        "multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\nContent-Transfer-Encoding: "
        "base64\n\nPHA+SGk8L3A+\n--b\nContent-Type: image/png; name=\"p.png\"\n\nx\n--b--\n");
    EXPECT_EQ(mail.title, "Grüße!");
    EXPECT_TRUE(mail.created_at);
    EXPECT_EQ(block(mail, 0, 0), "Hi");
    EXPECT_EQ(block(mail, 0, 1), "Attachments: p.png");
    const SourceDocument rst = parse_rst(
        "=====\nTitle\n=====\n\n:Author: Ada\n\nPart\n----\n\nText\nmore.\n\n.. code::\n\n   x = "
        "1\n");
    EXPECT_EQ(rst.title, "Title");
    EXPECT_EQ(*rst.metadata.find("author"), Value("Ada"));
    ASSERT_EQ(rst.sections.size(), 2U);
    EXPECT_EQ(rst.sections[1].heading, "Part");
    EXPECT_EQ(block(rst, 1, 1), ".. code::\n\n   x = 1");
    EXPECT_EQ(rst.sections[1].blocks[0].line, 10U);
    const SourceDocument org =
        parse_org("#+TITLE: T\n* One\nA\n** Two\n#+begin_src\nx\n\ny\n#+end_src\n");
    EXPECT_EQ(org.title, "T");
    EXPECT_EQ(org.sections[1].heading, "One > Two");
    EXPECT_EQ(org.sections[1].blocks.size(), 1U);
}

TEST(Formats, PdfsHavePages) {
    if (!has_pdftotext()) GTEST_SKIP() << "pdftotext is not installed (poppler-utils)";
    const SourceDocument document = read("a.pdf", pdf("On the second page."));
    ASSERT_EQ(document.sections.size(), 2U);
    EXPECT_EQ(document.sections[1].page, 2U);
    EXPECT_EQ(block(document, 1), "On the second page.");
    EXPECT_FALSE(read_source("a.pdf", "%PDF-1.4\nnothing"));
}

TEST(Formats, PdfsHaveHeadingsBySize) {
    if (!has_pdftotext()) GTEST_SKIP() << "pdftotext is not installed (poppler-utils)";
    const auto line = [](int size, int y, const std::string& text) {
        return "BT /F1 " + std::to_string(size) + " Tf 72 " + std::to_string(y) + " Td (" + text +
               ") Tj ET ";
    };
    std::string first = line(24, 740, "The Harbour") + line(16, 700, "Piers");
    for (int i = 0; i < 9; ++i) {
        first += line(10, 660 - 12 * i, "Ships lie at the eastern pier in winter, num-");
    }
    const std::string second = line(10, 720, "bered and named.") + line(16, 690, "Cranes") +
                               line(10, 660, "The blue crane lifts forty tonnes.");
    const SourceDocument document = read("a.pdf", pdf_of({first, second}));
    EXPECT_EQ(document.title, "The Harbour");
    ASSERT_EQ(document.sections.size(), 3U);
    EXPECT_EQ(document.sections[0].heading, "Piers");
    EXPECT_EQ(document.sections[0].page, 1U);
    EXPECT_EQ(document.sections[1].heading, "Piers");
    EXPECT_EQ(document.sections[1].page, 2U);
    EXPECT_EQ(document.sections[2].heading, "Cranes");
    EXPECT_EQ(block(document, 2), "The blue crane lifts forty tonnes.");
    // What is large and much is the text itself.
    EXPECT_EQ(
        read("a.pdf", pdf_of({line(24, 700, "Large words all over") + line(10, 600, "x")})).title,
        std::nullopt);
}

TEST(Formats, AProgramApartCostsItsFileOnly) {
    ChildLimits limits;
    limits.time = std::chrono::seconds(1);
    EXPECT_EQ(run_apart({"no-such-program"}, "", limits).error().code, ErrorCode::NotFound);
    EXPECT_EQ(*run_apart({"cat"}, std::string(1'000'000, 'x'), limits),
              std::string(1'000'000, 'x'));
    EXPECT_TRUE(run_apart({"true"}, std::string(1'000'000, 'x'), limits));  // reads nothing
    EXPECT_FALSE(run_apart({"sleep", "30"}, "", limits));
    EXPECT_FALSE(run_apart({"sh", "-c", "kill -SEGV $$"}, "", limits));
    limits.output_bytes = 1000;
    EXPECT_FALSE(run_apart({"cat"}, std::string(5000, 'x'), limits));
}

TEST(Formats, BombsAreBounded) {
    const std::string bomb = deflated(std::string(50'000'000, 'x'), 31);
    EXPECT_FALSE(decompressed(bomb, 1'000'000));
    EXPECT_FALSE(read_source("a.txt.gz", bomb, {.unpacked_bytes = 1'000'000}));
    const std::string zip = zipped({{"word/document.xml", std::string(50'000'000, 'x')}});
    EXPECT_FALSE(read_source("a.docx", zip, {.unpacked_bytes = 1'000'000}));
    const std::string laughs =
        "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><l>&b;</l>";
    EXPECT_EQ(block(read("a.xml", laughs), 0), "&b;");
    EXPECT_FALSE(read_source("a.json", std::string(100'000, '[')));
}

TEST(Formats, UnpackingIsBoundedWhateverTheBytesClaim) {
    // Members one after the other, none of which holds anything.
    std::string members;
    const std::string nothing = deflated("", 31);
    while (members.size() < 2'000'000) members += nothing;
    EXPECT_EQ(*decompressed(members, 1000), "");
    // A thousand bombs in a row count together.
    std::string bombs;
    const std::string bomb = deflated(std::string(100'000, 'x'), 31);
    for (int i = 0; i < 1000; ++i) bombs += bomb;
    EXPECT_FALSE(decompressed(bombs, 1'000'000));
    // A frame that asks for a window of 2 GiB: descriptor 0, window 2^31, one empty last block.
    const std::string window("\x28\xB5\x2F\xFD\x00\xA8\x01\x00\x00", 9);
    EXPECT_FALSE(decompressed(window, 1'000'000));
    // Parts that share their bytes, as in overlapping bombs, are each counted.
    std::vector<std::pair<std::string, std::string>> parts;
    for (int i = 0; i < 2000; ++i) {
        parts.emplace_back("p" + std::to_string(i), std::string(10'000, 'x'));
    }
    const std::string zip = zipped(parts);
    auto archive = ZipArchive::open(zip, 1'000'000);
    ASSERT_TRUE(archive);
    int read = 0;
    for (const auto& [name, text] : parts) read += archive->read(name).has_value();
    EXPECT_EQ(read, 100);
}

TEST(Formats, WhatChunksRepeatIsBounded) {
    const std::string much(300'000, 'q');
    const std::string words = [] {
        std::string text;
        while (text.size() < 300'000) text += "q ";
        return text;
    }();
    for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
             {"a.md", "# " + much + "\n\n" + words},
             {"b.md", "# " + words + "\n" + words},
             {"c.md", much + "\n===\n\n## " + words + "\n\n" + words},
             {"d.md", "---\ntitle: " + words + "\n---\n" + words},
             {"e.html", "<title>" + words + "</title><meta name=author content=\"" + words +
                            "\"><h1>" + words + "</h1><p>" + words},
             {"f.org", "#+TITLE: " + words + "\n* " + words + "\n" + words},
             {"g.eml", "Subject: " + words + "\nFrom: " + words + "\n\n" + words}}) {
        const auto source = read_source(name, text);
        ASSERT_TRUE(source) << name;
        const auto chunks = chunk_document("d", source->document, {.max_tokens = 256});
        ASSERT_FALSE(chunks.empty()) << name;
        EXPECT_LE(chunks[0].title.value_or("").size(), kMostHeadingBytes) << name;
        EXPECT_LE(chunks.back().section_title.value_or("").size(), 2 * kMostHeadingBytes) << name;
        const Value* const author = chunks[0].metadata.find("author");
        EXPECT_LE(author == nullptr ? 0 : author->as_string().size(), kMostNoteBytes) << name;
        std::size_t repeated = 0;
        for (const Chunk& chunk : chunks) {
            repeated += chunk.title.value_or("").size() + chunk.section_title.value_or("").size();
            for (const auto& [key, value] : chunk.metadata) {
                repeated += key.size() + (value.is_string() ? value.as_string().size() : 8);
            }
        }
        EXPECT_LE(repeated, 16 * text.size()) << name << ", " << chunks.size() << " chunks";
    }
}

TEST(Formats, ManyLevelsOfHeadingsAreBounded) {
    std::string outline;
    for (std::size_t level = 1; level < 400; ++level) {
        outline += std::string(level, '*') + " heading " + std::string(300, 'h') + "\nwords\n";
    }
    const SourceDocument document = read("a.org", outline);
    ASSERT_EQ(document.sections.size(), 399U);
    for (const Section& section : document.sections) {
        EXPECT_LE(section.heading.value_or("").size(), kMostPathBytes);
    }
}

TEST(Formats, MetadataStaysInProportionToTheText) {
    std::string front = "---\ntitle: T\nkept: short\n";
    for (int i = 0; i < 50; ++i) {
        front += "key" + std::to_string(i) + ": " + std::string(4000, 'v') + "\n";
    }
    front += "list: [" + std::string(2000, 'a') + ", b]\n---\n";
    const auto source = read_source("a.md", front + std::string(100'000, 'w'));
    ASSERT_TRUE(source);
    std::size_t bytes = 0;
    for (const auto& [key, value] : source->document.metadata) {
        bytes += value.is_string() ? value.as_string().size() : 0;
    }
    EXPECT_LE(bytes, 4096U);
    EXPECT_EQ(*source->document.metadata.find("kept"), Value("short"));
    ASSERT_EQ(source->warnings.size(), 1U);
    EXPECT_NE(source->warnings[0].find("was cut: key10, key11, "), std::string::npos)
        << source->warnings[0];
    // What is ordinary stays.
    const auto ordinary =
        read_source("b.md", "---\nsummary: " + std::string(1500, 's') + "\ntags: [a, b]\n---\n" +
                                std::string(1'000'000, 'w'));
    ASSERT_TRUE(ordinary);
    EXPECT_TRUE(ordinary->warnings.empty());
    EXPECT_EQ(ordinary->document.metadata.find("summary")->as_string().size(), 1500U);
}

TEST(Formats, WhatIsCutFromATitleIsText) {
    const std::string title = "word " + std::string(600, 't') + " last";
    const SourceDocument page = read("a.html", "<title>" + title + "</title><p>Text.");
    EXPECT_EQ(page.title.value_or("").size(), kMostHeadingBytes);
    EXPECT_EQ(block(page, 0), title);
}

TEST(Formats, AttachedTextsOfMailsAreRead) {
    const SourceDocument mail = read(
        "a.eml",
        "Subject: Two files\nContent-Type: multipart/mixed; boundary=xx\n\n--xx\nContent-Type: "
        "text/plain\n\nSee below.\n--xx\nContent-Type: text/csv; name=\"a.csv\"\n"
        "Content-Disposition: attachment; filename=\"a.csv\"\nContent-Transfer-Encoding: "
        "base64\n\nc2FsdCxzZWE=\n--xx\nContent-Type: text/html\nContent-Disposition: "
        "attachment\n\n<p>A page.</p>\n--xx\nContent-Type: image/png\nContent-Disposition: "
        "attachment; filename=p.png\n\nx\n--xx--\n");
    EXPECT_EQ(texts(mail),
              (std::vector<std::string>{": See below.", "a.csv: salt,sea", "text/html: A page.",
                                        ": Attachments: p.png"}));
}

TEST(Formats, RecordsKeepWhatStandsBesideTheirText) {
    const std::string record =
        R"({"_id": "7", "title": "T", "text": "Words.", "price": 3, "tags": ["a", "b"], )"
        R"("vector": [1, 2.5], "none": null, "metadata": {"by": "Ann"}})";
    const std::vector<std::string> wanted{
        "T: Words.\n\n_id: 7\nprice: 3\ntags: a\ntags: b\nmetadata.by: Ann"};
    EXPECT_EQ(texts(read("a.json", "[" + record + "]")), wanted);
    EXPECT_EQ(texts(read("a.jsonl", record)), wanted);
}

TEST(Formats, RecordsOfJsonKnowTheirLines) {
    const auto lines = [](const std::string& text) {
        std::vector<std::uint64_t> out;
        const SourceDocument document = read("a.json", text);
        for (const Section& section : document.sections) {
            for (const Block& one : section.blocks) out.push_back(one.line);
        }
        return out;
    };
    using Lines = std::vector<std::uint64_t>;
    EXPECT_EQ(lines("[\n  {\"text\": \"a, [b] \\\" {\"},\n\n  {\"x\": [1, 2]\n},\n3, \"d\"]"),
              (Lines{2, 4, 6, 6}));
    EXPECT_EQ(
        lines("{\"name\": \"n\",\n\"few\": [{\"a\": 1}],\n\"many\": [\n{\"text\": \"many\"},\n"
              "{\"text\": \"b\",\n\"many\": [{}]},\n{\"text\": \"c\"}], \"last\": [[1]]}"),
        (Lines{1, 4, 5, 7}));
    EXPECT_EQ(lines("[]"), Lines{});
}

/// Cut, flipped and random bytes of every format: an error or a document, never more.
TEST(Formats, DamagedFilesNeverDoHarm) {
    const auto files = ordinary_files(22);
    for (unsigned seed = 0; seed < 40; ++seed) {
        std::mt19937 random(seed);
        for (const auto& [name, whole] : files) {
            if (name.ends_with(".pdf")) continue;
            std::string bytes = whole.substr(0, random() % (whole.size() + 1));
            if (seed % 2 == 0) bytes = whole;
            for (int i = 0; i < 3 && !bytes.empty(); ++i) {
                bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
            }
            const auto source = read_source(name, bytes);
            if (!source) continue;
            EXPECT_TRUE(core::is_valid_utf8(source->document.text)) << name << ", seed " << seed;
            for (const Section& section : source->document.sections) {
                for (const Block& part : section.blocks) {
                    ASSERT_LE(part.begin, part.end);
                    ASSERT_LE(part.end, source->document.text.size());
                }
            }
        }
    }
}

}  // namespace
}  // namespace braid::ingest
