#include "braid/store/posix_map.hpp"

#include <cerrno>
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
    }
    PosixMapping(const PosixMapping&) = delete;
    PosixMapping& operator=(const PosixMapping&) = delete;
    PosixMapping(PosixMapping&&) = delete;
    PosixMapping& operator=(PosixMapping&&) = delete;
    ~PosixMapping() override {
        guarded_.reset();  // before the addresses can be someone else's
        (void)::munmap(begin_, size_);
    }

    std::span<const std::byte> bytes() const noexcept override {
        return {static_cast<const std::byte*>(begin_), size_};
    }

    Result<> intact() const override {
        if (guarded_->damaged()) {
            return fail(ErrorCode::Corruption,
                        "a part of " + path_ +
                            " could not be read: the file was cut, or the disk has an error there");
        }
        // The rest of the page in which a file was cut reads as zeros and raises nothing.
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
    void* begin_;
    std::size_t size_;
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
