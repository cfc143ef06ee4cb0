#include "braid/cli/commands/input.hpp"

#include <span>

#include "braid/ingest/file_handle.hpp"
#include "braid/ingest/npy.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/chunk_json.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

}  // namespace

Result<std::string> read_input(const std::string& path) {
    BRAID_TRY(auto file, ingest::FileHandle::open(path));
    std::string text;
    while (true) {
        const std::size_t size = text.size();
        text.resize(size + kBlockBytes);
        BRAID_TRY(const std::size_t count, file.read(std::span(text).subspan(size)));
        text.resize(size + count);
        if (count == 0) return text;
        if (text.size() > kMaxBytes) {
            return fail(ErrorCode::ResourceExhausted, file.name() + " is larger than 64 MiB");
        }
    }
}

Result<std::vector<float>> read_vector(const std::string& text, const std::string& flag) {
    const std::size_t first = text.find_first_not_of(" \t\n");
    if (first != std::string::npos && text[first] == '[') {
        auto json = json::parse(text);
        if (!json) {
            return invalid_argument(flag + ": not JSON: " + json.error().message);
        }
        return wire::vector_from_value(*json, flag);
    }
    BRAID_TRY(const auto file, ingest::NpyFile::open(text));
    if (file.rows() != 1) {
        return invalid_argument(file.name() + " has " + std::to_string(file.rows()) +
                                " rows; a query must be one row");
    }
    return file.row(0);
}

}  // namespace braid::cli
