#include "braid/local/ranker_file.hpp"

#include <span>

#include "braid/rank/model_json.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/directory.hpp"

namespace braid::local {
namespace {

constexpr std::uint32_t kRankerMagic = 0x4b4e5242;  // "BRNK"
constexpr std::uint32_t kRankerVersion = 1;

Result<std::string_view> text_of(std::span<const std::byte> bytes, const std::string& path) {
    store::ByteReader in(bytes, path);
    BRAID_TRY(const std::uint32_t magic, in.u32("magic"));
    if (magic != kRankerMagic) return in.corrupt("it is not a learned ranking");
    BRAID_TRY(const std::uint32_t version, in.u32("version"));
    if (version != kRankerVersion) {
        return fail(ErrorCode::Unsupported,
                    path + ": format " + std::to_string(version) + " is newer than this program");
    }
    BRAID_TRY(const std::uint64_t sum, in.u64("checksum"));
    const auto text = bytes.subspan(16);
    if (store::checksum(text) != sum) return in.corrupt("the checksum is wrong");
    return std::string_view(reinterpret_cast<const char*>(text.data()), text.size());
}

}  // namespace

Result<std::shared_ptr<const rank::Model>> read_ranker(const store::Directory& files) {
    const auto file = files.open(kRankerName);
    if (!file) {
        if (file.error().code == ErrorCode::NotFound) return nullptr;
        return tl::unexpected(file.error());
    }
    const std::string path = files.path() + "/" + std::string(kRankerName);
    BRAID_TRY(const std::string_view text, text_of((*file)->bytes(), path));
    auto model = rank::read_model(text);
    if (!model) return fail(model.error().code, path + ": " + model.error().message);
    return std::make_shared<const rank::Model>(*std::move(model));
}

Result<> write_ranker(store::Directory& files, std::string_view model) {
    const auto text = std::as_bytes(std::span(model));
    store::ByteWriter out;
    out.u32(kRankerMagic);
    out.u32(kRankerVersion);
    out.u64(store::checksum(text));
    out.bytes(text);
    return files.replace(kRankerName, out.view());
}

}  // namespace braid::local
