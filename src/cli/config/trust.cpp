#include "braid/cli/config/trust.hpp"

#include <algorithm>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "braid/cli/config/file.hpp"
#include "braid/cli/view/output_file.hpp"
#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"

namespace braid::cli {
namespace {

namespace fs = std::filesystem;

/// Whether only this user (or root) can have written it.
bool is_own(const fs::path& path, mode_t writers) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 &&
           (found.st_uid == ::geteuid() || found.st_uid == 0) && (found.st_mode & writers) == 0;
}

Result<std::vector<std::string>> read_list(const fs::path& list, const std::string& text) {
    auto json = json::parse(text);
    if (!json) return fail(list.string(), std::move(json).error());
    BRAID_TRY(auto fields, json::Fields::of(*json));
    BRAID_TRY(auto directories, fields.strings("directories"));
    BRAID_CHECK(fields.finish());
    return std::move(directories).value_or(std::vector<std::string>());
}

}  // namespace

Result<std::string> directory_name(const fs::path& directory) {
    std::error_code error;
    const fs::path whole = fs::canonical(directory, error);
    if (error) return fail(ErrorCode::NotFound, directory.string() + ": " + error.message());
    if (!fs::is_directory(whole, error)) {
        return invalid_argument(whole.string() + " is not a directory");
    }
    return whole.string();
}

Result<std::vector<std::string>> trusted_directories(const fs::path& list) {
    BRAID_TRY(const auto text, file_text(list));
    if (!text) return std::vector<std::string>();
    if (!is_own(list, S_IWGRP | S_IWOTH)) {
        return fail(ErrorCode::PermissionDenied,
                    list.string() + " may have been written by other users, so it is ignored");
    }
    return read_list(list, *text);
}

Result<bool> set_trusted(const fs::path& list, const std::string& directory, bool trusted) {
    if (list.empty()) {
        return fail(ErrorCode::NotFound,
                    "there is nowhere to keep the list: neither XDG_CONFIG_HOME nor HOME is set");
    }
    BRAID_TRY(auto directories, trusted_directories(list));
    const auto found = std::ranges::find(directories, directory);
    if ((found != directories.end()) == trusted) return false;
    if (trusted) {
        directories.push_back(directory);
    } else {
        directories.erase(found);
    }
    std::error_code error;
    fs::create_directories(list.parent_path(), error);
    if (error)
        return fail(ErrorCode::IoError, list.parent_path().string() + ": " + error.message());
    const Object json{{"directories", Array(directories.begin(), directories.end())}};
    BRAID_CHECK(write_output(list.string(), json::print_pretty(Value(json)) + "\n"));
    ::chmod(list.c_str(), S_IRUSR | S_IWUSR);
    return true;
}

Result<bool> is_trusted(const fs::path& list, const fs::path& env_file) {
    BRAID_TRY(const auto directories, trusted_directories(list));
    if (directories.empty()) return false;
    std::error_code error;
    const fs::path whole = fs::canonical(env_file, error);
    if (error) return false;
    return std::ranges::find(directories, whole.parent_path().string()) != directories.end() &&
           is_own(whole, S_IWOTH);
}

}  // namespace braid::cli
