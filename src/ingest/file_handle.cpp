#include "braid/ingest/file_handle.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace braid::ingest {
namespace {

constexpr int kWaitMs = 100;

tl::unexpected<Error> system_error(const std::string& doing, int number) {
    const ErrorCode code = number == ENOENT || number == ENOTDIR ? ErrorCode::NotFound
                           : number == EACCES                    ? ErrorCode::PermissionDenied
                           : number == EMFILE || number == ENFILE || number == ENOMEM
                               ? ErrorCode::ResourceExhausted
                               : ErrorCode::IoError;
    return fail(code, doing + ": " + std::generic_category().message(number));
}

/// False if there was nothing to read for a while.
bool is_readable(int descriptor) {
    pollfd request{descriptor, POLLIN, 0};
    return ::poll(&request, 1, kWaitMs) != 0;
}

}  // namespace

Result<FileHandle> FileHandle::open(const std::string& path) {
    const bool is_stdin = path == "-";
    const int descriptor =
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): POSIX
        is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return system_error("cannot open " + path, errno);
    FileHandle file(descriptor, is_stdin ? "standard input" : path, std::nullopt);
    struct stat facts {};
    if (::fstat(descriptor, &facts) != 0) {
        return system_error("cannot read " + file.name_, errno);
    }
    if (S_ISDIR(facts.st_mode)) {
        return invalid_argument(path + " is a directory, not a file");
    }
    if (S_ISREG(facts.st_mode)) file.size_ = static_cast<std::uint64_t>(facts.st_size);
    return file;
}

FileHandle::FileHandle(FileHandle&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      size_(other.size_) {}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(name_, other.name_);
    std::swap(size_, other.size_);
    return *this;
}

FileHandle::~FileHandle() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

Result<std::size_t> FileHandle::read(std::span<char> out, const std::stop_token& stop) {
    while (true) {
        if (stop.stop_requested()) {
            return fail(ErrorCode::Cancelled, "reading " + name_ + " was interrupted");
        }
        // A pipe may stay silent forever: wait for it in steps, so that a stop is noticed.
        if (stop.stop_possible() && !size_ && !is_readable(descriptor_)) continue;
        const ssize_t count = ::read(descriptor_, out.data(), out.size());
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno != EINTR) return system_error("cannot read " + name_, errno);
    }
}

Result<> FileHandle::read_at(std::uint64_t offset, std::span<std::byte> out) const {
    while (!out.empty()) {
        const ssize_t count =
            ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return system_error("cannot read " + name_, errno);
        if (count == 0) return fail(ErrorCode::Corruption, name_ + " ends too early");
        out = out.subspan(static_cast<std::size_t>(count));
        offset += static_cast<std::uint64_t>(count);
    }
    return {};
}

}  // namespace braid::ingest
