#include "scenarios/doors.hpp"

#include <utility>

#include "braid/apps/artifacts/hybrid_search.hpp"
#include "braid/apps/vocabulary.hpp"
#include "braid/database.hpp"
#include "braid/json/json.hpp"
#include "braid/server/http/app.hpp"
#include "braid/server/mcp/agent.hpp"
#include "braid/server/rpc/methods.hpp"
#include "braid/wire/answer_json.hpp"
#include "braid/wire/check_json.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/context_json.hpp"
#include "braid/wire/explain_json.hpp"
#include "braid/wire/request_json.hpp"
#include "braid/wire/schema_json.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"
#include "server/http_fixture.hpp"

namespace braid::testing {
namespace {

/// How the methods of JSON-RPC call a verb, with its parameters.
std::pair<std::string, Object> as_method(const Step& step) {
    Object params = step.params;
    if (step.verb == "create") {
        return {"create_collection",
                {{"name", Value(step.collection)}, {"schema", Value(std::move(params))}}};
    }
    if (step.verb == "add") {
        return {"add",
                {{"collection", Value(step.collection)}, {"chunks", Array{std::move(params)}}}};
    }
    if (step.verb == "update") {
        return {"update",
                {{"collection", Value(step.collection)}, {"updates", Array{std::move(params)}}}};
    }
    if (!step.collection.empty()) params.set("collection", step.collection);
    return {step.verb, std::move(params)};
}

Error failure(const Value& code) {
    const auto known = error_code_by_name(code.is_string() ? code.as_string() : "");
    return {known.value_or(ErrorCode::Corruption), json::print(code)};
}

bool changes(const Step& step) {
    return step.verb == "create" || step.verb == "add" || step.verb == "update" ||
           step.verb == "delete";
}

/// The facade alone: what a C++ program writes.
class LibraryDoor : public Door {
public:
    explicit LibraryDoor(const Behind& behind) : database_(behind.database()) {}

    std::string name() const override { return "library"; }
    std::optional<Result<Value>> run(const Step& step) override {
        if (step.verb == "create") return create(step);
        if (step.verb == "add") return add(step);
        if (step.verb == "delete") return remove(step);
        if (step.verb == "count") return count(step);
        if (step.verb == "retrieve") return retrieve(step);
        if (step.verb == "facets") return facets(step);
        if (step.verb == "context") return context(step);
        if (step.verb == "explain" || step.verb == "why_not") return explain(step);
        if (step.verb == "check") return check();
        // Neither is one call of the facade; the doors' own code is shared.
        const service::Operations operations(database_);
        if (step.verb == "update") {
            return service::run_json<service::UpdateRequest>(operations, as_method(step).second,
                                                             {});
        }
        return apps::run_hybrid_search(operations, step.params, {});
    }

protected:
    Database& database() { return database_; }

private:
    Result<Value> create(const Step& step) {
        BRAID_TRY(const Schema schema, wire::schema_from_value(step.params));
        BRAID_CHECK(database_.create_collection(step.collection, schema));
        return Value();
    }
    Result<Value> add(const Step& step) {
        BRAID_TRY(wire::ChunkInput input, wire::chunk_from_value(step.params, apps::vocabulary()));
        BRAID_CHECK(database_.add(step.collection, {std::move(input.chunk)},
                                  input.namespace_.value_or(std::string(kDefaultNamespace))));
        return Value();
    }
    Result<Value> remove(const Step& step) {
        DeleteSelector selector;
        for (const auto& [key, list] : {std::pair("chunk_ids", &selector.chunk_ids),
                                        std::pair("document_ids", &selector.document_ids)}) {
            const Value* const ids = step.params.find(key);
            if (ids == nullptr) continue;
            for (const Value& id : ids->as_array()) list->push_back(id.as_string());
        }
        if (const Value* const filter = step.params.find("filter")) {
            BRAID_TRY(selector.filter, parse_filter(*filter));
        }
        BRAID_CHECK(database_.remove({.collection = step.collection}, selector));
        return Value();
    }
    Result<Value> count(const Step& step) {
        ReadScope scope{.collection = step.collection};
        if (const Value* const filter = step.params.find("filter")) {
            BRAID_TRY(scope.filter, parse_filter(*filter));
        }
        BRAID_TRY(const std::uint64_t count, database_.count(scope));
        return Value(Object{{"count", count}});
    }
    Result<Value> retrieve(const Step& step) {
        BRAID_TRY(const Request request, wire::request_from_value(step.params, apps::vocabulary()));
        BRAID_TRY(const Answer answer, database_.retrieve(request));
        return wire::answer_to_value(answer, apps::vocabulary());
    }
    Result<Value> facets(const Step& step) {
        const std::string field = step.params.find("field")->as_string();
        BRAID_TRY(const auto counts, database_.facets({.collection = step.collection}, field));
        return wire::facets_to_value(field, counts);
    }
    Result<Value> context(const Step& step) {
        Object params = step.params;
        const auto budget = static_cast<std::size_t>(params.find("budget")->as_int());
        params.erase("budget");
        BRAID_TRY(const Request request, wire::request_from_value(params, apps::vocabulary()));
        BRAID_TRY(const Context context, database_.context(request, budget));
        return wire::context_to_value(context);
    }
    Result<Value> check() {
        BRAID_TRY(const CheckReport report, database_.check());
        return wire::check_to_value(report);
    }
    Result<Value> explain(const Step& step) {
        Object params = step.params;
        const std::string id = params.find("chunk_id")->as_string();
        params.erase("chunk_id");
        BRAID_TRY(const Request request, wire::request_from_value(params, apps::vocabulary()));
        if (step.verb == "explain") {
            BRAID_TRY(const Explanation explanation, database_.explain(request, id));
            return wire::explanation_to_value(explanation);
        }
        BRAID_TRY(const WhyNot why, database_.why_not(request, id));
        return wire::why_not_to_value(why);
    }

    Database database_;
};

class RpcDoor : public Door {
public:
    explicit RpcDoor(const Behind& behind) : database_(behind.database()) {}

    std::string name() const override { return "JSON-RPC"; }
    std::optional<Result<Value>> run(const Step& step) override {
        auto [method, params] = as_method(step);
        const Object message{{"jsonrpc", "2.0"},
                             {"id", 1},
                             {"method", "braid." + method},
                             {"params", std::move(params)}};
        const Value reply = parsed(rpc_.handle(json::print(message), {}).value_or("null"));
        if (const Value* const result = reply.find("result")) return *result;
        return Result<Value>(tl::unexpected(failure(at(reply, "error.data.code"))));
    }

private:
    Database database_;
    server::Rpc rpc_{database_};
};

std::string escaped(const std::string& id) {
    std::string out;
    for (const char c : id) (out += c == '#' ? "%23" : std::string(1, c));
    return out;
}

class HttpDoor : public Door {
public:
    explicit HttpDoor(const Behind& behind) : database_(behind.database()) {}

    std::string name() const override { return "HTTP"; }
    std::optional<Result<Value>> run(const Step& step) override {
        const std::string collection = "/v1/collections/" + step.collection;
        Object params = step.params;
        if (step.verb == "create") {
            return ask("POST", "/v1/collections",
                       Object{{"name", Value(step.collection)}, {"schema", std::move(params)}});
        }
        if (step.verb == "add") {
            const std::string id = params.find("chunk_id")->as_string();
            params.erase("chunk_id");
            return ask("PUT", collection + "/chunks/" + escaped(id), params);
        }
        if (step.verb == "update") {
            return ask("POST", collection + "/update", Object{{"updates", Array{params}}});
        }
        if (!step.collection.empty()) return ask("POST", collection + "/" + step.verb, params);
        return ask("POST", "/v1/" + step.verb, params);
    }

private:
    Result<Value> ask(const std::string& method, const std::string& target, const Value& body) {
        const auto response = send(app_, http_request(method, target, json::print(body)));
        Value answer = parsed(response.body);
        if (response.status < 400) return answer;
        return tl::unexpected(failure(at(answer, "code")));
    }

    Database database_;
    server::HttpApp app_{database_, {}};
};

/// Agents search; the data comes in through the library.
class McpDoor : public LibraryDoor {
public:
    using LibraryDoor::LibraryDoor;

    std::string name() const override { return "MCP"; }
    std::optional<Result<Value>> run(const Step& step) override {
        if (changes(step)) return LibraryDoor::run(step);
        if (step.verb != "hybrid_search") return std::nullopt;
        const Object meta{{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                          {"io.modelcontextprotocol/clientCapabilities", Object{}}};
        const Object message{
            {"jsonrpc", "2.0"},
            {"id", 1},
            {"method", "tools/call"},
            {"params",
             Object{{"_meta", meta}, {"name", "hybrid_search"}, {"arguments", step.params}}}};
        server::McpSession session(server_);
        const Value reply = parsed(session.handle(json::print(message), {}).value_or("null"));
        if (at(reply, "result.isError") == Value(false)) {
            return at(reply, "result.structuredContent");
        }
        // A tool says what is wrong in words for the model, without a code.
        return Result<Value>(fail(ErrorCode::Unavailable, json::print(reply)));
    }

private:
    server::McpServer server_{database()};
};

class CliDoor : public Door {
public:
    explicit CliDoor(const Behind& behind) {
        if (behind.environment) environment_ = behind.environment();
    }

    std::string name() const override { return "command line"; }
    std::optional<Result<Value>> run(const Step& step) override {
        const std::string json = json::print(Value(step.params));
        if (step.verb == "create") {
            return braid({"collections", "create", step.collection, "--schema", "-"}, json);
        }
        if (step.verb == "add") return braid({"add", "--collection", step.collection}, json);
        if (step.verb == "retrieve") return braid({"retrieve", "--request", "-"}, json);
        if (step.verb == "update") return update(step);
        if (step.verb == "delete") return remove(step);
        if (step.verb == "check") return braid({"check"});
        return std::nullopt;
    }

private:
    Result<Value> update(const Step& step) {
        std::vector<std::string> arguments{"update", "--collection", step.collection, "--id",
                                           step.params.find("chunk_id")->as_string()};
        for (const auto& [key, flag] :
             {std::pair("metadata", "--metadata"), std::pair("sensitivity", "--sensitivity")}) {
            const Value* const value = step.params.find(key);
            if (value == nullptr) continue;
            arguments.emplace_back(flag);
            arguments.push_back(value->is_string() ? value->as_string() : json::print(*value));
        }
        return braid(std::move(arguments));
    }
    Result<Value> remove(const Step& step) {
        std::vector<std::string> arguments{"delete", "--collection", step.collection};
        for (const auto& [key, flag] :
             {std::pair("chunk_ids", "--id"), std::pair("document_ids", "--document")}) {
            const Value* const ids = step.params.find(key);
            if (ids == nullptr) continue;
            for (const Value& id : ids->as_array()) {
                arguments.emplace_back(flag);
                arguments.push_back(id.as_string());
            }
        }
        if (const Value* const filter = step.params.find("filter")) {
            arguments.insert(arguments.end(), {"--filter", json::print(*filter)});
        }
        return braid(std::move(arguments));
    }
    Result<Value> braid(std::vector<std::string> arguments, const std::string& input = "") {
        arguments.insert(arguments.end(), {"--json", "--data", folder_ / "data"});
        RunOptions options;
        options.input = input;
        options.environment = environment_;
        const RunResult result = run_braid(arguments, options);
        if (result.exit_code == 0) return json::parse(result.output);
        // An exit code says less than a name: the first error that has it.
        for (int code = 0; code <= static_cast<int>(ErrorCode::Unsupported); ++code) {
            if (error_facts(static_cast<ErrorCode>(code)).exit_code == result.exit_code) {
                return fail(static_cast<ErrorCode>(code), result.errors);
            }
        }
        return fail(ErrorCode::Corruption, result.errors);
    }

    TemporaryFolder folder_;
    std::vector<std::pair<std::string, std::string>> environment_;
};

}  // namespace

std::vector<std::unique_ptr<Door>> all_doors(const Behind& behind) {
    std::vector<std::unique_ptr<Door>> doors;
    doors.push_back(std::make_unique<LibraryDoor>(behind));
    doors.push_back(std::make_unique<RpcDoor>(behind));
    doors.push_back(std::make_unique<HttpDoor>(behind));
    doors.push_back(std::make_unique<McpDoor>(behind));
    doors.push_back(std::make_unique<CliDoor>(behind));
    return doors;
}

}  // namespace braid::testing
