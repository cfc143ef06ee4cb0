#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/service/visitor.hpp"
#include "braid/value.hpp"

namespace braid::cli {

enum class SettingKind { Text, Integer, Number, Switch };

/// One thing that can be configured.
struct SettingSpec {
    std::string_view name;       // in config.json, dots for nesting: "retrieval.top_k"
    std::string_view variable;   // in the environment and in .env
    std::string_view otherwise;  // the default, as text
    SettingKind kind = SettingKind::Text;
    double min = 0;  // of numbers
    double max = 0;
    std::string_view help{};
    bool exported = false;  // read by the library from the environment, so it is put there
    bool secret = false;    // never shown
    std::string_view choices{};
    std::string_view also{};  // another variable, of other programs too, looked at second
    /// Whether a .env may set this value in a directory that nobody has vouched for; none: never.
    bool (*harmless)(std::string_view value) = nullptr;
    std::string_view goes_to{};  // of a key: the setting that is its address
};

/// Where a value came from; stronger sources come later.
enum class SettingSource { Default, Config, EnvFile, Environment };

/// A value and where it came from.
struct Setting {
    const SettingSpec* spec = nullptr;
    std::string value;
    std::string origin;    // "environment", "/home/u/.env", "default"
    std::string variable;  // the name it had there; empty for config.json and defaults
    SettingSource source = SettingSource::Default;
    bool is_default() const { return origin == "default"; }
};

/// What settings are read from; tests bring their own.
struct SettingSources {
    std::function<std::optional<std::string>(std::string_view)> variable;
    std::filesystem::path env_file;      // need not exist
    std::filesystem::path config_file;   // need not exist
    std::filesystem::path trust_file{};  // need not exist

    /// The process: its environment, `.env` in the current directory, config.json and trusted.json
    /// in `$XDG_CONFIG_HOME/braid` (or below ~/.config).
    static SettingSources of_process();
};

/// The configuration: environment before .env before config.json before the defaults. Flags stand
/// above all of them and are handled where they are read.
///
/// Of a .env in a directory that is not trusted (trust.hpp), only what is harmless counts. A key
/// goes only to an address that its own source gives or sees: not to one that stands above it, and
/// OPENAI_API_KEY, which other programs read too, to OpenAI's alone.
class Settings {
public:
    /// InvalidArgument names the variable or key and the file: an unknown key in config.json, a
    /// value of the wrong type or range, a line of .env that cannot be read.
    static Result<Settings> load(const SettingSources& sources);

    const std::vector<Setting>& all() const noexcept { return settings_; }
    const Setting& setting(std::string_view name) const;
    const std::string& text(std::string_view name) const { return setting(name).value; }
    double number(std::string_view name) const;
    bool on(std::string_view name) const;

    /// What the configuration changes or adds: `service` and `artifacts` with the values of their
    /// variables, and the profiles of config.json.
    const std::vector<Profile>& profiles() const noexcept { return profiles_; }
    /// For searches that name none.
    const std::string& default_profile() const noexcept { return default_profile_; }
    /// By its name, whoever defines it; empty: the default one. NotFound lists those there are.
    Result<Profile> profile(std::string_view name) const;
    /// The "embedders" of config.json as written there: the user's own models, by name.
    const Object& embedders() const noexcept { return embedders_; }
    /// The principals of config.json, for --as. NotFound lists them.
    Result<service::Visitor> visitor(std::string_view name) const;
    /// Whether .env may set everything.
    bool env_trusted() const noexcept { return env_trusted_; }
    /// Variables of .env that do not count because its directory is not trusted.
    const std::vector<std::string>& ignored() const noexcept { return ignored_; }
    /// Keys that are not used because of where the address came from.
    const std::vector<std::string>& withheld() const noexcept { return withheld_; }
    /// Lines of .env without effect: names that look like ours but are not, and ignored settings.
    const std::vector<std::string>& warnings() const noexcept { return warnings_; }

    /// Puts settings that the library reads itself into the environment. Call it before threads
    /// start.
    void export_to_environment() const;

private:
    struct Reading;
    /// Removes the key if it is not meant for the address it would be sent to.
    void bind(Setting& key, const Reading& reading);

    std::vector<Setting> settings_;
    std::vector<Profile> profiles_;
    std::string default_profile_;
    Object embedders_;
    std::vector<service::Visitor> visitors_;
    bool env_trusted_ = false;
    std::vector<std::string> ignored_;
    std::vector<std::string> withheld_;
    std::vector<std::string> warnings_;
};

std::span<const SettingSpec> setting_specs();

}  // namespace braid::cli
