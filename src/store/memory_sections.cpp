#include "braid/store/memory_sections.hpp"

#include <cstring>

namespace braid::store {

Result<> MemorySections::begin(std::string_view name) {
    const auto [found, inserted] = parts_.try_emplace(std::string(name));
    if (!inserted) {
        return fail(ErrorCode::InvalidArgument,
                    "section \"" + std::string(name) + "\" has already been written");
    }
    last_ = &found->second;
    return {};
}

Result<> MemorySections::write(std::span<const std::byte> bytes) {
    if (last_ == nullptr) return fail(ErrorCode::InvalidArgument, "no section was begun");
    if (bytes.empty()) return {};
    const std::uint64_t end = last_->size + bytes.size();
    last_->lines.resize((end + kSectionAlignment - 1) / kSectionAlignment);
    std::memcpy(last_->lines.front().bytes + last_->size, bytes.data(), bytes.size());
    last_->size = end;
    return {};
}

std::uint64_t MemorySections::offset() const noexcept {
    return last_ == nullptr ? 0 : last_->size;
}

Result<Section> MemorySections::section(std::string_view name) const {
    const auto found = parts_.find(name);
    if (found == parts_.end()) {
        return fail(ErrorCode::NotFound, "there is no section \"" + std::string(name) + "\"");
    }
    const Part& part = found->second;
    const auto* bytes = reinterpret_cast<const std::byte*>(part.lines.data());
    return Section({bytes, part.size}, found->first);
}

std::uint64_t MemorySections::size_bytes() const noexcept {
    std::uint64_t total = 0;
    for (const auto& [name, part] : parts_) total += part.size;
    return total;
}

}  // namespace braid::store
