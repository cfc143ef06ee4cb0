#include "braid/ingest/encoding.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>
#include <iconv.h>

#include "braid/core/utf8.hpp"
#include "braid/ingest/code.hpp"
#include "braid/ingest/format.hpp"
#include "braid/ingest/front_matter.hpp"
#include "braid/ingest/read_source.hpp"

namespace braid::ingest {
namespace {

std::string encoded(std::string text, const char* encoding) {
    const iconv_t converter = iconv_open(encoding, "UTF-8");
    std::string out(text.size() * 4, '\0');
    char* from = text.data();
    char* to = out.data();
    std::size_t left = text.size();
    std::size_t room = out.size();
    EXPECT_NE(iconv(converter, &from, &left, &to, &room), static_cast<std::size_t>(-1));
    iconv_close(converter);
    out.resize(out.size() - room);
    return out;
}

void expect_read(const std::string& text, const char* encoding) {
    const DecodedText decoded = decode_text(encoded(text, encoding));
    EXPECT_EQ(decoded.text, text) << encoding << " taken for " << decoded.encoding;
    EXPECT_TRUE(decoded.exact);
}

TEST(Encodings, AFileChoosesAmongThoseOfTheWeb) {
    const std::string text = "Größe und Maß, déjà vu, naïve.";
    for (const char* name : {"iso-8859-1", "ISO_8859-15", "Windows-1252", "latin1", "cp1252"}) {
        EXPECT_EQ(decode_text(encoded(text, name), name).encoding, name);
    }
    EXPECT_EQ(decode_text(encoded("Привет, мир", "koi8-r"), "KOI8-R").text, "Привет, мир");
    // Code of the C library that hardly anybody uses, and what is no name at all.
    for (const std::string name :
         {"IBM1364", "ISO-2022-CN-EXT", "UTF-7", "TSCII", "windows-1252//TRANSLIT", "../../x",
          "cp99999", "", "cp1252\n"}) {
        EXPECT_EQ(decode_text(encoded(text, "windows-1252"), name).encoding, "windows-1252")
            << name;
    }
}

TEST(Encodings, AreFoundByTheirBytes) {
    const std::string japanese =
        "日本語の文章です。これはテストのための短い文で、ひらがなとカタカナと漢字が混ざっています"
        "。";
    expect_read(japanese, "SHIFT_JIS");
    expect_read(japanese, "EUC-JP");
    expect_read(japanese, "ISO-2022-JP");
    expect_read("这是一个用来测试编码检测的中文段落。我们希望它被正确地识别出来，而不是变成乱码。",
                "GB18030");
    expect_read("這是一個用來測試編碼偵測的中文段落。我們希望它被正確地識別出來，而不是變成亂碼。",
                "BIG5");
    expect_read("이 문장은 인코딩 감지를 시험하기 위한 한국어 문장입니다. 잘 읽혀야 합니다.",
                "EUC-KR");
    expect_read("Это обычный русский текст, который должен читаться без ошибок.", "WINDOWS-1251");
    expect_read("Это обычный русский текст, который должен читаться без ошибок.", "KOI8-R");
    expect_read("Die Größe der Übung läßt sich nicht schätzen; déjà vu à Orléans.", "WINDOWS-1252");
    // Few words, accents side by side: no Cyrillic.
    for (const char* const text : {"Grüße aus Köln, sehr schön.", "Füße, Größe, Maße, süß",
                                   "créée déçue", "Ærø, blåbærøl"}) {
        expect_read(text, "WINDOWS-1252");
    }
    expect_read("Привет, мир! README и API.", "WINDOWS-1251");
    expect_read("She said “no” — twice.", "WINDOWS-1252");
    expect_read("Plain words in wide characters, without a mark.", "UTF-16LE");
    expect_read("Plain words in wide characters, without a mark.", "UTF-16BE");
    EXPECT_EQ(decode_text("\xFF\xFE" + encoded("Größe", "UTF-16LE")).text, "Größe");
    EXPECT_EQ(decode_text("\xEF\xBB\xBFGröße").text, "Größe");
    EXPECT_EQ(decode_text("Größe").encoding, "UTF-8");
    EXPECT_EQ(decode_text(encoded("Größe", "ISO-8859-15"), "iso-8859-15").encoding, "iso-8859-15");
    EXPECT_EQ(decode_text("").text, "");
}

TEST(Encodings, AMarkSaysHowWideCharactersAre) {
    const std::string text = "Größe, 日本語, 😀.";
    for (const char* name : {"UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"}) {
        const DecodedText decoded = decode_text(encoded("\xEF\xBB\xBF" + text, name));
        EXPECT_EQ(decoded.text, text) << name;
        EXPECT_EQ(decoded.encoding, name);
        const auto file = read_source("a.txt", encoded("\xEF\xBB\xBF" + text, name));
        ASSERT_TRUE(file) << name;
        EXPECT_EQ(file->document.text, text);
    }
}

TEST(Encodings, DamagedUtf8StaysUtf8) {
    for (const std::string text :
         {"Гавань открывается на рассвете и закрывается.", "Grüße aus Köln, sehr schön, naïve.",
          "これは日本語の文書です。港は夜明けに開きます。", "这是一个用来测试编码检测的中文段落。",
          "이 문장은 인코딩 감지를 시험하기 위한 한국어 문장입니다."}) {
        for (const std::size_t from : {0U, 1U, 2U}) {
            for (std::size_t less = 0; less < 4; ++less) {
                std::string bytes = text.substr(from, text.size() - from - less);
                if (core::is_valid_utf8(bytes)) continue;
                const DecodedText decoded = decode_text(bytes);
                EXPECT_EQ(decoded.encoding, "UTF-8") << text << " " << from << " " << less;
                EXPECT_FALSE(decoded.exact);
                EXPECT_TRUE(core::is_valid_utf8(decoded.text));
                const std::string inner = text.substr(6, text.size() / 2);
                const std::size_t begin = inner.find_first_of(" ");
                if (begin != std::string::npos) {
                    EXPECT_NE(decoded.text.find(inner.substr(begin, inner.rfind(' ') - begin)),
                              std::string::npos)
                        << decoded.text;
                }
            }
        }
        std::string stray = text;
        stray[text.size() / 2] = '\xFF';
        EXPECT_EQ(decode_text(stray).encoding, "UTF-8") << text;
        EXPECT_NE(decode_text(stray).text.find("\xEF\xBF\xBD"), std::string::npos);
    }
    // What says that it is UTF-8 and has as many good characters as bad ones.
    EXPECT_EQ(decode_text("some plain gr\xC3\xBC\xC3 words and some more", "utf-8").encoding,
              "UTF-8");
    // Colours of a terminal are no Japanese.
    const DecodedText log = decode_text("\x1B[31mGrüße\x1B[0m");
    EXPECT_EQ(log.encoding, "UTF-8");
    EXPECT_TRUE(log.exact);
}

TEST(Encodings, LinesMayEndAsOnOldMacintoshes) {
    const auto file = read_source("a.csv", "name,city\rAnn,Oslo\rBob,Bern");
    ASSERT_TRUE(file);
    ASSERT_EQ(file->document.sections.size(), 1U);
    EXPECT_EQ(file->document.sections[0].blocks.size(), 2U);
    EXPECT_EQ(file->document.sections[0].blocks[1].line, 3U);
}

TEST(Encodings, WhateverTheBytesTheTextIsUtf8) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        std::mt19937 random(seed);
        std::string bytes;
        for (auto i = random() % 200; i > 0; --i) bytes += static_cast<char>(random() % 256);
        EXPECT_TRUE(core::is_valid_utf8(decode_text(bytes).text)) << "seed " << seed;
    }
}

TEST(Formats, AreFoundByContentAndName) {
    EXPECT_EQ(detect_format("README", "words")->format, Format::Plain);
    EXPECT_EQ(detect_format("a.MD", "words")->format, Format::Markdown);
    EXPECT_EQ(detect_format("a.py", "x = 1")->language, "python");
    EXPECT_EQ(detect_format("run", "#!/usr/bin/env python3\n")->language, "python");
    EXPECT_EQ(detect_format("Makefile", "all:")->language, "make");
    EXPECT_FALSE(detect_format("a.md", "\x89PNG\r\n\x1A\n"));
    EXPECT_FALSE(detect_format("a.rtf", "{\\rtf1 words}"));
    EXPECT_FALSE(detect_format("a.bin", std::string("a\0b\0\1\2\3", 7)));
    EXPECT_FALSE(read_source("a.bin", std::string("a\0b\0\1\2\3", 7)));
}

TEST(Code, IsCutAtDefinitionsWithTheCommentsAboveThem) {
    const SourceDocument code = parse_code(
        "import os\n\n# Reads it.\n@cached\ndef read(path):\n    a = 1\n\n    return a\n\n\nclass "
        "Fox:\n    def run(self):\n        pass\n",
        "python");
    ASSERT_EQ(code.sections.size(), 3U);
    EXPECT_FALSE(code.sections[0].heading);
    EXPECT_EQ(code.sections[1].heading, "def read(path)");
    EXPECT_EQ(code.text_of(code.sections[1].blocks[0]),
              "# Reads it.\n@cached\ndef read(path):\n    a = 1\n");
    EXPECT_EQ(code.sections[2].heading, "class Fox");
    EXPECT_EQ(*code.metadata.find("language"), Value("python"));
}

TEST(FrontMatterOfTexts, IsMetadata) {
    const std::string text =
        "---\ntitle: 'It''s here'  # really\ndate: 2024-05-01 10:30\ntags:\n  - a\n  - \"b: "
        "c\"\nnested:\n  inner: 5\n  flag: true\nsummary: >\n  two\n  lines\nlist: [1, \"x, "
        "y\"]\ntrust: high\nsource: x\n---\nText";
    const FrontMatter front = read_front_matter(text);
    EXPECT_EQ(text.substr(front.bytes), "Text");
    EXPECT_EQ(front.title, "It's here");
    EXPECT_TRUE(front.date);
    EXPECT_EQ(*front.metadata.find("tags"), Value(Array{"a", "b: c"}));
    EXPECT_EQ(*front.metadata.find("nested"), Value(Object{{"inner", 5}, {"flag", true}}));
    EXPECT_EQ(*front.metadata.find("summary"), Value("two lines"));
    EXPECT_EQ(*front.metadata.find("list"), Value(Array{1, "x, y"}));
    EXPECT_EQ(front.metadata.find("trust"), nullptr);
    EXPECT_EQ(front.metadata.find("source"), nullptr);
    EXPECT_EQ(read_front_matter("---\nnever closed").bytes, 0U);
    EXPECT_EQ(read_front_matter("").bytes, 0U);
}

}  // namespace
}  // namespace braid::ingest
