// Chunks from the JSON of other programs.

#include "braid/ingest/foreign.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"

namespace braid::ingest {
namespace {

class Foreign : public ::testing::Test {
protected:
    std::vector<Chunk> read(const std::string& form, const std::string& path,
                            JsonlOptions options = {}) {
        failed.clear();
        auto reader = open_foreign(form, path, options);
        EXPECT_TRUE(reader) << (reader ? "" : reader.error().message);
        std::vector<Chunk> chunks;
        while (reader) {
            auto batch = (*reader)->next();
            EXPECT_TRUE(batch) << (batch ? "" : batch.error().message);
            if (!batch || !*batch) break;
            for (const Batch::Part& part : (*batch)->parts) {
                chunks.insert(chunks.end(), part.chunks.begin(), part.chunks.end());
            }
            failed.insert(failed.end(), (*batch)->failed.begin(), (*batch)->failed.end());
        }
        return chunks;
    }

    braid::testing::TemporaryFolder folder;
    std::vector<std::string> failed;
};

TEST_F(Foreign, LangChainDocumentsInEveryForm) {
    const std::string document =
        R"({"id": "a", "page_content": "Foxes hunt.", "metadata": {"source": "x.pdf", "page": 3}, "type": "Document"})";
    const std::string other =
        R"({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "document", "Document"], "kwargs": {"page_content": "Owls hunt.", "metadata": {"source": "x.pdf"}, "type": "Document"}})";
    for (const std::string& text :
         {document + "\n" + other + "\n", "[" + document + ", " + other + "]"}) {
        const auto chunks = read("langchain", folder.write("d.json", text));
        ASSERT_EQ(chunks.size(), 2U) << text;
        EXPECT_EQ(chunks[0].chunk_id, "a");
        EXPECT_EQ(chunks[0].content, "Foxes hunt.");
        EXPECT_EQ(chunks[0].document_id, "x.pdf");
        EXPECT_EQ(*chunks[0].metadata.find("page"), Value(3));
        EXPECT_EQ(chunks[1].document_id, "x.pdf");
        EXPECT_EQ(chunks[1].content, "Owls hunt.");
    }
    const auto store =
        read("langchain",
             folder.write("s.json", R"({"k1": {"id": "k1", "vector": [1, 0.5], "text": "T, \"} x",
                                   "metadata": {}}, "k2": {"text": "U", "vector": [0, 1]}})"));
    ASSERT_EQ(store.size(), 2U);
    EXPECT_EQ(store[0].vector, (std::vector<float>{1, 0.5F}));
    EXPECT_EQ(store[0].content, "T, \"} x");
    EXPECT_EQ(store[1].chunk_id, "k2");
}

TEST_F(Foreign, ALlamaIndexFolderWithItsVectors) {
    folder.write("s/docstore.json", R"({"docstore/metadata": {"n1": {"doc_hash": "x"}},
        "docstore/data": {
          "d": {"__data__": {"id_": "d", "text": "Whole.", "class_name": "Document"}, "__type__": "4"},
          "n1": {"__data__": {"id_": "n1", "text": "Foxes.", "metadata": {"file_name": "a.md"},
                 "relationships": {"1": {"node_id": "d", "node_type": "4"}}}, "__type__": "1"},
          "n2": {"__data__": {"id_": "n2", "text_resource": {"text": "Owls."}, "metadata": {}},
                 "__type__": "1"}}})");
    folder.write("s/default__vector_store.json",
                 R"({"embedding_dict": {"n1": [1.0, 2.0], "n2": [3, 4]}, "metadata_dict": {}})");
    const auto chunks = read("llamaindex", folder / "s");
    ASSERT_EQ(chunks.size(), 2U);
    EXPECT_EQ(chunks[0].chunk_id, "n1");
    EXPECT_EQ(chunks[0].document_id, "d");
    EXPECT_EQ(*chunks[0].metadata.find("file_name"), Value("a.md"));
    EXPECT_EQ(chunks[0].vector, (std::vector<float>{1, 2}));
    EXPECT_EQ(chunks[1].content, "Owls.");
    EXPECT_EQ(chunks[1].vector, (std::vector<float>{3, 4}));
}

TEST_F(Foreign, BadRecordsAreNamedAndBadFilesRefused) {
    const std::string path = folder.write(
        "d.json", R"([{"page_content": "a"}, {"nothing": 1}, 5, {"page_content": "b"}])");
    JsonlOptions options;
    options.keep_going = true;
    EXPECT_EQ(read("langchain", path, options).size(), 2U);
    ASSERT_EQ(failed.size(), 2U);
    EXPECT_NE(failed[0].find("d.json, record 2: "), std::string::npos) << failed[0];
    auto strict = open_foreign("langchain", path, {});
    ASSERT_TRUE(strict);
    EXPECT_FALSE((*strict)->next());
    EXPECT_FALSE(open_foreign("langchain", folder / "none.json", {}));
    EXPECT_FALSE(open_foreign("langchain", folder.write("e.json", "[]"), {}));
    EXPECT_FALSE(open_foreign("langchain", folder.write("e.json", "words"), {}));
    EXPECT_FALSE(open_foreign("chroma", path, {}));
}

TEST_F(Foreign, CutAndChangedTextsNeverDoHarm) {
    const std::string whole =
        R"({"docstore/data": {"n": {"__data__": {"text": "x", "a": ["\\\"", {"b": 1}]}}}, "z": [1]})";
    for (unsigned seed = 0; seed < 500; ++seed) {
        std::mt19937 random(seed);
        std::string text = whole.substr(0, random() % (whole.size() + 1));
        if (!text.empty()) text[random() % text.size()] = static_cast<char>(random() % 128);
        const auto members = raw_members(text);
        if (!members) continue;
        for (const RawMember& member : *members) {
            EXPECT_GE(member.value.data(), text.data());
            EXPECT_LE(member.value.data() + member.value.size(), text.data() + text.size());
        }
    }
    EXPECT_EQ(raw_members(R"( {"a": {"b": [1, "]"]}, "c":2} )")->size(), 2U);
    EXPECT_TRUE(raw_members("[]")->empty());
    EXPECT_FALSE(raw_members("[1, 2"));
    EXPECT_FALSE(raw_members("{\"a\" 1}"));
}

}  // namespace
}  // namespace braid::ingest
