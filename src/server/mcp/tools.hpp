#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// What a tool returned: a text for the model, and the same for programs.
struct ToolResult {
    std::string text;
    Value structured;  // null: none
    bool is_error = false;
    std::string passages{};  // a second text, if not empty
};

/// The tools an agent can call: `hybrid_search`, `memory_search`, `get`, `neighbors`,
/// `list_collections`, `explain`; with writes allowed also `remember`, `ingest`, `forget`. Safe for
/// concurrent use.
class Tools {
public:
    /// `operations` must outlive it.
    Tools(const service::Operations& operations, bool allow_writes);

    /// Their definitions, always in the same order.
    const Array& definitions() const noexcept { return definitions_; }
    bool has(std::string_view name) const;

    /// Problems are in the result, so that the model can do better. Requires has(name).
    ToolResult call(std::string_view name, const Object& arguments,
                    const service::Caller& caller) const;

private:
    const service::Operations& operations_;
    bool allow_writes_;
    Array definitions_;
};

}  // namespace braid::server
