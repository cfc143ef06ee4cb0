#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "braid/ingest/pdf.hpp"
#include "ingest/sources.hpp"

namespace braid::ingest {

inline bool has_pdftotext() {
    return run_apart({"pdftotext", "-v"}, "", {}).has_value();
}

/// A made-up word for file `i`, and a sentence with it.
inline std::string word_of(std::size_t i) {
    std::string word = "zq";
    for (std::size_t rest = i + 26; rest > 0; rest /= 26)
        word += static_cast<char>('a' + rest % 26);
    return word + "ix";
}
inline std::string sentence_of(std::size_t i) {
    return "The " + word_of(i) + " is kept in the harbour.";
}

/// File names and bytes of all supported formats, `count` files in all.
inline std::vector<std::pair<std::string, std::string>> ordinary_files(std::size_t count) {
    std::vector<std::pair<std::string, std::string>> files;
    const auto add = [&](const std::string& name, const auto& make) {
        const std::string sentence = sentence_of(files.size());
        files.emplace_back(
            "d" + std::to_string(files.size() % 7) + "/" + std::to_string(files.size()) + name,
            make(sentence));
    };
    const auto same = [](const std::string& s) { return s; };
    const bool with_pdf = has_pdftotext();
    while (files.size() < count) {
        add(".md", [](const std::string& s) { return "# Title\n\n## Part\n\n" + s + "\n"; });
        add(".html", [](const std::string& s) {
            return "<html><head><title>Page</title></head><body><nav>menu</nav><h1>Head</h1><p>" +
                   s + "</p></body></html>";
        });
        add(".txt", same);
        add(".py", [](const std::string& s) { return "# " + s + "\ndef f():\n    pass\n"; });
        add("README", same);
        add(".yaml", [](const std::string& s) { return "note: " + s + "\n"; });
        add(".rst", [](const std::string& s) { return "Title\n=====\n\n" + s + "\n"; });
        add(".org", [](const std::string& s) { return "#+TITLE: T\n* Head\n" + s + "\n"; });
        add(".csv", [](const std::string& s) { return "name,note\na,\"" + s + "\"\n"; });
        add(".tsv", [](const std::string& s) { return "name\tnote\na\t" + s + "\n"; });
        add(".json",
            [](const std::string& s) { return "[{\"title\": \"t\", \"text\": \"" + s + "\"}]"; });
        add(".jsonl",
            [](const std::string& s) { return "{\"_id\": \"a\", \"text\": \"" + s + "\"}\n"; });
        add(".xml",
            [](const std::string& s) { return "<?xml version=\"1.0\"?><a><b>" + s + "</b></a>"; });
        add(".ipynb", [](const std::string& s) {
            return "{\"nbformat\": 4, \"cells\": [{\"cell_type\": \"markdown\", \"source\": [\"# "
                   "N\\n\", \"\\n\", \"" +
                   s + "\"]}, {\"cell_type\": \"code\", \"source\": \"x = 1\", \"outputs\": []}]}";
        });
        add(".eml", [](const std::string& s) {
            return "From: Ada <ada@example.org>\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\nDate: "
                   "Tue, 3 Mar "
                   "2020 10:22:01 +0100\r\nContent-Type: multipart/alternative; "
                   "boundary=\"xx\"\r\n\r\n--xx\r\nContent-Type: text/plain; "
                   "charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" +
                   s + "\r\n--xx\r\nContent-Type: text/html\r\n\r\n<p>other</p>\r\n--xx--\r\n";
        });
        add(".docx", docx);
        add(".pptx", pptx);
        add(".xlsx", xlsx);
        add(".odt", odt);
        add(".epub", epub);
        add(".md.gz", [](const std::string& s) { return deflated("# T\n\n" + s, 31); });
        if (with_pdf) add(".pdf", pdf);
    }
    return files;
}

}  // namespace braid::ingest
