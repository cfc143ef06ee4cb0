#include "braid/store/posix_map.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <sys/mman.h>
#include <sys/stat.h>

#include "braid/store/fault_registry.hpp"
#include "braid/store/posix_error.hpp"

namespace braid::store {
namespace {

class PosixMapping final : public MappedFile {
public:
    /// Takes over `size` > 0 mapped bytes.
    PosixMapping(void* begin, std::size_t size, Descriptor file, std::string path)
        : begin_(begin), size_(size), file_(std::move(file)), path_(std::move(path)) {
        guarded_.emplace(begin_, size_);
        end_ = read_end();
    }
    PosixMapping(const PosixMapping&) = delete;
    PosixMapping& operator=(const PosixMapping&) = delete;
    PosixMapping(PosixMapping&&) = delete;
    PosixMapping& operator=(PosixMapping&&) = delete;
    ~PosixMapping() override {
        guarded_.reset();  // before the addresses can belong to something else
        (void)::munmap(begin_, size_);
    }

    std::span<const std::byte> bytes() const noexcept override {
        return {static_cast<const std::byte*>(begin_), size_};
    }

    Result<> intact() const override {
        // If a file was cut, its last page is gone or ends with zeros, even if the file has grown
        // again since. So the end itself tells, without a system call.
        const std::uint64_t end = read_end();
        if (guarded_->damaged()) {
            return fail(ErrorCode::Corruption,
                        "a part of " + path_ +
                            " could not be read: the file was cut, or the disk has an error there");
        }
        if (end == end_ && end_ >> 56 != 0) return {};
        // A file that ends with a zero needs more: the rest of a page that was cut reads as zeros
        // too.
        struct stat status {};
        if (::fstat(file_.number(), &status) != 0) return fail_posix("examine", path_, errno);
        const std::uint64_t now = file_state(status).size;
        if (now >= size_) return {};
        return fail(ErrorCode::Corruption, path_ + " was cut from " + std::to_string(size_) +
                                               " to " + std::to_string(now) +
                                               " bytes while it was in use");
    }

    const std::string& path() const noexcept override { return path_; }

private:
    /// The last bytes, up to eight, with the very last one on top. Read anew each time.
    std::uint64_t read_end() const noexcept {
        const volatile std::uint8_t* const bytes = static_cast<const std::uint8_t*>(begin_);
        std::uint64_t end = 0;
        for (std::size_t i = 0; i < std::min<std::size_t>(8, size_); ++i) {
            end |= std::uint64_t{bytes[size_ - 1 - i]} << (56 - 8 * i);
        }
        return end;
    }

    void* begin_;
    std::size_t size_;
    std::uint64_t end_ = 0;
    Descriptor file_;
    std::string path_;
    std::optional<GuardedRange> guarded_;
};

}  // namespace

Result<std::shared_ptr<const MappedFile>> map_posix_file(Descriptor file, std::string path) {
    BRAID_TRY(const std::uint64_t size, regular_file_size(file, path));
    if (size == 0) return map_copy({}, std::move(path));
    if (size > std::numeric_limits<std::size_t>::max() / 2) {
        return fail(ErrorCode::ResourceExhausted, "cannot map " + path + ": it is too large");
    }
    void* begin =
        ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_SHARED, file.number(), 0);
    if (begin == MAP_FAILED) return fail_posix("map", path, errno);
    return std::make_shared<PosixMapping>(begin, static_cast<std::size_t>(size), std::move(file),
                                          std::move(path));
}

}  // namespace braid::store
