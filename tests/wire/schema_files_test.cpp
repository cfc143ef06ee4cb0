// docs/*.schema.json say what src/wire reads and writes.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "braid/apps/vocabulary.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/answer_json.hpp"
#include "braid/wire/request_json.hpp"
#include "wire/random_wire.hpp"

namespace braid::wire {
namespace {

const std::filesystem::path kSource = BRAID_SOURCE_DIR;

Value schema_file(const std::string& name) {
    const std::ifstream file(kSource / "docs" / name);
    std::stringstream text;
    text << file.rdbuf();
    auto value = json::parse(text.str());
    EXPECT_TRUE(value) << name << ": " << (value ? "" : value.error().message);
    return value.value_or(Value());
}

std::set<std::string> keys_of(const Value* object) {
    std::set<std::string> keys;
    if (object == nullptr || !object->is_object()) return keys;
    for (const auto& [key, value] : object->as_object()) keys.insert(key);
    return keys;
}

TEST(SchemaFiles, TheRequestSchemaHasExactlyTheKeysTheReaderKnows) {
    const Value schema = schema_file("request.schema.json");
    const auto known = request_keys(apps::vocabulary());
    EXPECT_EQ(keys_of(schema.find("properties")),
              std::set<std::string>(known.begin(), known.end()));
}

TEST(SchemaFiles, TheReaderTakesTheExamplesOfTheRequestSchema) {
    const Value schema = schema_file("request.schema.json");
    ASSERT_NE(schema.find("examples"), nullptr);
    for (const Value& example : schema.find("examples")->as_array()) {
        const auto request = request_from_value(example, apps::vocabulary());
        EXPECT_TRUE(request) << request.error().message;
    }
}

TEST(SchemaFiles, TheAnswerSchemaHasExactlyTheKeysTheWriterWrites) {
    const Value schema = schema_file("answer.schema.json");
    std::set<std::string> top;
    std::set<std::string> hit;
    std::set<std::string> receipt;
    std::set<std::string> report;
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937_64 rng(seed);
        const Value answer = answer_to_value(testing::random_answer(rng), apps::vocabulary());
        top.merge(keys_of(&answer));
        for (const Value& source : answer.find("sources")->as_array()) {
            report.merge(keys_of(&source));
        }
        for (const Value& chunk : answer.find("chunks")->as_array()) {
            hit.merge(keys_of(&chunk));
            receipt.merge(keys_of(chunk.find("receipt")));
        }
    }
    EXPECT_EQ(keys_of(schema.find("properties")), top);
    EXPECT_EQ(keys_of(find_path(schema.as_object(), "$defs.hit.properties")), hit);
    EXPECT_EQ(keys_of(find_path(schema.as_object(), "$defs.receipt.properties")), receipt);
    EXPECT_EQ(keys_of(find_path(schema.as_object(), "$defs.report.properties")), report);
}

TEST(SchemaFiles, AValidatorAcceptsWhatWeWriteAndTheExamples) {
    // NOLINTBEGIN(concurrency-mt-unsafe): one thread
    const char* const chosen = std::getenv("BRAID_PYTHON");
    const std::string python = chosen != nullptr ? chosen : "python3";
    if (std::system(("\"" + python + "\" -c 'import jsonschema' 2>/dev/null").c_str()) != 0) {
        GTEST_SKIP() << "no jsonschema in the environment of " << python
                     << " (BRAID_PYTHON names another)";
    }
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("braid_schema_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    {
        std::ofstream requests(folder / "requests.jsonl");
        std::ofstream answers(folder / "answers.jsonl");
        for (unsigned seed = 0; seed < 100; ++seed) {
            std::mt19937_64 rng(seed);
            requests << json::print(request_to_value(testing::random_request(rng))) << "\n";
            answers << json::print(answer_to_value(testing::random_answer(rng), apps::vocabulary()))
                    << "\n";
        }
    }
    const std::string script = (kSource / "tests/wire/validate_schemas.py").string();
    EXPECT_EQ(std::system(("\"" + python + "\" '" + script + "' '" + (kSource / "docs").string() +
                           "' '" + folder.string() + "'")
                              .c_str()),
              0);
    // NOLINTEND(concurrency-mt-unsafe)
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace braid::wire
