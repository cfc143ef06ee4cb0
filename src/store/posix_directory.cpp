#include "braid/store/posix_directory.hpp"

#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "braid/store/file_writer.hpp"
#include "braid/store/posix_error.hpp"
#include "braid/store/posix_file.hpp"
#include "braid/store/posix_lock.hpp"
#include "braid/store/posix_map.hpp"
#include "braid/store/posix_scratch.hpp"
#include "braid/store/raw_directory.hpp"

namespace braid::store {
namespace {

// For the owner alone: whoever can read the files sees what chunk permissions hide.
constexpr unsigned kFileMode = 0600;
constexpr mode_t kDirectoryMode = 0700;
// O_NONBLOCK: opening a pipe that somebody put there must not hang; files ignore it.
constexpr int kFileFlags = O_NOFOLLOW | O_NONBLOCK;

class PosixRawDirectory final : public RawDirectory {
public:
    PosixRawDirectory(Descriptor directory, std::string path)
        : directory_(std::move(directory)), path_(std::move(path)) {}

    std::string path() const override { return path_; }
    Result<std::unique_ptr<FileView>> view(const std::string& name) const override;
    Result<std::shared_ptr<const MappedFile>> map(const std::string& name) const override;
    Result<std::unique_ptr<Scratch>> scratch(std::uint64_t size) override;
    Result<std::unique_ptr<RawFile>> open_file(const std::string& name, Access access) override;
    Result<std::shared_ptr<RawDirectory>> open_directory(const std::string& name) const override;
    Result<> make_directory(const std::string& name) override;
    Result<> rename(const std::string& from, const std::string& to, IfTaken if_taken) override;
    Result<FileState> state(const std::string& name) const override;
    Result<> remove_file(const std::string& name) override;
    Result<> remove_directory(const std::string& name) override;
    Result<std::vector<RawEntry>> list() const override;
    Result<std::unique_ptr<DirectoryLock>> lock(const std::string& name) override;
    Result<> sync() override { return sync_directory(directory_, path_); }

private:
    int number() const noexcept { return directory_.number(); }
    std::string path_of(const std::string& name) const { return path_ + "/" + name; }
    auto failed(std::string_view doing, const std::string& name, int error_number = errno) const {
        return fail_posix(doing, path_of(name), error_number);
    }
    Result<std::optional<RawEntry>> entry(const char* name) const;
    int rename_to_free_name(const std::string& from, const std::string& to);

    Descriptor directory_;
    std::string path_;
};

Result<std::unique_ptr<FileView>> PosixRawDirectory::view(const std::string& name) const {
    const Descriptor file = open_at(number(), name.c_str(), O_RDONLY | kFileFlags);
    if (!file) return failed("open", name);
    return read_whole(file, path_of(name));
}

Result<std::shared_ptr<const MappedFile>> PosixRawDirectory::map(const std::string& name) const {
    Descriptor file = open_at(number(), name.c_str(), O_RDONLY | kFileFlags);
    if (!file) return failed("open", name);
    return map_posix_file(std::move(file), path_of(name));
}

Result<std::unique_ptr<Scratch>> PosixRawDirectory::scratch(std::uint64_t size) {
    const std::string name = own_name(kTempPrefix);
    Descriptor file =
        open_at(number(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | kFileFlags, kFileMode);
    if (!file) return failed("create", name);
    if (::unlinkat(number(), name.c_str(), 0) != 0) return failed("remove", name);
    return map_posix_scratch(std::move(file), size, path_);
}

Result<std::unique_ptr<RawFile>> PosixRawDirectory::open_file(const std::string& name,
                                                              Access access) {
    const int create = access == Access::AppendNew ? O_CREAT | O_EXCL : 0;
    Descriptor file =
        open_at(number(), name.c_str(), O_WRONLY | O_APPEND | kFileFlags | create, kFileMode);
    if (!file && errno == EISDIR) return failed("open", name, ENOENT);
    if (!file) return failed(create != 0 ? "create" : "open", name);
    BRAID_CHECK(regular_file_size(file, path_of(name)));
    return make_posix_raw_file(std::move(file), path_of(name));
}

Result<std::shared_ptr<RawDirectory>> PosixRawDirectory::open_directory(
    const std::string& name) const {
    Descriptor directory = open_at(number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!directory) return failed("open the directory", name);
    return std::make_shared<PosixRawDirectory>(std::move(directory), path_of(name));
}

Result<> PosixRawDirectory::make_directory(const std::string& name) {
    if (::mkdirat(number(), name.c_str(), kDirectoryMode) != 0) {
        return failed("create the directory", name);
    }
    return {};
}

int PosixRawDirectory::rename_to_free_name(const std::string& from, const std::string& to) {
#if defined(RENAME_NOREPLACE)
    const int renamed = ::renameat2(number(), from.c_str(), number(), to.c_str(), RENAME_NOREPLACE);
    if (renamed == 0 || (errno != EINVAL && errno != ENOSYS)) return renamed;
#endif
    // For file systems without that call. A second link cannot replace a name either; it does not
    // work for directories, but those only ever move to names that nobody else uses.
    if (::linkat(number(), from.c_str(), number(), to.c_str(), 0) == 0) {
        return ::unlinkat(number(), from.c_str(), 0);
    }
    if (errno != EPERM && errno != EISDIR) return -1;
    struct stat status {};
    if (::fstatat(number(), to.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return ::renameat(number(), from.c_str(), number(), to.c_str());
}

Result<> PosixRawDirectory::rename(const std::string& from, const std::string& to,
                                   IfTaken if_taken) {
    const int renamed = if_taken == IfTaken::Fail
                            ? rename_to_free_name(from, to)
                            : ::renameat(number(), from.c_str(), number(), to.c_str());
    if (renamed == 0) return {};
    const int error_number = errno;
    return failed("rename " + path_of(from) + " to", to, error_number);
}

Result<> PosixRawDirectory::remove_file(const std::string& name) {
    if (::unlinkat(number(), name.c_str(), 0) == 0) return {};
    const int error_number = errno;
    // Linux says EISDIR for a directory, POSIX EPERM.
    const auto found = entry(name.c_str()).value_or(std::nullopt);
    const bool is_directory = found && found->kind == RawEntry::Kind::Directory;
    return failed("remove", name, is_directory ? ENOENT : error_number);
}

Result<> PosixRawDirectory::remove_directory(const std::string& name) {
    if (::unlinkat(number(), name.c_str(), AT_REMOVEDIR) != 0) {
        return failed("remove the directory", name);
    }
    return {};
}

/// Nothing if the name is gone.
Result<std::optional<RawEntry>> PosixRawDirectory::entry(const char* name) const {
    struct stat status {};
    if (::fstatat(number(), name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return std::optional<RawEntry>();
        return failed("examine", name);
    }
    const auto kind = S_ISREG(status.st_mode)   ? RawEntry::Kind::File
                      : S_ISDIR(status.st_mode) ? RawEntry::Kind::Directory
                                                : RawEntry::Kind::Other;
    return RawEntry{name, kind, static_cast<std::uint64_t>(status.st_size)};
}

Result<std::vector<RawEntry>> PosixRawDirectory::list() const {
    struct CloseStream {
        void operator()(DIR* stream) const noexcept { (void)::closedir(stream); }
    };
    // Not a duplicate of our descriptor, which would share its reading position.
    const int own = ::openat(number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0) return failed("list", ".");
    const std::unique_ptr<DIR, CloseStream> stream(::fdopendir(own));
    if (stream == nullptr) {
        const int error_number = errno;
        const Descriptor close_it(own);
        return failed("list", ".", error_number);
    }
    std::vector<RawEntry> entries;
    while (true) {
        errno = 0;
        const dirent* next = ::readdir(stream.get());  // NOLINT(concurrency-mt-unsafe): own stream
        if (next == nullptr) {
            if (errno != 0) return failed("list", ".");
            return entries;
        }
        const std::string_view name = next->d_name;
        if (name == "." || name == "..") continue;
        BRAID_TRY(auto found, entry(next->d_name));
        if (found) entries.push_back(*std::move(found));
    }
}

Result<FileState> PosixRawDirectory::state(const std::string& name) const {
    struct stat status {};
    if (::fstatat(number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return failed("examine", name);
    }
    return file_state(status);
}

Result<std::unique_ptr<DirectoryLock>> PosixRawDirectory::lock(const std::string& name) {
    return lock_posix_directory(directory_, path_, name);
}

std::string parent_of(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

Result<> create_durably(const std::string& path) {
    const bool created = ::mkdir(path.c_str(), kDirectoryMode) == 0;
    if (!created && errno != EEXIST) {
        return fail_posix("create the directory", path, errno);
    }
    const std::string parent_path = parent_of(path);
    const Descriptor parent = open_at(AT_FDCWD, parent_path.c_str(), O_RDONLY | O_DIRECTORY);
    // A directory that existed before is synced in case its creator died too early; where the
    // parent may not be read, that is not worth insisting on.
    if (!parent && !created) return {};
    if (!parent) {
        return fail_posix("open the directory", parent_path, errno);
    }
    return sync_directory(parent, parent_path);
}

}  // namespace

Result<std::unique_ptr<Directory>> open_posix_directory(const std::string& path, OpenMode mode) {
    if (path.empty() || path.find('\0') != std::string::npos) {
        return invalid_argument("a directory path is empty or contains a zero byte");
    }
    if (mode == OpenMode::CreateIfMissing) BRAID_CHECK(create_durably(path));
    Descriptor directory = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
    if (!directory) {
        return fail_posix("open the directory", path, errno);
    }
    return make_directory(std::make_shared<PosixRawDirectory>(std::move(directory), path));
}

}  // namespace braid::store
