#pragma once

#include <memory>
#include <string>
#include <utility>

#include <sys/stat.h>

#include "braid/result.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/raw_directory.hpp"

namespace braid::store {

/// Owns a file descriptor.
class Descriptor {
public:
    explicit Descriptor(int number = -1) noexcept : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();

    int number() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }

private:
    int number_;
};

/// openat(2), again when interrupted. Not open: see errno.
Descriptor open_at(int directory, const char* name, int flags, unsigned mode = 0);

/// Whether what was opened is a regular file; NotFound if not. Returns its size.
Result<std::uint64_t> regular_file_size(const Descriptor& file, const std::string& path);

/// Which file a status of the system describes.
FileState file_state(const struct stat& status) noexcept;

/// The content of an open regular file, read whole.
Result<std::unique_ptr<FileView>> read_whole(const Descriptor& file, const std::string& path);

/// Takes a file that is open for appending.
std::unique_ptr<RawFile> make_posix_raw_file(Descriptor file, std::string path);

/// The names in an open directory become durable.
Result<> sync_directory(const Descriptor& directory, const std::string& path);

}  // namespace braid::store
