#include "braid/store/mapped_file.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "braid/store/sections.hpp"

namespace braid::store {
namespace {

class MappedCopy final : public MappedFile {
public:
    MappedCopy(std::span<const std::byte> bytes, std::string path)
        : lines_((bytes.size() + kSectionAlignment - 1) / kSectionAlignment),
          size_(bytes.size()),
          path_(std::move(path)) {
        if (!bytes.empty()) std::memcpy(lines_.data(), bytes.data(), bytes.size());
    }

    std::span<const std::byte> bytes() const noexcept override {
        return {reinterpret_cast<const std::byte*>(lines_.data()), size_};
    }
    Result<> intact() const override { return {}; }
    const std::string& path() const noexcept override { return path_; }

private:
    struct Line {
        alignas(kSectionAlignment) std::byte bytes[kSectionAlignment];  // NOLINT: raw memory
    };

    std::vector<Line> lines_;
    std::size_t size_;
    std::string path_;
};

}  // namespace

std::shared_ptr<const MappedFile> map_copy(std::span<const std::byte> bytes, std::string path) {
    return std::make_shared<MappedCopy>(bytes, std::move(path));
}

}  // namespace braid::store
