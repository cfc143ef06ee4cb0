#include "braid/cli/socket_place.hpp"

#include <cstdlib>
#include <fstream>
#include <span>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "braid/cli/output_file.hpp"
#include "braid/core/sha256.hpp"
#include "braid/net/socket_file.hpp"

namespace braid::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSocketName = "braid.sock";
constexpr std::string_view kRecordName = "braid.sock.path";

/// A folder that nobody else can put anything into. PermissionDenied if there is one that is not.
Result<fs::path> private_folder() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing changes the environment
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    fs::path folder = runtime != nullptr && *runtime != '\0'
                          ? fs::path(runtime) / "braid"
                          : fs::path("/tmp") / ("braid-" + std::to_string(::geteuid()));
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
        return fail(ErrorCode::IoError, "cannot make " + folder.string() + ": " +
                                            std::generic_category().message(errno));
    }
    struct stat found {};
    if (::lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
        found.st_uid != ::geteuid() || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return fail(ErrorCode::PermissionDenied,
                    folder.string() + " is not a folder of this user alone");
    }
    return folder;
}

std::string recorded(const fs::path& data) {
    std::ifstream file(data / kRecordName);
    std::string path;
    std::getline(file, path);
    return path;
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
    path = folder / (core::sha256_hex(std::as_bytes(std::span(name))).substr(0, 16) + ".sock");
    BRAID_CHECK(write_output((whole / kRecordName).string(), path + "\n", FileFor::Owner));
    return path;
}

std::optional<std::string> served_socket(const fs::path& data) {
    std::error_code error;
    const fs::path whole = fs::canonical(data, error);
    if (error) return std::nullopt;
    for (const std::string& path : {(whole / kSocketName).string(), recorded(whole)}) {
        if (net::is_listening(path)) return path;
    }
    return std::nullopt;
}

void forget_socket(const fs::path& data) {
    std::error_code ignored;
    fs::remove(data / kRecordName, ignored);
}

}  // namespace braid::cli
