#include "braid/store/posix_lock.hpp"

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "braid/store/posix_error.hpp"

namespace braid::store {
namespace {

constexpr unsigned kLockFileMode = 0600;                 // for the owner alone, as all files
constexpr int kLockFileFlags = O_NOFOLLOW | O_NONBLOCK;  // as for every file of a directory
constexpr int kMaxLockAttempts = 100;

enum class Taken { Yes, ByAnother, Unsupported, Failed };

Taken take(const Descriptor& what) {
    int locked = ::flock(what.number(), LOCK_EX | LOCK_NB);
    while (locked != 0 && errno == EINTR) locked = ::flock(what.number(), LOCK_EX | LOCK_NB);
    if (locked == 0) return Taken::Yes;
    if (errno == EWOULDBLOCK) return Taken::ByAnother;
    // Network file systems lock files that are open for writing, but not directories.
    const bool unsupported = errno == EBADF || errno == EINVAL || errno == ENOTSUP ||
                             errno == EOPNOTSUPP || errno == ENOLCK || errno == ENOSYS;
    return unsupported ? Taken::Unsupported : Taken::Failed;
}

/// Whether the name belongs to the open file.
bool has_name(const Descriptor& file, const Descriptor& directory, const std::string& name) {
    struct stat ours {};
    struct stat named {};
    return ::fstat(file.number(), &ours) == 0 &&
           ::fstatat(directory.number(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           file_state(ours).same_file(file_state(named));
}

std::string holder_of(const Descriptor& lock_file) {
    std::array<char, 32> text{};
    const ssize_t size = ::pread(lock_file.number(), text.data(), text.size(), 0);
    const std::string_view digits(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    const std::string_view pid = digits.substr(0, digits.find_first_not_of("0123456789"));
    return pid.empty() ? "another process" : "process " + std::string(pid);
}

class PosixLock final : public DirectoryLock {
public:
    PosixLock(Descriptor directory, Descriptor file, std::string path, std::string name)
        : directory_(std::move(directory)),
          file_(std::move(file)),
          path_(std::move(path)),
          name_(std::move(name)) {}
    PosixLock(const PosixLock&) = delete;
    PosixLock& operator=(const PosixLock&) = delete;
    PosixLock(PosixLock&&) = delete;
    PosixLock& operator=(PosixLock&&) = delete;
    ~PosixLock() override {
        // A process id left behind only confuses people; closing releases the lock.
        if (::ftruncate(file_.number(), 0) != 0) return;
    }

    Result<> verify() const override {
        if (has_name(file_, directory_, name_)) return {};
        return lock_is_lost(path_ + "/" + name_);
    }

private:
    Descriptor directory_;
    Descriptor file_;
    std::string path_;
    std::string name_;
};

}  // namespace

Result<std::unique_ptr<DirectoryLock>> lock_posix_directory(const Descriptor& directory,
                                                            const std::string& path,
                                                            const std::string& name) {
    const std::string file_path = path + "/" + name;
    const auto held_by = [&](const std::string& holder) {
        return fail(ErrorCode::Locked, "cannot lock " + file_path + ": held by " + holder);
    };
    // Opened again: a lock belongs to what one call of open has opened.
    Descriptor own = open_at(directory.number(), ".", O_RDONLY | O_DIRECTORY);
    if (!own) return fail_posix("open the directory", path, errno);
    const Taken whole = take(own);
    if (whole == Taken::Failed) return fail_posix("lock the directory", path, errno);
    if (whole == Taken::ByAnother) {
        const Descriptor file = open_at(own.number(), name.c_str(), O_RDONLY | kLockFileFlags);
        return held_by(file ? holder_of(file)
                            : "another process, although the file " + name + " was removed");
    }
    for (int attempt = 0;; ++attempt) {
        Descriptor file =
            open_at(own.number(), name.c_str(), O_RDWR | O_CREAT | kLockFileFlags, kLockFileMode);
        if (!file) return fail_posix("open the lock", file_path, errno);
        BRAID_CHECK(regular_file_size(file, file_path));
        const Taken taken = take(file);
        if (taken == Taken::ByAnother) return held_by(holder_of(file));
        if (taken != Taken::Yes) return fail_posix("lock", file_path, errno);
        if (!has_name(file, own, name)) {  // removed or replaced since it was opened
            if (attempt < kMaxLockAttempts) continue;
            return held_by("another process, which keeps replacing it");
        }
        // Only for the message above, so a full disk does not matter.
        const std::string text = std::to_string(::getpid()) + "\n";
        if (::ftruncate(file.number(), 0) == 0) {
            (void)!::pwrite(file.number(), text.data(), text.size(), 0);
        }
        return std::make_unique<PosixLock>(std::move(own), std::move(file), path, name);
    }
}

}  // namespace braid::store
