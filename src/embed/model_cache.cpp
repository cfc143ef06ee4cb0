#include "braid/embed/model_cache.hpp"

#include <atomic>
#include <cstdint>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "braid/core/hex.hpp"
#include "braid/core/sha256.hpp"
#include "braid/embed/cpu_level.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/posix_map.hpp"

namespace braid::embed {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kCacheMark = "braid prepared model 2\n";
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kChecksumDigits = 16;
/// After the graph: its checksum, the mark, the model's SHA-256, the stamp.
constexpr std::size_t kTrailerBytes = kChecksumDigits + kCacheMark.size() + 2 * kHashDigits;

/// Against damage, not tampering: far cheaper than SHA-256, which takes 19 to 120 ms for 34 MB.
std::string checksum_of(std::string_view bytes) {
    return core::hex_of(store::checksum(std::as_bytes(std::span(bytes))));
}

/// Null if the file does not exist or cannot be mapped. Files of the cache are only ever replaced
/// whole, never written in place.
std::shared_ptr<const store::MappedFile> map_file(const fs::path& path) {
    store::Descriptor file = store::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC);
    if (!file) return nullptr;
    auto mapped = store::map_posix_file(std::move(file), path.string());
    return mapped ? *std::move(mapped) : nullptr;
}

std::string_view text_of(const store::MappedFile& file) {
    const std::span<const std::byte> bytes = file.bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Changes whenever the file's bytes do. Empty if there is no such file.
std::string stamp_of(const fs::path& model) {
    struct stat state {};
    if (::stat(model.c_str(), &state) != 0) return {};
    const auto time = [](const timespec& at) {
        return std::to_string(at.tv_sec) + "." + std::to_string(at.tv_nsec) + " ";
    };
    return core::sha256_hex(std::to_string(state.st_dev) + " " + std::to_string(state.st_ino) +
                            " " + std::to_string(state.st_size) + " " + time(state.st_mtim) +
                            time(state.st_ctim));
}

}  // namespace

ModelCache::ModelCache(const fs::path& folder, const fs::path& model,
                       const std::string& runtime_version)
    : stamp_(stamp_of(model)) {
    if (folder.empty() || stamp_.empty()) return;
    std::error_code error;
    const fs::path full = fs::weakly_canonical(model, error);
    const std::string name =
        (error ? model : full).string() + "\n" + runtime_version + "\n" + std::string(cpu_level());
    place_ = folder / ("model-" + core::sha256_hex(name).substr(0, 32) + ".ort");
}

std::optional<PreparedModel> ModelCache::find() const {
    if (place_.empty()) return std::nullopt;
    auto file = map_file(place_);
    if (file == nullptr) return std::nullopt;
    const std::string_view bytes = text_of(*file);
    if (bytes.size() <= kTrailerBytes) return std::nullopt;
    const std::string_view graph = bytes.substr(0, bytes.size() - kTrailerBytes);
    const std::string_view trailer = bytes.substr(graph.size());
    const std::string_view described = trailer.substr(kChecksumDigits);
    if (!described.starts_with(kCacheMark)) return std::nullopt;
    const std::string_view hashes = described.substr(kCacheMark.size());
    if (hashes.substr(kHashDigits) != stamp_) return std::nullopt;
    if (trailer.substr(0, kChecksumDigits) != checksum_of(graph)) return std::nullopt;
    return PreparedModel{.graph = std::as_bytes(std::span(graph)),
                         .model_sha256 = std::string(hashes.substr(0, kHashDigits)),
                         .file = std::move(file)};
}

std::optional<fs::path> ModelCache::begin() const {
    if (place_.empty()) return std::nullopt;
    std::error_code error;
    fs::create_directories(place_.parent_path(), error);
    static std::atomic<unsigned> count = 0;
    fs::path begun = place_;
    begun += "." + std::to_string(::getpid()) + "." + std::to_string(count++);
    const int file = ::open(begun.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return std::nullopt;
    ::close(file);
    return begun;
}

void ModelCache::finish(const fs::path& begun, const std::string& model_sha256) const {
    const auto append = [&] {
        const auto graph = map_file(begun);
        if (graph == nullptr || graph->bytes().empty()) return false;
        std::ofstream out(begun, std::ios::binary | std::ios::app);
        out << checksum_of(text_of(*graph)) << kCacheMark << model_sha256 << stamp_;
        out.close();
        return static_cast<bool>(out);
    };
    std::error_code error;
    if (append()) fs::rename(begun, place_, error);
    abandon(begun);
}

void ModelCache::abandon(const fs::path& begun) {
    std::error_code error;
    fs::remove(begun, error);
}

}  // namespace braid::embed
