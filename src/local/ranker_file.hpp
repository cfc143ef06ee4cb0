#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "braid/result.hpp"

namespace braid::rank {
class Model;
}
namespace braid::store {
class Directory;
}

namespace braid::local {

/// The file of a collection's learned ranking (docs/formats/README.md).
inline constexpr std::string_view kRankerName = "ranker";

/// Null if there is none. Corruption if it cannot be read.
Result<std::shared_ptr<const rank::Model>> read_ranker(const store::Directory& files);

/// Replaces the present model, durably.
Result<> write_ranker(store::Directory& files, std::string_view model);

}  // namespace braid::local
