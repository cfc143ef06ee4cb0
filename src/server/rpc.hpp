#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/server/caller.hpp"
#include "braid/server/decisions.hpp"
#include "braid/server/message.hpp"
#include "braid/server/operations.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// JSON-RPC 2.0 over a database, whatever carries the messages. Safe for concurrent use.
///
/// Methods: `braid.retrieve`, `.retrieve_batch`, `.hybrid_search`, `.context`, `.explain`,
/// `.why_not`, `.eval`, `.add`, `.update`, `.delete`, `.get`, `.scan`, `.document`, `.neighbors`,
/// `.facets`, `.count`, `.collections`, `.describe`, `.create_collection`, `.drop_collection`,
/// `.stats` (operations.hpp), and `cstp.queryDecisions`, `cstp.indexDecisions` (decisions.hpp).
/// Parameters are given by name; a list of one object counts as that object.
class Rpc {
public:
    /// The database must outlive it.
    explicit Rpc(Database& database, ServiceOptions options = {});
    Rpc(const Rpc&) = delete;
    Rpc& operator=(const Rpc&) = delete;
    Rpc(Rpc&&) = delete;
    Rpc& operator=(Rpc&&) = delete;
    ~Rpc() = default;

    /// The answer to one message or one batch; none if nothing is owed. Never fails: what goes
    /// wrong is in the answer.
    std::optional<std::string> handle(std::string_view body, const Caller& caller) const;

    static const std::vector<std::string>& methods();

private:
    std::optional<std::string> handle_parsed(Value json, const Caller& caller) const;
    std::optional<Value> answer(Value json, const Caller& caller) const;
    Value answer_batch(Array batch, const Caller& caller) const;
    Result<Value> call(const Message& message, const Caller& caller) const;

    Operations operations_;
    Decisions decisions_{operations_};
};

}  // namespace braid::server
