#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/cli/config/settings.hpp"
#include "braid/json/fields.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

/// What a value of the setting must be, if it is invalid; empty if it is fine.
std::string expectation(const SettingSpec& spec, const std::string& value);

std::optional<double> number_from(const std::string& text);

/// Null if there is no such file.
Result<std::optional<std::string>> file_text(const std::filesystem::path& path);

/// config.json: settings by name, profiles, embedders, principals.
class ConfigFile {
public:
    /// InvalidArgument names the file and the key. A file that is missing is empty.
    static Result<ConfigFile> read(const std::filesystem::path& path);

    const std::map<std::string, std::string, std::less<>>& values() const { return values_; }
    const std::vector<Profile>& profiles() const { return profiles_; }
    const Object& embedders() const { return embedders_; }
    const std::vector<service::Visitor>& visitors() const { return visitors_; }

private:
    Result<> read_members(const Value& json);
    Result<> read_setting(json::Fields& fields, std::string_view key, const SettingSpec& spec);

    std::map<std::string, std::string, std::less<>> values_;
    std::vector<Profile> profiles_;
    Object embedders_;
    std::vector<service::Visitor> visitors_;
};

}  // namespace braid::cli
