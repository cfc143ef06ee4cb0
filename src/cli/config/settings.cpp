#include "braid/cli/config/settings.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "braid/apps/vocabulary.hpp"
#include "braid/cli/config/env_file.hpp"
#include "braid/cli/config/file.hpp"
#include "braid/cli/config/trust.hpp"
#include "braid/core/nearest.hpp"
#include "braid/engine/profile_variables.hpp"

namespace braid::cli {
namespace {

/// What a variable of the profiles was set to, wherever that was.
std::optional<std::string> set_variable(const Settings& settings, std::string_view variable) {
    const auto found = std::ranges::find_if(
        settings.all(), [&](const Setting& s) { return s.spec->variable == variable; });
    if (found == settings.all().end() || found->is_default()) return std::nullopt;
    return found->value;
}

std::vector<std::string> strange_names(const std::vector<EnvVariable>& variables,
                                       const std::string& file) {
    std::vector<std::string_view> known;
    known.reserve(setting_specs().size());
    for (const SettingSpec& spec : setting_specs()) known.push_back(spec.variable);
    std::vector<std::string> warnings;
    for (const auto& [name, value] : variables) {
        if (!name.starts_with("BRAID_") || std::ranges::find(known, name) != known.end()) continue;
        std::string& warning = warnings.emplace_back(file);
        warning.append(": unknown variable ").append(name);
        if (const auto near = core::nearest(name, known)) {
            warning.append("; did you mean ").append(*near).append("?");
        }
    }
    return warnings;
}

Result<> check(const Setting& setting) {
    const SettingSpec& spec = *setting.spec;
    const std::string expected =
        setting.is_default() ? std::string() : expectation(spec, setting.value);
    if (expected.empty()) return {};
    return invalid_argument(std::string(spec.variable) + " (" + setting.origin + ") must be " +
                            expected + (spec.secret ? "" : ", got \"" + setting.value + "\""));
}

std::string ignored_warning(const std::vector<std::string>& ignored,
                            const SettingSources& sources) {
    std::string text = sources.env_file.string() + ": ";
    for (const std::string& name : ignored) text += (&name == &ignored.front() ? "" : ", ") + name;
    return text + (ignored.size() == 1 ? " is" : " are") +
           " ignored: the directory is not trusted (see \"braid help config trust\")";
}

std::optional<std::string> process_variable(std::string_view name) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read before threads start
    const char* const value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
}

}  // namespace

SettingSources SettingSources::of_process() {
    SettingSources sources;
    sources.variable = process_variable;
    sources.env_file = ".env";
    if (const auto config = process_variable("XDG_CONFIG_HOME"); config && !config->empty()) {
        sources.config_file = std::filesystem::path(*config) / "braid" / "config.json";
    } else if (const auto home = process_variable("HOME"); home && !home->empty()) {
        sources.config_file = std::filesystem::path(*home) / ".config" / "braid" / "config.json";
    }
    if (!sources.config_file.empty()) {
        sources.trust_file = sources.config_file.parent_path() / "trusted.json";
    }
    return sources;
}

/// The sources as they are read, weakest first.
struct Settings::Reading {
    const SettingSources& sources;
    const ConfigFile& config;
    const std::vector<EnvVariable>& env_variables;
    bool env_trusted;
    mutable std::vector<std::string> ignored;  // variables of .env

    /// The other variable of a key counts, unless `other` says no.
    Setting setting(const SettingSpec& spec, bool other = true) const {
        Setting out{&spec, std::string(spec.otherwise), "default", {}, SettingSource::Default};
        if (const auto found = config.values().find(spec.name); found != config.values().end()) {
            out.value = found->second;
            out.origin = sources.config_file.string();
            out.source = SettingSource::Config;
        }
        const std::array variables{other ? spec.also : std::string_view(), spec.variable};
        for (const std::string_view variable : variables) take_from_file(variable, out);
        for (const std::string_view variable : variables) {
            const auto found = variable.empty() ? std::nullopt : sources.variable(variable);
            if (!found || found->empty()) continue;
            out.value = *found;
            out.origin = "environment";
            out.variable = variable;
            out.source = SettingSource::Environment;
        }
        return out;
    }

private:
    void take_from_file(std::string_view variable, Setting& out) const {
        const auto found = std::ranges::find(env_variables, variable, &EnvVariable::first);
        if (found == env_variables.end() || found->second.empty()) return;
        auto* const harmless = out.spec->harmless;
        if (!env_trusted && (harmless == nullptr || !harmless(found->second))) {
            const bool said = std::ranges::find(ignored, variable) != ignored.end();
            if (found->second != out.value && !said) ignored.emplace_back(variable);
            return;
        }
        out.value = found->second;
        out.origin = sources.env_file.string();
        out.variable = variable;
        out.source = SettingSource::EnvFile;
    }
};

Result<Settings> Settings::load(const SettingSources& sources) {
    std::vector<EnvVariable> env_variables;
    BRAID_TRY(const auto env_text, file_text(sources.env_file));
    if (env_text) {
        BRAID_TRY(env_variables, parse_env(*env_text, sources.env_file.string()));
    }
    BRAID_TRY(const ConfigFile config, ConfigFile::read(sources.config_file));
    Settings settings;
    settings.warnings_ = strange_names(env_variables, sources.env_file.string());
    auto trusted = is_trusted(sources.trust_file, sources.env_file);
    if (!trusted) settings.warnings_.push_back(trusted.error().message);
    settings.env_trusted_ = trusted.value_or(false);

    Reading reading{sources, config, env_variables, settings.env_trusted_, {}};
    for (const SettingSpec& spec : setting_specs()) {
        settings.settings_.push_back(reading.setting(spec));
    }
    for (Setting& key : settings.settings_) {
        if (!key.spec->goes_to.empty()) settings.bind(key, reading);
    }
    for (const Setting& setting : settings.settings_) BRAID_CHECK(check(setting));
    settings.ignored_ = std::move(reading.ignored);
    if (!settings.ignored_.empty()) {
        settings.warnings_.push_back(ignored_warning(settings.ignored_, sources));
    }
    settings.embedders_ = config.embedders();
    settings.visitors_ = config.visitors();
    BRAID_TRY(auto configured,
              engine::configure_profiles(
                  config.profiles(), apps::vocabulary(),
                  [&](std::string_view variable) { return set_variable(settings, variable); }));
    settings.profiles_ = std::move(configured.profiles);
    settings.default_profile_ = std::move(configured.default_profile);
    return settings;
}

void Settings::bind(Setting& key, const Reading& reading) {
    const Setting& address = setting(key.spec->goes_to);
    if (key.variable == key.spec->also && address.value != address.spec->otherwise) {
        key = reading.setting(*key.spec, false);
    }
    if (key.source >= address.source || key.value.empty()) return;
    withheld_.push_back(std::string(key.spec->name) + " (" + key.origin + ") is not sent to " +
                        address.value + " (" + address.origin + "), which it was not meant for");
    key.value.clear();
}

Result<service::Visitor> Settings::visitor(std::string_view name) const {
    std::string message =
        "there is no principal \"" + std::string(name) + "\" in the configuration; there are";
    for (const service::Visitor& visitor : visitors_) {
        if (visitor.principal.name == name) return visitor;
        message += (&visitor == &visitors_.front() ? " " : ", ") + visitor.principal.name;
    }
    if (visitors_.empty()) message += " none";
    return fail(ErrorCode::NotFound, std::move(message));
}

const Setting& Settings::setting(std::string_view name) const {
    return *std::ranges::find_if(settings_, [&](const Setting& s) { return s.spec->name == name; });
}

Result<Profile> Settings::profile(std::string_view name) const {
    return engine::profile_named(name.empty() ? default_profile_ : name, profiles_,
                                 apps::vocabulary());
}

double Settings::number(std::string_view name) const {
    return number_from(text(name)).value_or(0);
}

bool Settings::on(std::string_view name) const {
    return text(name) == "true";
}

void Settings::export_to_environment() const {
    for (const Setting& setting : settings_) {
        if (!setting.spec->exported || setting.is_default() || setting.origin == "environment") {
            continue;
        }
        // NOLINTNEXTLINE(concurrency-mt-unsafe): before threads start
        ::setenv(std::string(setting.spec->variable).c_str(), setting.value.c_str(), 0);
    }
}

}  // namespace braid::cli
