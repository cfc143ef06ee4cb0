#include "braid/store/posix_scratch.hpp"

#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>

#include "braid/store/fault_registry.hpp"
#include "braid/store/posix_error.hpp"

namespace braid::store {
namespace {

class PosixScratch final : public Scratch {
public:
    /// Takes over `size` > 0 mapped bytes. The mapping keeps the file open.
    PosixScratch(void* begin, std::size_t size, std::string path)
        : begin_(begin), size_(size), path_(std::move(path)) {
        guarded_.emplace(begin_, size_);
    }
    PosixScratch(const PosixScratch&) = delete;
    PosixScratch& operator=(const PosixScratch&) = delete;
    PosixScratch(PosixScratch&&) = delete;
    PosixScratch& operator=(PosixScratch&&) = delete;
    ~PosixScratch() override {
        guarded_.reset();  // before the addresses can belong to something else
        (void)::munmap(begin_, size_);
    }

    std::span<std::byte> bytes() const noexcept override {
        return {static_cast<std::byte*>(begin_), size_};
    }
    Result<> intact() const override {
        if (!guarded_->damaged()) return {};
        return fail(ErrorCode::IoError, "the disk of " + path_ + " lost scratch data");
    }

private:
    void* begin_;
    std::size_t size_;
    std::string path_;
    std::optional<GuardedRange> guarded_;
};

}  // namespace

Result<std::unique_ptr<Scratch>> map_posix_scratch(Descriptor file, std::uint64_t size,
                                                   std::string path) {
    if (size == 0) return scratch_in_memory(0);
    if (size > std::numeric_limits<std::size_t>::max() / 2) {
        return fail(ErrorCode::ResourceExhausted,
                    "cannot take " + std::to_string(size) + " bytes of " + path + " for scratch");
    }
    int error = EINTR;
    while (error == EINTR) {
        error = ::posix_fallocate(file.number(), 0, static_cast<off_t>(size));
    }
    if (error != 0) return fail_posix("take space for scratch in", path, error);
    void* begin = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE,
                         MAP_SHARED, file.number(), 0);
    if (begin == MAP_FAILED) return fail_posix("map scratch in", path, errno);
    return std::make_unique<PosixScratch>(begin, static_cast<std::size_t>(size), std::move(path));
}

}  // namespace braid::store
