#include "braid/cli/config/socket_place.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <span>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "braid/cli/view/output_file.hpp"
#include "braid/core/sha256.hpp"
#include "braid/net/http/socket_file.hpp"

namespace braid::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSocketName = "braid.sock";
constexpr std::string_view kRecordName = "braid.sock.path";

/// A folder that nobody else can put anything into. PermissionDenied if it exists and is not one.
Result<fs::path> private_folder() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing changes the environment
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    fs::path folder = runtime != nullptr && *runtime != '\0'
                          ? fs::path(runtime) / "braid"
                          : fs::path("/tmp") / ("braid-" + std::to_string(::geteuid()));
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
        return fail(ErrorCode::IoError, "cannot create " + folder.string() + ": " +
                                            std::generic_category().message(errno));
    }
    struct stat found {};
    if (::lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
        found.st_uid != ::geteuid() || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return fail(ErrorCode::PermissionDenied,
                    folder.string() + " is not a folder that only this user can enter");
    }
    return folder;
}

/// What is wrong with a file's owner or mode; empty: only this user can have made or changed it.
std::string distrust(const fs::path& path, const struct stat& found, mode_t others) {
    if (found.st_uid != ::geteuid()) return path.string() + " belongs to another user";
    if ((found.st_mode & others) != 0) return path.string() + " is open to other users";
    return {};
}

/// The first line of the file that says where the socket is; `why` if it cannot be trusted.
std::string recorded(const fs::path& data, std::string& why) {
    const fs::path record = data / kRecordName;
    struct stat found {};
    if (::lstat(record.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
    why = distrust(record, found, S_IWGRP | S_IWOTH);
    if (!why.empty()) return {};
    std::ifstream file(record);
    std::string path;
    std::getline(file, path);
    return path;
}

/// A socket whose listener can be trusted; otherwise perhaps why there is none.
struct Place {
    std::optional<std::string> socket;
    std::string distrusted;
};

Place look_at(const std::string& path) {
    struct stat found {};
    if (path.empty() || ::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return {};
    std::string why = distrust(path, found, S_IRWXG | S_IRWXO);
    // A socket that does not let this user in is nobody's trap.
    if (!why.empty()) return ::access(path.c_str(), W_OK) == 0 ? Place{{}, why} : Place{};
    const auto listener = net::listener_at(path);
    if (!listener) return {};
    if (*listener != ::geteuid()) return {{}, "another user listens at " + path};
    return {path, {}};
}

Place find_place(const fs::path& data) {
    std::error_code error;
    const fs::path whole = fs::canonical(data, error);
    if (error) return {};
    Place own = look_at((whole / kSocketName).string());
    if (own.socket) return own;
    std::string why;
    Place other = look_at(recorded(whole, why));
    if (other.socket) return other;
    for (const std::string& reason : {own.distrusted, other.distrusted, why}) {
        if (!reason.empty()) return {{}, reason + ", so it is not used"};
    }
    return {};
}

/// Only its owner may read or write it, whatever the umask.
Result<> write_record(const fs::path& record, const std::string& text) {
    const int file = ::open(record.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                            S_IRUSR | S_IWUSR);
    const bool written =
        file >= 0 && ::fchmod(file, S_IRUSR | S_IWUSR) == 0 &&
        ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (file >= 0) ::close(file);
    if (written) return {};
    return fail(ErrorCode::IoError, "cannot write " + record.string());
}

}  // namespace

Result<std::string> choose_socket(const fs::path& data) {
    std::error_code error;
    const fs::path whole = fs::canonical(data, error);
    if (error) return fail(ErrorCode::IoError, data.string() + ": " + error.message());
    std::string path = (whole / kSocketName).string();
    if (path.size() <= net::max_socket_path()) return path;
    BRAID_TRY(const fs::path folder, private_folder());
    const std::string name = whole.string();
    path = folder / (core::sha256_hex(name).substr(0, 16) + ".sock");
    BRAID_CHECK(write_record(whole / kRecordName, path + "\n"));
    return path;
}

std::optional<std::string> served_socket(const fs::path& data) {
    return find_place(data).socket;
}

std::string distrusted_socket(const fs::path& data) {
    return find_place(data).distrusted;
}

void forget_socket(const fs::path& data) {
    std::error_code ignored;
    fs::remove(data / kRecordName, ignored);
}

}  // namespace braid::cli
