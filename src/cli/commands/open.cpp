#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/serve.hpp"
#include "braid/cli/config/socket_place.hpp"
#include "braid/cli/session.hpp"
#include "braid/json/json.hpp"
#include "braid/net/client/http_client.hpp"
#include "braid/service/operation_json.hpp"

namespace braid::cli {
namespace {

constexpr std::array kOpenFlags{
    FlagSpec{.name = "no-browser", .help = "only say where the page is"},
};

std::string variable(const char* name) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing changes the environment
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// The program that shows an address: $BROWSER, else the desktop's; empty: there is no desktop.
std::string browser() {
    if (const std::string chosen = variable("BROWSER"); !chosen.empty()) {
        return chosen.substr(0, chosen.find(':'));
    }
    return variable("DISPLAY").empty() && variable("WAYLAND_DISPLAY").empty() ? "" : "xdg-open";
}

/// False if the program could not be started. It is left to itself, and its output is dropped.
bool show_in(std::string program, std::string address) {
    posix_spawn_file_actions_t actions{};
    if (::posix_spawn_file_actions_init(&actions) != 0) return false;
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        ::posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
    }
    std::array<char*, 3> words{program.data(), address.data(), nullptr};
    pid_t process = 0;
    const int failed =
        ::posix_spawnp(&process, program.c_str(), &actions, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    return failed == 0;
}

void show_page(const Session& session, const std::string& address) {
    if (session.arguments.has("no-browser")) return session.note("the page is at " + address);
    const std::string program = browser();
    if (!program.empty() && show_in(program, address)) {
        return session.note("opening " + address);
    }
    session.note("no browser found; the page is at " + address);
}

/// Where the server that listens at the socket has its page.
Result<std::string> address_at(const std::string& socket) {
    net::HttpClientOptions options;
    options.unix_socket = socket;
    const net::HttpClient client(options);
    BRAID_TRY(const auto answer, client.send({.url = "http://localhost/healthz"}, {}));
    BRAID_TRY(const Value told, json::parse(answer.body));
    std::string address = service::text_in(told, "address");
    if (address.empty()) {
        return fail(ErrorCode::Unavailable,
                    "the running server does not say where its web page is; restart it");
    }
    return address;
}

Result<> run_open(Session& session) {
    const auto socket = served_socket(session.data());
    if (!socket) {
        return serve_database(
            session, {.any_port = !session.arguments.has("port"),
                      .listening = [&](const std::string& at) { show_page(session, at); }});
    }
    BRAID_TRY(const std::string address, address_at(*socket));
    show_page(session, address);
    if (session.json()) session.out.json(Object{{"listening", Value(address)}});
    return {};
}

}  // namespace

const CommandSpec kOpenCommand{
    .name = "open",
    .operands = "",
    .summary = "open the web page, serving the database if needed",
    .details = R"(If the database is already served, only the browser is started ($BROWSER,
else the desktop's). Otherwise this serves it, as "braid serve" does with the
same flags, until it is stopped; if port 27243 is taken, at another.

  braid open --data ~/notes
  braid open --no-browser)",
    .flags = kOpenFlags,
    .shared_flags = serve_flags(),
    .shared_title = "How to serve",
    .run = run_open,
    .whole_database = true,
};

}  // namespace braid::cli
