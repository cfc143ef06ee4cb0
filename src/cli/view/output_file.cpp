#include "braid/cli/view/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace braid::cli {
namespace {

struct CloseFile {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): this is the owner's last act
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
    return fail(ErrorCode::IoError,
                "cannot write \"" + path + "\": " + std::generic_category().message(error));
}

constexpr mode_t kOwnerMode = S_IRUSR | S_IWUSR;
constexpr mode_t kEverybodyMode = kOwnerMode | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;  // less umask

Result<> write_all(const std::string& path, const std::string& name, std::string_view text,
                   FileFor whom) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                                  whom == FileFor::Owner ? kOwnerMode : kEverybodyMode);
    if (descriptor < 0) return cannot_write(name, errno);
    std::unique_ptr<std::FILE, CloseFile> file(::fdopen(descriptor, "wb"));
    if (!file) {
        const int error = errno;
        ::close(descriptor);
        return cannot_write(name, error);
    }
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) {
        return cannot_write(name, errno);
    }
    if (std::fclose(file.release()) != 0) return cannot_write(name, errno);
    return {};
}

}  // namespace

Result<> write_output(const std::string& path, std::string_view text, FileFor whom) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        return write_all(path, path, text, whom);
    }
    const std::string temporary = path + ".tmp" + std::to_string(::getpid());
    auto written = write_all(temporary, path, text, whom);
    if (written && std::rename(temporary.c_str(), path.c_str()) != 0) {
        written = cannot_write(path, errno);
    }
    if (!written) std::filesystem::remove(temporary, ignored);
    return written;
}

Result<> make_private_file(const std::string& path) {
    const int descriptor =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kOwnerMode);
    if (descriptor < 0) return cannot_write(path, errno);
    ::close(descriptor);
    return {};
}

}  // namespace braid::cli
