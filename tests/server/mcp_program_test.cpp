// `braid mcp`, spoken to line by line as a client does.

#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"
#include "server/service_fixture.hpp"

namespace braid::server {
namespace {

using braid::testing::at;
using braid::testing::parsed;
using braid::testing::run_braid;
using braid::testing::RunningBraid;
using braid::testing::RunOptions;
using braid::testing::TemporaryFolder;

/// A message must stand on one line.
std::string on_one_line(std::string text) {
    for (char& c : text) {
        if (c == '\n') c = ' ';
    }
    return text;
}

class McpProgram : public ::testing::Test {
protected:
    std::vector<std::string> arguments(bool writes) const {
        std::vector<std::string> list{"mcp", "--data", folder / "data"};
        if (writes) list.emplace_back("--allow-writes");
        return list;
    }
    static Value ask(RunningBraid& program, const std::string& line) {
        program.write(on_one_line(line) + "\n");
        return parsed(program.read_line().value_or("null"));
    }
    static std::string legacy(const std::string& method, const std::string& params) {
        return R"({"jsonrpc": "2.0", "id": 1, "method": ")" + method + R"(", "params": )" + params +
               "}";
    }
    static Value call(RunningBraid& program, const std::string& tool, const std::string& given) {
        return ask(program, legacy("tools/call", R"({"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}}, "name": ")" +
                                                     std::string(tool) + R"(", "arguments": )" +
                                                     given + "}"));
    }

    TemporaryFolder folder;
};

TEST_F(McpProgram, ServesAnAgentFromTheFirstLineToTheLast) {
    {
        RunningBraid program(arguments(true));
        const Value hello = ask(
            program, legacy("initialize", R"({"protocolVersion": "2025-06-18", "capabilities": {},
                                              "clientInfo": {"name": "test", "version": "1"}})"));
        EXPECT_EQ(at(hello, "result.protocolVersion"), Value("2025-06-18"));
        program.write("{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}\n");
        EXPECT_EQ(at(ask(program, legacy("tools/list", "{}")), "result.tools").as_array().size(),
                  9U);
        EXPECT_EQ(at(call(program, "ingest", R"({"document_id": "fox", "text": "Foxes hunt."})"),
                     "result.structuredContent.chunks"),
                  Value(1));
        EXPECT_EQ(at(ask(program, "{nonsense"), "error.code"), Value(-32700));
        EXPECT_EQ(at(ask(program, legacy("ping", "{}")), "result"), Value(Object{}));
        const auto end = program.finish();
        EXPECT_EQ(end.exit_code, 0) << end.errors;
        EXPECT_EQ(end.output, "");
    }
    RunningBraid reader(arguments(false));
    const Value found = call(reader, "hybrid_search", R"({"query": "foxes"})");
    EXPECT_EQ(at(found, "result.content.0.text"),
              Value("Found 1 results (searched: artifact_chunks):\n\n"
                    "[1] RRF score: 0.017 (from: artifact_chunks)\n"
                    "Type: chunk | ID: fox#0\n"
                    "Snippet: \"Foxes hunt.\"\n"));
    EXPECT_EQ(at(call(reader, "forget", R"({"chunk_ids": ["x"]})"), "error.code"), Value(-32602));
    EXPECT_EQ(reader.finish().exit_code, 0);
}

TEST_F(McpProgram, ObeysTheSettingsOfHybridSearch) {
    RunOptions options;
    options.environment = {{"OVERFETCH_MULTIPLIER", "1"}, {"MAX_HYBRID_SEARCH_RESULTS", "2"}};
    RunningBraid program(arguments(true), options);
    for (const char* id : {"a", "b", "c"}) {
        call(program, "ingest",
             R"({"document_id": ")" + std::string(id) + R"(", "text": "Foxes hunt."})");
    }
    const Value found = call(program, "hybrid_search", R"({"query": "foxes", "limit": 5})");
    EXPECT_EQ(at(found, "result.structuredContent.results").as_array().size(), 2U);
    EXPECT_NE(at(found, "result.structuredContent.warnings.0").as_string().find("from 1 to 2"),
              std::string::npos);
    ask(program, legacy("initialize", R"({"protocolVersion": "2025-06-18", "capabilities": {}})"));
    const Value tools = ask(program, legacy("tools/list", "{}"));
    EXPECT_EQ(at(tools, "result.tools.0.inputSchema.properties.limit.description"),
              Value("Max results (1-2)"));
    EXPECT_EQ(program.finish().exit_code, 0);
}

TEST_F(McpProgram, NeedsADatabaseToRead) {
    const auto result = run_braid(arguments(false));
    EXPECT_EQ(result.exit_code, 3) << result.errors;
    EXPECT_EQ(result.output, "");
}

TEST_F(McpProgram, AnswersWhatWasAskedWhenToldToStop) {
    RunningBraid program(arguments(true));
    EXPECT_EQ(at(ask(program, legacy("ping", "{}")), "id"), Value(1));
    program.signal(SIGTERM);
    EXPECT_EQ(program.read_line(), std::nullopt);
    EXPECT_EQ(program.finish().exit_code, 0);
}

}  // namespace
}  // namespace braid::server
