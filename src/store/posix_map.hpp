#pragma once

#include <memory>
#include <string>

#include "braid/result.hpp"
#include "braid/store/mapped_file.hpp"
#include "braid/store/posix_file.hpp"

namespace braid::store {

/// Maps the whole of an open regular file for reading. ResourceExhausted if there are no addresses
/// left.
Result<std::shared_ptr<const MappedFile>> map_posix_file(Descriptor file, std::string path);

}  // namespace braid::store
