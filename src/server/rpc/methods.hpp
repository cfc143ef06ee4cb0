#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/server/rpc/message.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operation_json.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// JSON-RPC 2.0 over a database, whatever carries the messages. Safe for concurrent use.
///
/// Methods: `braid.retrieve`, `.retrieve_batch`, `.context`, `.explain`,
/// `.why_not`, `.eval`, `.add`, `.update`, `.delete`, `.get`, `.scan`, `.document`, `.neighbors`,
/// `.facets`, `.count`, `.collections`, `.describe`, `.create_collection`, `.drop_collection`,
/// `.stats` (service/requests.hpp), those of the applications under the same prefix, and the
/// methods that have names of their own (apps/operations.hpp).
/// Parameters are given by name; a list of one object counts as that object.
class Rpc {
public:
    /// The database must outlive it.
    explicit Rpc(Database& database, service::ServiceOptions options = {});
    Rpc(const Rpc&) = delete;
    Rpc& operator=(const Rpc&) = delete;
    Rpc(Rpc&&) = delete;
    Rpc& operator=(Rpc&&) = delete;
    ~Rpc() = default;

    /// The answer to one message or one batch; none if none is due. Never fails: problems are in
    /// the answer.
    std::optional<std::string> handle(std::string_view body, const service::Caller& caller) const;

    /// The same for a parsed message.
    struct Reply {
        std::optional<std::string> text;
        bool wrote = false;  // some member changed what is stored
        bool final = true;   // no member failed in a way that a repetition may not
    };
    Reply reply(Value json, const service::Caller& caller) const;

    static const std::vector<std::string>& methods();
    static bool method_writes(std::string_view method);
    /// Whether some member of a message or batch names a method that writes.
    static bool writes(const Value& json);
    /// How many requests it counts as.
    static std::size_t requests_in(const Value& json);

private:
    // Printed; empty if no answer is due.
    std::string answer(Value json, const service::Caller& caller, Reply& outcome) const;
    std::string answer_batch(Array batch, const service::Caller& caller, Reply& outcome) const;
    Result<std::string> call(const Message& message, const service::Caller& caller) const;

    service::Operations operations_;
};

}  // namespace braid::server
