#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "braid/cli/commands/input.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/config/embedders.hpp"
#include "braid/cli/config/socket_place.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"
#include "braid/engine/embedder_settings.hpp"
#include "braid/server/auth/api_keys.hpp"

namespace braid::cli {
namespace {

namespace fs = std::filesystem;

std::string cpu_name() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return "x86-64, avx512";
    if (__builtin_cpu_supports("avx2")) return "x86-64, avx2";
    return "x86-64";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "other";
#endif
}

/// Looks at everything the program depends on, and remembers what is wrong.
class Examination {
public:
    explicit Examination(const Session& session) : session_(session) {}

    void run() {
        installed("version", BRAID_VERSION);
        installed("processor", cpu_name() + (session_.settings.text("cpu").empty()
                                                 ? ""
                                                 : ", BRAID_CPU=" + session_.settings.text("cpu")));
        look_at_configuration();
        look_at_database();
        look_at_embedders();
        look_at_endpoints();
        look_at_server();
    }

    Value to_value() const {
        const auto pairs = [](const Facts& facts) {
            Object out;
            for (const auto& [name, text] : facts) out.set(name, Value(text));
            return out;
        };
        return Object{{"installed", pairs(installed_)},
                      {"configuration", pairs(configuration_)},
                      {"database", pairs(database_)},
                      {"leaves_the_machine", Array(leaves_.begin(), leaves_.end())},
                      {"problems", Array(problems_.begin(), problems_.end())}};
    }

    void print(Output& out) const {
        print_facts(out, "Installed", installed_);
        print_facts(out, "Configuration", configuration_);
        print_facts(out, "Database", database_);
        print_list(out, "Leaves this machine", leaves_, "nothing");
        print_list(out, "Wrong", problems_, "nothing");
    }

    const std::vector<std::string>& problems() const { return problems_; }

private:
    using Facts = std::vector<std::pair<std::string, std::string>>;

    void installed(std::string name, std::string text) {
        installed_.emplace_back(std::move(name), std::move(text));
    }
    void problem(std::string text) { problems_.push_back(std::move(text)); }

    void look_at_configuration() {
        const SettingSources sources = SettingSources::of_process();
        for (const auto& [name, path] :
             {std::pair("config.json", sources.config_file), std::pair(".env", sources.env_file)}) {
            std::error_code ignored;
            const bool there = !path.empty() && fs::exists(path, ignored);
            configuration_.emplace_back(name, path.string() + (there ? "" : " (missing)"));
        }
        for (const Setting& setting : session_.settings.all()) {
            configuration_.emplace_back(setting.spec->name, described(setting));
        }
        for (const std::string& key : session_.settings.withheld()) {
            configuration_.emplace_back("not sent", key);
        }
        for (const std::string& warning : session_.settings.warnings()) problem(warning);
    }

    /// The value and where it came from.
    std::string described(const Setting& setting) const {
        std::string value = setting.value.empty()  ? "(none)"
                            : setting.spec->secret ? "(set)"
                                                   : plain(setting.value);
        if (setting.spec->name == "data" && session_.arguments.has("data")) {
            return plain(session_.data()) + ", from flag --data";
        }
        value += setting.is_default() ? ", by default" : ", from " + setting.origin;
        if (setting.source == SettingSource::EnvFile && session_.settings.env_trusted()) {
            value += " of a trusted directory";
        }
        return value;
    }

    void look_at_database() {
        if (session_.clustered()) {
            database_.emplace_back("cluster", session_.place());
            leaves_.push_back("chunks, vectors and queries, to the cluster at " + session_.place());
            look_into_database();
            return;
        }
        const std::string data = session_.data();
        database_.emplace_back("folder", data);
        std::error_code ignored;
        if (!fs::exists(data, ignored)) {
            database_.emplace_back("state", "does not exist yet; the first write creates it");
            return;
        }
        struct stat found {};
        if (::stat(data.c_str(), &found) == 0 && (found.st_mode & S_IWOTH) != 0) {
            problem(data + ": anyone may write there");
        }
        const auto socket = served_socket(data);
        if (std::string why = distrusted_socket(data); !why.empty()) problem(std::move(why));
        database_.emplace_back("state", socket ? "served at " + *socket : state_of_lock());
        look_into_database();
    }

    void look_into_database() {
        const auto service = session_.service_for_reading();
        if (!service) {
            problem(service.error().message);
            return;
        }
        const auto listed = (*service)->run(service::CollectionsRequest{});
        if (!listed) {
            problem(listed.error().message);
            return;
        }
        for (const CollectionInfo& info : *listed) look_at_collection(info);
    }

    /// Goes by what the lock file says about its holder: trying the lock would get in a writer's
    /// way.
    std::string state_of_lock() const {
        std::ifstream lock(fs::path(session_.data()) / "LOCK");
        long process = 0;
        if (!(lock >> process) || process <= 0) return "free";
        const bool alive = ::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM;
        return alive ? "in use by process " + std::to_string(process) + ", which writes" : "free";
    }

    void look_at_collection(const CollectionInfo& info) {
        const std::string& embedder = info.schema.vectors.embedder;
        database_.emplace_back("collection " + info.name,
                               core::count_of(info.chunks, "chunk", "chunks") + ", vectors: " +
                                   embedder + (info.damage.empty() ? "" : ", cannot be read"));
        if (!info.damage.empty()) {
            problem("collection \"" + info.name + "\" cannot be read: " + info.damage);
        }
        used_by_[embedder].push_back("collection \"" + info.name + "\"");
    }

    void look_at_embedders() {
        used_by_[engine::full_embedder_name(session_.settings.text("embedder"))].emplace_back(
            "new collections");
        auto names = engine::builtin_embedders();
        for (const auto& [name, json] : session_.settings.embedders()) names.push_back(name);
        for (const auto& [name, users] : used_by_) names.push_back(name);
        std::ranges::sort(names);
        names.erase(std::unique(names.begin(), names.end()), names.end());
        const auto factory = embedder_factory(session_.settings);
        if (!factory) {
            problem(factory.error().message);
            return;
        }
        for (const std::string& name : names) {
            if (name != "none" && name != "external" && name != "openai")
                try_embedder(*factory, name);
        }
    }

    void try_embedder(const EmbedderFactory& factory, const std::string& name) {
        VectorSpec spec;
        spec.embedder = name;
        const auto embedder = factory(spec);
        if (embedder) {
            const EmbedderFingerprint& print = (*embedder)->fingerprint();
            installed("model " + name, std::to_string(print.dimension) + " dimensions, " +
                                           print.runtime + ", " + print.cpu_level);
            return;
        }
        installed("model " + name, "not usable");
        const auto users = used_by_.find(name);
        const bool own = session_.settings.embedders().find(name) != nullptr;
        if (users != used_by_.end() || own) {
            problem("embedder \"" + name + "\"" +
                    (users != used_by_.end() ? ", used by " + users->second.front() : "") + ": " +
                    embedder.error().message);
        }
    }

    void look_at_endpoints() {
        const Settings& settings = session_.settings;
        const bool offline = settings.on("offline");
        const auto users = used_by_.find("openai");
        const bool nameable = is_openai_configured(settings) && !offline;
        if (users != used_by_.end() || nameable) {
            std::string who = users == used_by_.end() ? "collections that name it" : "";
            if (users != used_by_.end()) {
                for (const std::string& user : users->second) {
                    who += (who.empty() ? "" : ", ") + user;
                }
            }
            const std::string url = settings.text("openai.baseUrl");
            if (offline) {
                problem("embedder \"openai\" is used by " + who + ", but \"offline\" is on");
            } else {
                leaves_.push_back("chunks and queries, to be embedded, to " + url + " (" + who +
                                  ")");
                if (settings.text("openai.apiKey").empty() &&
                    url.find("api.openai.com") != std::string::npos) {
                    problem("embedder \"openai\" has no key (BRAID_OPENAI_API_KEY)");
                }
            }
        }
        if (!settings.text("llm.model").empty() && !offline) {
            leaves_.push_back("queries that ask for expand_query or use_hyde, to " +
                              settings.text("llm.baseUrl") + " (model " +
                              settings.text("llm.model") + ")");
        }
        if (offline) configuration_.emplace_back("offline", "on: every outgoing call is forbidden");
    }

    void look_at_server() {
        const Settings& settings = session_.settings;
        for (const std::string_view name : {"serve.tls_cert", "serve.tls_key"}) {
            const std::string& path = settings.text(name);
            if (!path.empty() && ::access(path.c_str(), R_OK) != 0) {
                problem(std::string(name) + ": " + path + " cannot be read");
            }
        }
        server::KeyRing keys;
        if (const std::string& path = settings.text("serve.key_file"); !path.empty()) {
            const auto text = read_input(path);
            auto read = text ? server::KeyRing::parse(*text)
                             : Result<server::KeyRing>(tl::unexpected<Error>(text.error()));
            if (!read) {
                problem("serve.key_file: " + read.error().message);
                return;
            }
            keys = *std::move(read);
            installed("API keys", std::to_string(keys.size()));
        }
        const auto safe = server::require_keys(settings.text("serve.host"), keys);
        if (!safe) problem("serve.host: " + safe.error().message);
    }

    static void print_title(Output& out, std::string_view title) {
        out.line(std::string(out.style().bold) + std::string(title) +
                 std::string(out.style().reset));
    }
    static void print_facts(Output& out, std::string_view title, const Facts& facts) {
        print_title(out, title);
        std::size_t width = 0;
        for (const auto& [name, text] : facts) width = std::max(width, name.size());
        for (const auto& [name, text] : facts) {
            out.line("  " + padded(name, width) + "  " + plain(text));
        }
        out.line();
    }
    static void print_list(Output& out, std::string_view title,
                           const std::vector<std::string>& lines, std::string_view none) {
        print_title(out, title);
        if (lines.empty()) out.line("  " + std::string(none));
        for (const std::string& line : lines) out.line("  " + plain(line));
        if (title != "Wrong") out.line();
    }

    const Session& session_;
    Facts installed_;
    Facts configuration_;
    Facts database_;
    std::vector<std::string> leaves_;
    std::vector<std::string> problems_;
    std::map<std::string, std::vector<std::string>> used_by_;  // embedders, by whom
};

Result<> run_doctor(Session& session) {
    Examination examination(session);
    examination.run();
    if (session.json()) {
        session.out.json(examination.to_value());
    } else {
        examination.print(session.out);
    }
    const std::size_t count = examination.problems().size();
    if (count == 0) return {};
    return fail(ErrorCode::Unavailable, core::count_of(count, "problem", "problems") + " found");
}

}  // namespace

const CommandSpec kDoctorCommand{
    .name = "doctor",
    .operands = "",
    .summary = "report what is installed, where data goes, what is wrong",
    .details = R"(Inspects the program, the configuration, the database and its lock, the models,
and the endpoints that would be called, without calling any. Exits with 1 if
something is wrong.

  braid doctor --data ~/notes
  braid doctor --json)",
    .flags = {},
    .run = run_doctor,
    .paged = true,
};

}  // namespace braid::cli
