#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/server/http/target.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// A parameter behind the "?" of an address.
struct QueryParameter {
    enum class Type { String, Integer, Boolean };
    std::string_view name;
    Type type = Type::String;
    std::string_view description;
};

/// What answers a route.
enum class RouteKind {
    Operation,  // JSON to JSON, by `run`
    Chunks,     // the same, or lines of JSON with a result for each
    Documents,  // the same, or files: a form, or one as the body itself
    Rpc,
    Mcp,
    Health,
    Ready,
    Metrics,
    OpenApi,
    Page,  // a file of the web page
};

/// What a key must allow.
enum class Need {
    Nothing,
    Read,             // a collection, as the next two
    Write,            //
    Admin,            //
    WholeCollection,  // to administer it and to see all that it holds
    WholeDatabase,    // the same of every collection
};

/// To the text of the answer's body.
using RunOperation = Result<std::string> (*)(const service::Operations&, Object params,
                                             const service::Caller&);

/// One row of the table that the router uses and the OpenAPI document is generated from.
struct Route {
    std::string_view method;
    std::string_view path;  // "/v1/collections/{collection}"
    std::string_view id;    // of the operation, unique
    std::string_view tag;
    std::string_view summary;
    std::string_view request;   // name of its schema; empty: no body
    std::string_view response;  // name of its schema; empty: no body
    RouteKind kind = RouteKind::Operation;
    bool writes = false;          // changes what is stored; takes an Idempotency-Key
    std::optional<Need> needs{};  // none: to write if it writes, else to read
    int success = 200;
    std::span<const QueryParameter> query;
    RunOperation run = nullptr;
    std::string_view rpc;  // the JSON-RPC method that does the same; empty: none
};

std::span<const Route> routes();

/// Needs neither a key nor a rate: load balancers and supervisors ask, and the page holds no data.
constexpr bool is_open(const Route& route) {
    return route.kind == RouteKind::Health || route.kind == RouteKind::Ready ||
           route.kind == RouteKind::Page;
}

/// Where a request leads.
struct RouteMatch {
    const Route* route = nullptr;           // null: no such method, or no such path
    Object path;                            // the values of {names}
    std::vector<std::string_view> allowed;  // methods of the path; empty: no such path
};
/// HEAD leads where GET does.
RouteMatch find_route(std::string_view method, const Target& target);

/// The parameters of a route as one object: those of the body, of the path and after the "?".
/// InvalidArgument for one given in two places, or of the wrong type.
Result<Object> route_parameters(const Route& route, Object path, const Target& target, Object body);

}  // namespace braid::server
