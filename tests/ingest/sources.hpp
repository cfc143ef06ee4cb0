#pragma once

// Files of many formats, made here, each with one sentence that no other has.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <zlib.h>

namespace braid::ingest {

inline std::string little_endian(std::uint32_t number, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i, number >>= 8U) out += static_cast<char>(number & 0xFFU);
    return out;
}

/// `window` as zlib's deflateInit2 takes it: 31 for gzip, -15 for raw.
inline std::string deflated(const std::string& text, int window) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, text.size()) + 64, '\0');
    std::string copy = text;
    stream.next_in = reinterpret_cast<Bytef*>(copy.data());
    stream.avail_in = static_cast<uInt>(copy.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    const std::size_t packed = stream.total_out;
    deflateEnd(&stream);
    return out.substr(0, packed);
}

using ZipMembers = std::vector<std::pair<std::string, std::string>>;

inline std::string zipped(const ZipMembers& members) {
    std::string out;
    std::string directory;
    for (const auto& [name, text] : members) {
        const std::string packed = deflated(text, -15);
        const std::string sizes =
            little_endian(0, 4) + little_endian(static_cast<std::uint32_t>(packed.size()), 4) +
            little_endian(static_cast<std::uint32_t>(text.size()), 4) +
            little_endian(static_cast<std::uint32_t>(name.size()), 2) + little_endian(0, 2);
        const std::string common = little_endian(20, 2) + little_endian(0, 2) +
                                   little_endian(8, 2) + little_endian(0, 4) + sizes;
        directory += "PK\x01\x02" + little_endian(20, 2) + common + little_endian(0, 10) +
                     little_endian(static_cast<std::uint32_t>(out.size()), 4) + name;
        out += "PK\x03\x04" + common + name + packed;
    }
    const auto begin = static_cast<std::uint32_t>(out.size());
    const auto count = static_cast<std::uint32_t>(members.size());
    return out + directory + "PK\x05\x06" + little_endian(0, 4) + little_endian(count, 2) +
           little_endian(count, 2) +
           little_endian(static_cast<std::uint32_t>(directory.size()), 4) +
           little_endian(begin, 4) + little_endian(0, 2);
}

inline std::string docx(const std::string& sentence) {
    return zipped(
        {{"[Content_Types].xml", "<Types/>"},
         {"docProps/core.xml",
          "<cp:coreProperties><dc:title>The Report</dc:title><dc:creator>Ada</dc:creator>"
          "<dcterms:created>2024-05-01T10:00:00Z</dcterms:created></cp:coreProperties>"},
         {"word/styles.xml",
          "<w:styles><w:style w:styleId=\"berschrift1\"><w:name w:val=\"heading 1\"/></w:style>"
          "</w:styles>"},
         {"word/document.xml",
          "<w:document><w:body><w:p><w:pPr><w:pStyle w:val=\"berschrift1\"/></w:pPr><w:r><w:t>Part "
          "one</w:t></w:r></w:p><w:p><w:r><w:t>" +
              sentence +
              "</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>Left</w:t></w:r></w:p></w:tc>"
              "<w:tc><w:p><w:r><w:t>A &amp; B</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body>"
              "</w:document>"}});
}

inline std::string pptx(const std::string& sentence) {
    const auto slide = [](const std::string& title, const std::string& text) {
        return "<p:sld><p:sp><p:nvPr><p:ph type=\"title\"/></p:nvPr><a:p><a:t>" + title +
               "</a:t></a:p></p:sp><p:sp><a:p><a:t>" + text + "</a:t></a:p></p:sp></p:sld>";
    };
    return zipped({{"ppt/slides/slide10.xml", slide("Last", "End.")},
                   {"ppt/slides/slide2.xml", slide("Plan", sentence)},
                   {"ppt/slides/slide1.xml", slide("Start", "Hello.")}});
}

inline std::string xlsx(const std::string& sentence) {
    return zipped(
        {{"xl/workbook.xml", "<workbook><sheets><sheet name=\"Stock\"/></sheets></workbook>"},
         {"xl/sharedStrings.xml",
          "<sst><si><t>Item</t></si><si><t>Note</t></si><si><t>" + sentence + "</t></si></sst>"},
         {"xl/worksheets/sheet1.xml",
          "<worksheet><sheetData><row><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"C1\" t=\"s\"><v>1</v>"
          "</c></row><row><c r=\"A2\"><v>7</v></c><c r=\"C2\" "
          "t=\"s\"><v>2</v></c></row></sheetData>"
          "</worksheet>"}});
}

inline std::string odt(const std::string& sentence) {
    return zipped({{"mimetype", "application/vnd.oasis.opendocument.text"},
                   {"meta.xml", "<m><dc:title>Open</dc:title></m>"},
                   {"content.xml", "<o><text:h text:outline-level=\"2\">Chapter</text:h><text:p>" +
                                       sentence + "</text:p></o>"}});
}

inline std::string epub(const std::string& sentence) {
    return zipped(
        {{"mimetype", "application/epub+zip"},
         {"META-INF/container.xml",
          "<container><rootfiles><rootfile full-path=\"OEBPS/book.opf\"/></rootfiles></container>"},
         {"OEBPS/book.opf",
          "<package><metadata><dc:title>The Book</dc:title><dc:creator>Bob</dc:creator></metadata>"
          "<manifest><item id=\"b\" href=\"text/b.xhtml\"/><item id=\"a\" href=\"text/a.xhtml\"/>"
          "</manifest><spine><itemref idref=\"a\"/><itemref idref=\"b\"/></spine></package>"},
         {"OEBPS/text/a.xhtml", "<html><body><h2>First</h2><p>Begin.</p></body></html>"},
         {"OEBPS/text/b.xhtml",
          "<html><body><h2>Second</h2><p>" + sentence + "</p></body></html>"}});
}

/// A page for each content stream, in which "F1" is a font.
inline std::string pdf_of(const std::vector<std::string>& streams) {
    std::string out = "%PDF-1.4\n";
    std::vector<std::size_t> places;
    const auto object = [&](const std::string& body) {
        places.push_back(out.size());
        out += std::to_string(places.size()) + " 0 obj\n" + body + "\nendobj\n";
    };
    std::string pages;
    for (std::size_t i = 0; i < streams.size(); ++i) pages += std::to_string(4 + 2 * i) + " 0 R ";
    object("<< /Type /Catalog /Pages 2 0 R >>");
    object("<< /Type /Pages /Kids [" + pages + "] /Count " + std::to_string(streams.size()) +
           " >>");
    object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
    for (const std::string& stream : streams) {
        object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents " +
               std::to_string(places.size() + 2) +
               " 0 R /Resources << /Font << /F1 3 0 R >> >> >>");
        object("<< /Length " + std::to_string(stream.size()) + " >>\nstream\n" + stream +
               "\nendstream");
    }
    const std::size_t table = out.size();
    out += "xref\n0 " + std::to_string(places.size() + 1) + "\n0000000000 65535 f \n";
    for (const std::size_t place : places) {
        std::string digits = std::to_string(place);
        while (digits.size() < 10) digits.insert(digits.begin(), '0');
        out += digits + " 00000 n \n";
    }
    return out + "trailer\n<< /Size " + std::to_string(places.size() + 1) +
           " /Root 1 0 R >>\nstartxref\n" + std::to_string(table) + "\n%%EOF\n";
}

/// Two pages, the sentence on the second.
inline std::string pdf(const std::string& sentence) {
    const auto text = [](const std::string& words) {
        return "BT /F1 12 Tf 72 720 Td (" + words + ") Tj ET";
    };
    return pdf_of({text("The first page."), text(sentence)});
}

}  // namespace braid::ingest
