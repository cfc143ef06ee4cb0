#include "braid/cli/config/file.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "braid/apps/vocabulary.hpp"
#include "braid/cli/args/arguments.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/profile_json.hpp"

namespace braid::cli {
namespace {

std::string shown_number(double number) {
    std::ostringstream out;
    out << std::setprecision(15) << number;
    return out.str();
}

}  // namespace

std::optional<double> number_from(const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || after != end || !std::isfinite(number)) return std::nullopt;
    return number;
}

std::string expectation(const SettingSpec& spec, const std::string& value) {
    switch (spec.kind) {
        case SettingKind::Text:
            if (spec.choices.empty() || is_choice(spec.choices, value)) return {};
            return "one of " + std::string(spec.choices);
        case SettingKind::Switch:
            return value == "true" || value == "false" ? "" : "true or false";
        case SettingKind::Integer:
        case SettingKind::Number:
            break;
    }
    const auto number = number_from(value);
    const bool whole = spec.kind == SettingKind::Integer;
    if (number && *number >= spec.min && *number <= spec.max &&
        (!whole || *number == std::floor(*number))) {
        return {};
    }
    return std::string(whole ? "an integer from " : "a number from ") + shown_number(spec.min) +
           " to " + shown_number(spec.max);
}

Result<std::optional<std::string>> file_text(const std::filesystem::path& path) {
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored)) return std::nullopt;
    const std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) return fail(ErrorCode::IoError, "cannot read " + path.string());
    return text.str();
}

Result<ConfigFile> ConfigFile::read(const std::filesystem::path& path) {
    ConfigFile config;
    BRAID_TRY(const auto text, file_text(path));
    if (!text) return config;
    auto json = json::parse(*text);
    if (!json) return invalid_argument(path.string() + ": " + json.error().message);
    auto done = config.read_members(*json);
    if (!done) return fail(path.string(), std::move(done).error());
    return config;
}

Result<> ConfigFile::read_members(const Value& json) {
    BRAID_TRY(auto root, json::Fields::of(json));
    std::map<std::string, json::Fields> groups;
    for (const SettingSpec& spec : setting_specs()) {
        const std::size_t dot = spec.name.find('.');
        if (dot == std::string_view::npos) {
            BRAID_CHECK(read_setting(root, spec.name, spec));
            continue;
        }
        const std::string group(spec.name.substr(0, dot));
        if (!groups.contains(group)) {
            BRAID_TRY(auto members, root.fields(group));
            if (!members) continue;
            groups.emplace(group, *std::move(members));
        }
        BRAID_CHECK(read_setting(groups.at(group), spec.name.substr(dot + 1), spec));
    }
    BRAID_TRY(const Object* const profiles, root.object("profiles"));
    if (profiles != nullptr) {
        const auto known = core::known_profiles(apps::vocabulary());
        for (const auto& [name, profile] : *profiles) {
            BRAID_TRY(auto read, wire::profile_from_value(name, profile, known));
            profiles_.push_back(std::move(read));
        }
    }
    BRAID_TRY(const Object* const embedders, root.object("embedders"));
    if (embedders != nullptr) embedders_ = *embedders;
    BRAID_TRY(const Object* const principals, root.object("principals"));
    if (principals != nullptr) {
        for (const auto& [name, principal] : *principals) {
            BRAID_TRY(auto visitor, service::visitor_from_value(principal, "principals." + name));
            visitor.principal.name = name;
            visitors_.push_back(std::move(visitor));
        }
    }
    for (const auto& [name, members] : groups) BRAID_CHECK(members.finish());
    return root.finish();
}

Result<> ConfigFile::read_setting(json::Fields& fields, std::string_view key,
                                  const SettingSpec& spec) {
    const Value* const value = fields.any(key);
    if (value == nullptr || value->is_null()) return {};
    const bool fits = spec.kind == SettingKind::Text     ? value->is_string()
                      : spec.kind == SettingKind::Switch ? value->is_bool()
                                                         : value->is_number();
    const std::string text = value->is_string() ? value->as_string() : json::print(*value);
    std::string expected = fits ? expectation(spec, text) : std::string();
    if (!fits) {
        expected = spec.kind == SettingKind::Text     ? "a string"
                   : spec.kind == SettingKind::Switch ? "true or false"
                                                      : "a number";
    }
    if (!expected.empty()) return invalid_argument(fields.complaint(key, expected));
    values_[std::string(spec.name)] = text;
    return {};
}

}  // namespace braid::cli
