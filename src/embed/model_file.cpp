#include "braid/embed/model_file.hpp"

#include <fstream>
#include <system_error>

#include "braid/core/sha256.hpp"

namespace braid::embed {

Result<ModelFile> read_model_file(const std::filesystem::path& path,
                                  std::string_view expected_sha256) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
        return fail(ErrorCode::NotFound, "no file " + path.string());
    }
    const auto size = std::filesystem::file_size(path, error);
    std::ifstream stream(path, std::ios::binary);
    if (error || !stream) return fail(ErrorCode::IoError, "cannot open " + path.string());

    ModelFile file;
    file.bytes.resize(size);
    stream.read(reinterpret_cast<char*>(file.bytes.data()),
                static_cast<std::streamsize>(file.bytes.size()));
    if (static_cast<std::size_t>(stream.gcount()) != file.bytes.size()) {
        return fail(ErrorCode::IoError, "cannot read all of " + path.string());
    }
    file.sha256 = core::sha256_hex(file.bytes);
    if (!expected_sha256.empty() && file.sha256 != expected_sha256) {
        return fail(
            ErrorCode::Corruption,
            path.string() + " (" + std::to_string(file.bytes.size()) +
                " bytes) was changed, confused with another file or cut short: its SHA-256 is " +
                file.sha256 + ", expected " + std::string(expected_sha256));
    }
    return file;
}

}  // namespace braid::embed
