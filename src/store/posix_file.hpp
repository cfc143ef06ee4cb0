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

/// openat(2), retried when interrupted. Not open: see errno.
Descriptor open_at(int directory, const char* name, int flags, unsigned mode = 0);

/// Checks that what was opened is a regular file; NotFound if not. Returns its size.
Result<std::uint64_t> regular_file_size(const Descriptor& file, const std::string& path);

/// Which file a status from the system describes.
FileState file_state(const struct stat& status) noexcept;

/// The whole content of an open regular file.
Result<std::unique_ptr<FileView>> read_whole(const Descriptor& file, const std::string& path);

/// Takes over a file that is open for appending.
std::unique_ptr<RawFile> make_posix_raw_file(Descriptor file, std::string path);

/// Makes the names in an open directory durable.
Result<> sync_directory(const Descriptor& directory, const std::string& path);

}  // namespace braid::store
