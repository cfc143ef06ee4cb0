#include "braid/core/unknown_collection.hpp"

#include <algorithm>

#include "braid/core/nearest.hpp"

namespace braid::core {
namespace {

constexpr std::string_view kStart = "there is no collection \"";
constexpr std::size_t kMaxNamed = 10;

}  // namespace

std::string unknown_collection(std::string_view name) {
    return std::string(kStart) + std::string(name) + "\"";
}

tl::unexpected<Error> no_collection(std::string_view name) {
    return fail(ErrorCode::NotFound, unknown_collection(name));
}

std::optional<std::string> unknown_collection_in(std::string_view message) {
    if (!message.starts_with(kStart)) return std::nullopt;
    const std::string_view rest = message.substr(kStart.size());
    if (rest.empty() || rest.find('"') != rest.size() - 1) return std::nullopt;
    return std::string(rest.substr(0, rest.size() - 1));
}

std::string unknown_collection(std::string_view name, std::span<const std::string_view> known) {
    std::string text = unknown_collection(name);
    if (known.empty()) return text + "; there are no collections yet";
    if (const auto near = nearest(name, known)) {
        text += "; did you mean \"" + std::string(*near) + "\"? There";
    } else {
        text += "; there";
    }
    text += known.size() == 1 ? " is" : " are";
    for (std::size_t i = 0; i < std::min(known.size(), kMaxNamed); ++i) {
        text += (i == 0 ? " \"" : ", \"") + std::string(known[i]) + "\"";
    }
    if (known.size() > kMaxNamed) {
        text += " and " + std::to_string(known.size() - kMaxNamed) + " more";
    }
    return text;
}

}  // namespace braid::core
