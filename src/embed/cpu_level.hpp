#pragma once

#include <string_view>

namespace braid::embed {

/// The instruction set that decides how 8-bit models round here: "avx512vnni", "avx512", "avx2",
/// "sse4", "aarch64" or "other". Part of a fingerprint's soft half.
std::string_view cpu_level() noexcept;

}  // namespace braid::embed
