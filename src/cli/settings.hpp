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
    std::string_view also{};  // another variable, looked at second
};

/// A value and where it came from.
struct Setting {
    const SettingSpec* spec = nullptr;
    std::string value;
    std::string origin;    // "environment", "/home/u/.env", "default"
    std::string variable;  // the name it had there; empty for config.json and defaults
    bool is_default() const { return origin == "default"; }
};

/// What settings are read from; tests bring their own.
struct SettingSources {
    std::function<std::optional<std::string>(std::string_view)> variable;
    std::filesystem::path env_file;     // need not exist
    std::filesystem::path config_file;  // need not exist

    /// The process: its environment, `.env` in the current directory,
    /// `$XDG_CONFIG_HOME/braid/config.json` (or below ~/.config).
    static SettingSources of_process();
};

/// The configuration: environment before .env before config.json before the defaults. Flags stand
/// above all of them and are handled where they are read.
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
    /// The "embedders" of config.json as they stand there: models of the user's own, by name.
    const Object& embedders() const noexcept { return embedders_; }
    /// Names in .env that look like ours but are not.
    const std::vector<std::string>& warnings() const noexcept { return warnings_; }

    /// Puts settings that the library reads itself into the environment. Call it before threads
    /// start.
    void export_to_environment() const;

private:
    std::vector<Setting> settings_;
    std::vector<Profile> profiles_;
    Object embedders_;
    std::vector<std::string> warnings_;
};

std::span<const SettingSpec> setting_specs();

}  // namespace braid::cli
