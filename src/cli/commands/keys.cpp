#include <array>
#include <filesystem>
#include <map>
#include <string>

#include "braid/cli/commands/input.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/output_file.hpp"
#include "braid/json/json.hpp"
#include "braid/server/auth/api_keys.hpp"

namespace braid::cli {
namespace {

constexpr auto kKeysFlags = std::to_array<FlagSpec>({
    {.name = "file",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "the key file (default: BRAID_KEY_FILE)"},
    {.name = "grant",
     .kind = FlagKind::List,
     .value = "NAME=RIGHT",
     .help = "read, write, admin; repeatable (default: *=read)"},
    {.name = "clearance",
     .kind = FlagKind::Text,
     .value = "LEVEL",
     .help = "sees chunks up to this sensitivity (default: all)"},
    {.name = "scope",
     .kind = FlagKind::List,
     .value = "NAME",
     .help = "sees this visibility_scope; repeatable"},
    {.name = "namespace",
     .kind = FlagKind::List,
     .value = "NAME",
     .help = "reads and writes only there; repeatable (default: all)"},
});

/// Who the key is for.
Result<service::Visitor> visitor_of(const Arguments& arguments) {
    service::Visitor visitor;
    visitor.principal.name = arguments.operands.front();
    visitor.principal.clearance = arguments.text("clearance");
    visitor.principal.scopes = arguments.list("scope");
    if (visitor.principal.clearance == "") return invalid_argument("--clearance: must be a level");
    if (!visitor.principal.scopes.empty() && !visitor.principal.clearance) {
        return invalid_argument("--scope needs --clearance: a key without one sees every chunk");
    }
    BRAID_TRY(visitor.namespaces, service::namespaces_of(arguments.list("namespace")));
    return visitor;
}

Result<std::map<std::string, service::Access>> grants_of(const Arguments& arguments) {
    std::map<std::string, service::Access> grants;
    for (const std::string& grant : arguments.list("grant")) {
        const std::size_t equals = grant.rfind('=');
        const std::string right = equals == std::string::npos ? "" : grant.substr(equals + 1);
        bool known = false;
        for (const auto access :
             {service::Access::Read, service::Access::Write, service::Access::Admin}) {
            if (right != service::name_of(access)) continue;
            grants[grant.substr(0, equals)] = access;
            known = true;
        }
        if (!known) {
            return invalid_argument("--grant: must be COLLECTION=read, =write or =admin, got \"" +
                                    grant + "\"");
        }
    }
    if (grants.empty()) grants["*"] = service::Access::Read;
    return grants;
}

/// The content of the file; no keys if there is no file.
Result<Object> read_keys(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return Object{{"keys", Array()}};
    BRAID_TRY(const std::string text, read_input(path));
    const auto ring = server::KeyRing::parse(text);
    if (!ring) return fail(path, ring.error());
    BRAID_TRY(Value json, json::parse(text));
    return std::move(json.as_object());
}

Result<> run_add_key(Session& session) {
    const std::string& name = session.arguments.operands.front();
    const std::string path =
        session.arguments.text_or("file", session.settings.text("serve.key_file"));
    if (path.empty()) return invalid_argument("\"keys add\" needs --file, or BRAID_KEY_FILE");
    BRAID_TRY(const auto grants, grants_of(session.arguments));
    BRAID_TRY(const service::Visitor visitor, visitor_of(session.arguments));
    BRAID_TRY(Object file, read_keys(path));
    BRAID_TRY(server::NewKey made, server::make_key(visitor, grants));
    file.find("keys")->as_array().emplace_back(std::move(made.entry));
    const std::string text = json::print_pretty(Value(std::move(file))) + "\n";
    auto valid = server::KeyRing::parse(text);
    if (!valid) return fail(path, std::move(valid).error());
    BRAID_CHECK(write_output(path, text, FileFor::Owner));
    if (session.json()) {
        session.out.json(
            Object{{"name", Value(name)}, {"key", Value(made.key)}, {"file", Value(path)}});
        return {};
    }
    session.out.line(made.key);
    session.note("This is the key \"" + plain(name) + "\". It is shown once: " + path +
                 " holds only its hash. Restart \"braid serve\" to use it.");
    return {};
}

}  // namespace

const CommandSpec kKeysAddCommand{
    .name = "keys add",
    .operands = "NAME",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "make an API key for braid serve",
    .details = R"(Prints the key and adds its hash to the key file, where rights, expiry and
principal can be edited (docs/http.md). Collections and namespaces may be
patterns that end in "*". Without --clearance the key sees every chunk of its
collections; with it, chunks up to that level that have no scope or one of its
own.

  braid keys add agent --grant notes=write --grant 'team-*=read'
  braid keys add ann --clearance normal --scope sales --namespace acme
  curl -H "Authorization: Bearer $KEY" http://127.0.0.1:27243/v1/collections)",
    .flags = kKeysFlags,
    .run = run_add_key,
};

}  // namespace braid::cli
