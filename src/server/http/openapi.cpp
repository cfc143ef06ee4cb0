#include "braid/server/http/openapi.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "braid/apps/artifacts/hybrid_search.hpp"
#include "braid/json/json.hpp"
#include "braid/net/http/response_head.hpp"
#include "braid/server/http/member_texts.hpp"
#include "braid/server/http/problem.hpp"
#include "braid/server/http/routes.hpp"
#include "braid/server/http/schema_texts.hpp"
#include "braid/server/page/page.hpp"
#include "braid/server/rpc/methods.hpp"

namespace braid::server {
namespace {

constexpr std::string_view kDefs = "#/$defs/";
constexpr std::string_view kSchemas = "#/components/schemas/";

Object reference(std::string_view schema) {
    return {{"$ref", std::string(kSchemas) + std::string(schema)}};
}

/// Points "$ref" at the components: a file's own definitions get its name as a prefix.
void redirect(Value& value, const std::string& file) {
    if (value.is_array()) {
        for (Value& element : value.as_array()) redirect(element, file);
    }
    if (!value.is_object()) return;
    for (auto& [key, member] : value.as_object()) {
        if (key != "$ref" || !member.is_string()) {
            redirect(member, file);
            continue;
        }
        const std::string& target = member.as_string();
        if (target == "#") {
            member = std::string(kSchemas) + file;
        } else if (target.starts_with(kDefs)) {
            const std::string before = file.empty() ? "" : file + "_";
            member = std::string(kSchemas) + before + target.substr(kDefs.size());
        }
    }
}

/// Includes a whole schema file: its definitions become components of their own.
void add_file(Object& schemas, const std::string& name, std::string_view text) {
    Value file = json::parse(text).value_or(Value(Object()));
    redirect(file, name);
    Object& members = file.as_object();
    for (const std::string_view key : {"$schema", "$id", "title"}) members.erase(key);
    if (const Value* const definitions = members.find("$defs")) {
        for (const auto& [key, definition] : definitions->as_object()) {
            schemas.set(std::string(name).append("_").append(key), definition);
        }
    }
    members.erase("$defs");
    schemas.set(name, std::move(file));
}

Object content(std::string_view type, std::string_view schema) {
    return {{std::string(type), Object{{"schema", reference(schema)}}}};
}

Value parameters_of(const Route& route) {
    Array parameters;
    for (std::size_t begin = route.path.find('{'); begin != std::string_view::npos;
         begin = route.path.find('{', begin + 1)) {
        const std::size_t end = route.path.find('}', begin);
        const std::string_view name = route.path.substr(begin + 1, end - begin - 1);
        Object schema{{"type", "string"}, {"minLength", 1}};
        if (name == "collection") schema.set("pattern", "^[A-Za-z0-9_-]{1,100}$");
        Object parameter{{"name", name}, {"in", "path"}, {"required", true}};
        if (const auto text = text_of_member(name); !text.empty()) {
            parameter.set("description", text);
        }
        parameter.set("schema", std::move(schema));
        parameters.push_back(std::move(parameter));
    }
    for (const QueryParameter& parameter : route.query) {
        const std::string_view type = parameter.type == QueryParameter::Type::String    ? "string"
                                      : parameter.type == QueryParameter::Type::Integer ? "integer"
                                                                                        : "boolean";
        parameters.push_back(Object{{"name", parameter.name},
                                    {"in", "query"},
                                    {"required", false},
                                    {"description", parameter.description},
                                    {"schema", Object{{"type", type}}}});
    }
    if (route.writes) {
        parameters.push_back(
            Object{{"name", "Idempotency-Key"},
                   {"in", "header"},
                   {"required", false},
                   {"description", "A request repeated with the same key is carried out once."},
                   {"schema", Object{{"type", "string"}, {"minLength", 1}, {"maxLength", 255}}}});
    }
    return parameters;
}

/// If nothing in it is required, the body may be omitted too.
Object request_body(const Route& route, const Object& schemas,
                    const service::RequestLimits& limits) {
    Object media = content("application/json", route.request);
    if (route.kind == RouteKind::Chunks) {
        media.set("application/x-ndjson",
                  Object{{"schema", Object{{"type", "string"},
                                           {"description", "A chunk (NewChunk) per line."}}}});
    }
    if (route.kind == RouteKind::Documents) {
        const Object bytes{{"type", "string"}, {"format", "binary"}};
        media.set("multipart/form-data",
                  Object{{"schema", Object{{"type", "object"},
                                           {"properties", Object{{"file", Value(bytes)}}}}}});
        media.set("application/octet-stream", Object{{"schema", Value(bytes)}});
    }
    for (auto& [type, described] : media) {
        const bool bulk = type != "application/json";
        described.as_object().set("x-max-bytes", bulk ? limits.bulk_bytes : limits.message_bytes);
    }
    const Value* const schema = schemas.find(route.request);
    const bool needed = schema == nullptr || schema->find("required") != nullptr ||
                        schema->find("anyOf") != nullptr;
    return {{"required", needed}, {"content", std::move(media)}};
}

Object success_of(const Route& route) {
    Object response{{"description", net::reason_of(route.success)}};
    if (route.response.empty()) return response;
    if (route.kind == RouteKind::Page) {
        Object media;
        for (const PageFile& file : page_files()) {
            if (file.name != kPageDocument && !route.path.ends_with('}')) continue;
            media.set(file.type, Object{{"schema", reference(route.response)}});
        }
        response.set("content", std::move(media));
        return response;
    }
    const std::string_view type =
        route.kind == RouteKind::Metrics ? "text/plain" : "application/json";
    Object media = content(type, route.response);
    if (route.kind == RouteKind::Chunks) {
        media.set(
            "application/json",
            Object{{"schema",
                    Object{{"anyOf", Array{reference("Written"), reference("BulkWritten")}}}}});
    }
    response.set("content", std::move(media));
    return response;
}

/// Empty: every caller may.
std::string_view name_of(Need need) {
    constexpr std::array<std::string_view, 6> kNames{
        "", "read", "write", "admin", "whole_collection", "whole_database"};
    return kNames.at(static_cast<std::size_t>(need));
}

Need need_of(const Route& route) {
    return route.needs.value_or(route.writes ? Need::Write : Need::Read);
}

Object operation_of(const Route& route, const Object& schemas,
                    const service::RequestLimits& limits) {
    Object responses{{std::to_string(route.success), success_of(route)}};
    if (route.kind == RouteKind::Rpc) {
        responses.set("204", Object{{"description", "Nothing to answer."}});
    }
    if (route.kind == RouteKind::Page) {
        responses.set("304", Object{{"description", "Unchanged since the If-None-Match given."}});
    }
    if (route.kind == RouteKind::Mcp) {
        if (!route.request.empty()) {
            responses.set("202", Object{{"description", "A notification was accepted."}});
        }
        for (const int status : {400, 404}) {
            responses.set(std::to_string(status),
                          Object{{"description", "A JSON-RPC error."},
                                 {"content", content("application/json", "RpcAnswer")}});
        }
    }
    responses.set("default", Object{{"description", "A problem (RFC 9457)."},
                                    {"content", content("application/problem+json", "Problem")}});
    Object operation{{"operationId", route.id},
                     {"tags", Array{route.tag}},
                     {"summary", route.summary},
                     {"parameters", parameters_of(route)},
                     {"responses", std::move(responses)}};
    if (!route.request.empty()) operation.set("requestBody", request_body(route, schemas, limits));
    if (!route.rpc.empty()) operation.set("x-json-rpc-method", route.rpc);
    operation.set("x-writes", route.writes);
    if (const Need need = need_of(route); need != Need::Nothing) {
        operation.set("x-needs", name_of(need));
    }
    if (is_open(route)) operation.set("security", Array{});
    return operation;
}

/// A method that no route offers.
struct LoneMethod {
    std::string_view name;
    std::string_view params;  // name of their schema
    Need needs;
};
constexpr auto kLoneMethods = std::to_array<LoneMethod>({
    {"braid.finish_collection", "OfCollection", Need::WholeCollection},
    {"braid.ranker", "OfCollection", Need::WholeCollection},
    {"braid.set_ranker", "SetRanker", Need::WholeCollection},
    {"cstp.queryDecisions", "QueryDecisions", Need::Read},
    {"cstp.indexDecisions", "IndexDecisions", Need::Write},
});

/// Every method of JSON-RPC: whether it changes what is stored, what a key must allow, and its
/// parameters, either those of a route's operation or a schema of its own.
Array rpc_methods() {
    Array methods;
    for (const std::string& name : Rpc::methods()) {
        Object method{{"name", name}, {"writes", Rpc::method_writes(name)}};
        const auto route = std::ranges::find(routes(), name, &Route::rpc);
        const auto* const lone = std::ranges::find(kLoneMethods, name, &LoneMethod::name);
        Need need = Need::Read;
        if (route != routes().end()) {
            method.set("operation", route->id);
            need = need_of(*route);
        }
        if (lone != kLoneMethods.end()) {
            method.set("params", reference(lone->params));
            need = lone->needs;
        }
        if (need != Need::Nothing) method.set("needs", name_of(need));
        methods.emplace_back(std::move(method));
    }
    return methods;
}

std::string lower(std::string_view method) {
    std::string text(method);
    for (char& c : text) c = static_cast<char>(c | 0x20);
    return text;
}

}  // namespace

Object openapi_schemas() {
    Object schemas;
    add_file(schemas, "Request", kRequestSchema);
    add_file(schemas, "Answer", kAnswerSchema);
    Value rest = json::parse(kRestSchemas).value_or(Value(Object()));
    redirect(rest, "");
    for (auto& [name, schema] : rest.as_object()) schemas.set(name, std::move(schema));
    Value* const message = schemas.find("RpcMessage");
    Array methods;
    for (const std::string& name : Rpc::methods()) methods.emplace_back(name);
    Object& single = message->as_object().find("anyOf")->as_array().front().as_object();
    Object& members_of_message = single.find("properties")->as_object();
    members_of_message.set("method", Object{{"type", "string"}, {"examples", std::move(methods)}});
    // What the request's members mean, without forbidding others beside them.
    Value members = *schemas.find("Request");
    members.as_object().erase("additionalProperties");
    members.as_object().erase("examples");
    schemas.set("RequestMembers", std::move(members));
    for (const std::string_view name : {"NewChunk", "Request", "RequestMembers", "Schema"}) {
        describe_members(*schemas.find(name));  // within requests
    }
    for (const Route& route : routes()) {
        if (Value* const request = schemas.find(route.request)) describe_members(*request);
    }
    for (const LoneMethod& method : kLoneMethods) describe_members(*schemas.find(method.params));
    schemas.set("HybridSearchAnswer", apps::hybrid_search_schema());
    return schemas;
}

Value openapi_document(std::string_view version, const service::RequestLimits& limits) {
    Object schemas = openapi_schemas();
    Object paths;
    for (const Route& route : routes()) {
        Value* path = paths.find(route.path);
        if (path == nullptr) path = &paths.set(route.path, Object());
        path->as_object().set(lower(route.method), operation_of(route, schemas, limits));
    }
    const Object bearer{{"type", "http"}, {"scheme", "bearer"}};
    const Object header{{"type", "apiKey"}, {"in", "header"}, {"name", "X-Api-Key"}};
    return Object{
        {"openapi", "3.1.0"},
        {"info", Object{{"title", "braid"},
                        {"version", version},
                        {"description",
                         "Hybrid retrieval: dense vectors and BM25, fused, with a "
                         "receipt for every hit."}}},
        {"servers", Array{Object{{"url", "/"}}}},
        {"security", Array{Object{{"bearer", Array{}}}, Object{{"key", Array{}}}, Object{}}},
        {"paths", std::move(paths)},
        {"x-json-rpc-methods", rpc_methods()},
        {"components", Object{{"schemas", std::move(schemas)},
                              {"securitySchemes", Object{{"bearer", bearer}, {"key", header}}}}}};
}

}  // namespace braid::server
