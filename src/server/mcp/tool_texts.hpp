#pragma once

#include <string_view>

namespace braid::server {

/// What a client is told about one tool.
struct ToolText {
    std::string_view name;
    std::string_view title;
    std::string_view description;
    std::string_view input;   // JSON Schema
    std::string_view output;  // JSON Schema; empty: made by apps::hybrid_search_schema()
};

extern const ToolText kHybridSearchText;
extern const ToolText kMemorySearchText;
extern const ToolText kGetText;
extern const ToolText kNeighborsText;
extern const ToolText kListCollectionsText;
extern const ToolText kExplainText;
extern const ToolText kRememberText;
extern const ToolText kIngestText;
extern const ToolText kForgetText;

}  // namespace braid::server
