#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/store/append_log.hpp"
#include "braid/store/directory.hpp"
#include "core/temporary_folder.hpp"

namespace braid::store::testing {

using Bytes = std::vector<std::byte>;

inline Bytes to_bytes(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

inline std::string to_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline Bytes random_bytes(std::mt19937_64& rng, std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
        const std::uint64_t word = rng();
        std::memcpy(bytes.data() + i, &word, std::min(sizeof(word), size - i));
    }
    return bytes;
}

/// A log opened and all it replayed; `records[i]` has sequence number first + i.
struct Replayed {
    Result<AppendLog::Opened> opened;
    std::vector<Bytes> records;
};

inline Replayed replay(Directory& directory, std::string_view name = "log",
                       const AppendLogOptions& options = {}) {
    std::vector<Bytes> records;
    auto opened = AppendLog::open(directory, name, options,
                                  [&](std::uint64_t, std::span<const std::byte> payload) {
                                      records.emplace_back(payload.begin(), payload.end());
                                      return Result<>();
                                  });
    return {std::move(opened), std::move(records)};
}

/// Whether `whole` begins with `part`.
inline bool is_prefix(const std::vector<Bytes>& part, const std::vector<Bytes>& whole) {
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

/// The message of a failed Result, for the output of a failing test.
template <class T>
std::string why(const Result<T>& result) {
    return result ? "" : result.error().message;
}

/// A directory on the real file system that is removed with all it holds.
class TemporaryDirectory : public braid::testing::TemporaryFolder {
public:
    /// Opened anew.
    std::unique_ptr<Directory> open() const;
};

}  // namespace braid::store::testing
