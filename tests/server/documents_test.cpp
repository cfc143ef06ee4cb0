// Files handed to the server: as JSON, as the body itself, in a form.

#include "braid/server/http/documents.hpp"

#include <string>

#include <gtest/gtest.h>

#include "server/http_fixture.hpp"

namespace braid::testing {
namespace {

const Headers kForm{{"Content-Type", "multipart/form-data; boundary=xx"}};

std::string part(const std::string& disposition, const std::string& body) {
    return "--xx\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + body + "\r\n";
}

TEST_F(HttpTest, TakesFilesAsTheBodyItself) {
    const Value posted = json("POST", "/v1/documents?name=page.html&collection=notes",
                              "<html><title>Foxes</title><nav>menu</nav><p>They hunt at dusk.</p>",
                              200, {{"Content-Type", "text/html"}});
    EXPECT_EQ(at(posted, "documents.0.document_id"), Value("page.html"));
    EXPECT_EQ(at(posted, "documents.0.format"), Value("html"));
    EXPECT_EQ(at(posted, "documents.0.chunks"), Value(1));
    const Value chunk = json("GET", "/v1/collections/notes/chunks/page.html%230");
    EXPECT_EQ(at(chunk, "title"), Value("Foxes"));
    EXPECT_EQ(at(chunk, "content"), Value("They hunt at dusk."));
    EXPECT_EQ(code(ask("POST", "/v1/documents?name=a.png", "\x89PNG\r\n",
                       {{"Content-Type", "image/png"}}),
                   400),
              "invalid_argument");
}

TEST_F(HttpTest, AnEmptyFileIsNotAnError) {
    json("POST", "/v1/documents?name=a.md&collection=notes", "One fox.", 200,
         {{"Content-Type", "text/markdown"}});
    const Value posted = json("POST", "/v1/documents?name=a.md&collection=notes", "\n", 200,
                              {{"Content-Type", "text/markdown"}});
    EXPECT_EQ(at(posted, "documents.0.chunks"), Value(0));
    EXPECT_EQ(at(posted, "documents.0.removed"), Value(1));
    EXPECT_EQ(at(posted, "documents.0.warnings.0"), Value("it holds no text"));
    EXPECT_EQ(at(json("POST", "/v1/collections/notes/count", "{}"), "count"), Value(0));
}

TEST_F(HttpTest, TakesAFormOfFiles) {
    const std::string form = part("name=\"collection\"", "notes") +
                             part("name=\"metadata\"", R"({"team": "a"})") +
                             part("name=\"file\"; filename=\"C:\\x\\a.md\"", "# A\n\nOne fox.") +
                             part("name=\"file\"; filename=\"b.csv\"", "name,note\nowl,night\n") +
                             part("name=\"file\"; filename=\"c.png\"", "\x89PNG") + "--xx--\r\n";
    const Value posted = json("POST", "/v1/documents", form, 200, kForm);
    EXPECT_EQ(at(posted, "documents").as_array().size(), 2U);
    EXPECT_EQ(at(posted, "documents.0.document_id"), Value("a.md"));
    EXPECT_EQ(at(posted, "failed.0.name"), Value("c.png"));
    const Value chunk = json("GET", "/v1/collections/notes/chunks/b.csv%230");
    EXPECT_EQ(at(chunk, "content"), Value("name: owl\nnote: night"));
    EXPECT_EQ(at(chunk, "metadata.team"), Value("a"));
    // A second time: in place of the first.
    json("POST", "/v1/documents", form, 200, kForm);
    EXPECT_EQ(at(json("POST", "/v1/collections/notes/count", "{}"), "count"), Value(2));

    // Two of one name would take each other's place.
    const Value twice =
        json("POST", "/v1/documents",
             part("name=\"file\"; filename=\"p1/README.md\"", "# One") +
                 part("name=\"file\"; filename=\"p2/README.md\"", "# Two") + "--xx--\r\n",
             200, kForm);
    EXPECT_EQ(at(twice, "documents").as_array().size(), 1U);
    EXPECT_EQ(at(twice, "failed.0.error"), Value("another file of this form has the same name"));
    const std::string none = part("name=\"file\"; filename=\"c.png\"", "\x89PNG") +
                             part("name=\"file\"; filename=\"d.png\"", "\x89PNG") + "--xx--\r\n";
    EXPECT_TRUE(at(json("POST", "/v1/documents", none, 400, kForm), "detail")
                    .as_string()
                    .starts_with("none of the files could be read; c.png: its format"));
    EXPECT_EQ(at(json("POST", "/v1/documents?collection=notes", "words", 400,
                      {{"Content-Type", "text/plain"}}),
                 "detail"),
              Value("\"name\" is required: the file's, by which it is stored"));

    for (const std::string& bad :
         {std::string("nothing"), part("name=\"file\"; filename=\"a.md\"", "x"),
          part("name=\"collection\"", "notes") + "--xx--", std::string("--xx\r\n--xx--"),
          part("name=\"nonsense\"", "x") + part("name=\"file\"; filename=\"a.md\"", "x") +
              "--xx--"}) {
        EXPECT_EQ(code(ask("POST", "/v1/documents", bad, kForm), 400), "invalid_argument") << bad;
    }
}

TEST_F(HttpTest, TakesAFileInsideJson) {
    const Value posted =
        json("POST", "/v1/documents",
             R"({"name": "n.org", "content_base64": "KiBIZWFkClRleHQu", "collection": "notes"})");
    EXPECT_EQ(at(posted, "documents.0.format"), Value("org"));
    EXPECT_EQ(at(json("GET", "/v1/collections/notes/chunks/n.org%230"), "section_title"),
              Value("Head"));
    json("POST", "/v1/documents", R"({"document_id": "d", "text": "Words."})");
    EXPECT_EQ(at(json("GET", "/v1/collections/default/chunks/d%230"), "content"), Value("Words."));
    EXPECT_EQ(
        code(ask("POST", "/v1/documents", R"({"name": "a.md", "content_base64": "%%"})"), 400),
        "invalid_argument");
    EXPECT_EQ(code(ask("POST", "/v1/documents", R"({"text": "no name"})"), 400),
              "invalid_argument");
}

}  // namespace
}  // namespace braid::testing
