#include "braid/store/posix_file.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <span>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "braid/store/posix_error.hpp"

namespace braid::store {
namespace {

// Some systems refuse more in one call, and no system needs more to be fast.
constexpr std::size_t kMaxCallBytes = std::size_t{1} << 30;

/// Repeats a system call that a signal interrupted.
template <class Call>
auto uninterrupted(const Call& call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

enum class SyncWhat { Data, DataAndMetadata };

int sync_descriptor(int descriptor, [[maybe_unused]] SyncWhat what) {
#if defined(__APPLE__)
    // On that system fsync leaves the data in the drive's cache.
    const int full = uninterrupted([&] { return ::fcntl(descriptor, F_FULLFSYNC); });
    if (full == 0 || (errno != ENOTSUP && errno != EINVAL)) return full;
    return uninterrupted([&] { return ::fsync(descriptor); });
#else
    return uninterrupted(
        [&] { return what == SyncWhat::Data ? ::fdatasync(descriptor) : ::fsync(descriptor); });
#endif
}

class WholeFileView final : public FileView {
public:
    WholeFileView(std::unique_ptr<std::byte[]> bytes, std::size_t size)
        : bytes_(std::move(bytes)), size_(size) {}
    std::span<const std::byte> bytes() const noexcept override { return {bytes_.get(), size_}; }

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_;
};

class PosixRawFile final : public RawFile {
public:
    PosixRawFile(Descriptor file, std::string path)
        : file_(std::move(file)), path_(std::move(path)) {}

    Result<std::uint64_t> size() const override { return regular_file_size(file_, path_); }

    Result<FileState> state() const override {
        struct stat status {};
        if (::fstat(file_.number(), &status) != 0) return fail_posix("examine", path_, errno);
        return file_state(status);
    }

    Result<std::size_t> write(std::span<const std::byte> bytes) override {
        const std::size_t size = std::min(bytes.size(), kMaxCallBytes);
        const ssize_t written =
            uninterrupted([&] { return ::write(file_.number(), bytes.data(), size); });
        if (written < 0) return fail_posix("write to", path_, errno);
        if (written == 0 && size > 0) return fail_posix("write to", path_, ENOSPC);
        return static_cast<std::size_t>(written);
    }

    Result<> sync() override {
        const SyncWhat what = truncated_ ? SyncWhat::DataAndMetadata : SyncWhat::Data;
        if (sync_descriptor(file_.number(), what) != 0) return fail_posix("sync", path_, errno);
        truncated_ = false;
        return {};
    }

    Result<> truncate(std::uint64_t size) override {
        truncated_ = true;
        if (uninterrupted([&] { return ::ftruncate(file_.number(), static_cast<off_t>(size)); }) !=
            0) {
            return fail_posix("truncate", path_, errno);
        }
        return {};
    }

    void drop_cache() noexcept override {
#if defined(POSIX_FADV_DONTNEED)
        (void)::posix_fadvise(file_.number(), 0, 0, POSIX_FADV_DONTNEED);  // advice only
#endif
    }

private:
    Descriptor file_;
    std::string path_;
    bool truncated_ = false;
};

}  // namespace

Descriptor::~Descriptor() {
    // What matters was synced before, so an error here means nothing; and after EINTR the
    // descriptor is already closed on Linux, so a second attempt could close somebody else's.
    if (number_ >= 0) (void)::close(number_);
}

Descriptor open_at(int directory, const char* name, int flags, unsigned mode) {
    return Descriptor(uninterrupted(
        [&] { return ::openat(directory, name, flags | O_CLOEXEC, static_cast<mode_t>(mode)); }));
}

Result<std::uint64_t> regular_file_size(const Descriptor& file, const std::string& path) {
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) return fail_posix("examine", path, errno);
    if (!S_ISREG(status.st_mode)) {
        return fail(ErrorCode::NotFound, "cannot open " + path + ": it is not a regular file");
    }
    return static_cast<std::uint64_t>(status.st_size);
}

FileState file_state(const struct stat& status) noexcept {
    return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
            static_cast<std::uint64_t>(status.st_size)};
}

Result<std::unique_ptr<FileView>> read_whole(const Descriptor& file, const std::string& path) {
    BRAID_TRY(const std::uint64_t file_size, regular_file_size(file, path));
    const auto out_of_memory = [&] {
        return fail(ErrorCode::ResourceExhausted, "cannot read " + path + ": no memory for its " +
                                                      std::to_string(file_size) + " bytes");
    };
    if (file_size > std::numeric_limits<std::size_t>::max() / 2) return out_of_memory();
    const auto size = static_cast<std::size_t>(file_size);
    std::unique_ptr<std::byte[]> bytes;
    try {
        bytes = std::make_unique_for_overwrite<std::byte[]>(size);
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    }
    for (std::size_t done = 0; done < size;) {
        const std::size_t want = std::min(size - done, kMaxCallBytes);
        const ssize_t got = uninterrupted([&] {
            return ::pread(file.number(), bytes.get() + done, want, static_cast<off_t>(done));
        });
        if (got < 0) return fail_posix("read", path, errno);
        if (got == 0) {
            return fail(ErrorCode::IoError, "cannot read " + path + ": it shrank to " +
                                                std::to_string(done) + " bytes meanwhile");
        }
        done += static_cast<std::size_t>(got);
    }
    return std::make_unique<WholeFileView>(std::move(bytes), size);
}

std::unique_ptr<RawFile> make_posix_raw_file(Descriptor file, std::string path) {
    return std::make_unique<PosixRawFile>(std::move(file), std::move(path));
}

Result<> sync_directory(const Descriptor& directory, const std::string& path) {
    // EINVAL: a file system that keeps names durable by itself and cannot sync a directory.
    if (sync_descriptor(directory.number(), SyncWhat::DataAndMetadata) != 0 && errno != EINVAL) {
        return fail_posix("sync the directory", path, errno);
    }
    return {};
}

}  // namespace braid::store
