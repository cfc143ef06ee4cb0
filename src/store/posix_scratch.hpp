#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "braid/result.hpp"
#include "braid/store/posix_file.hpp"
#include "braid/store/scratch.hpp"

namespace braid::store {

/// An open, empty file as scratch memory, with its space reserved at once: a full disk is an error
/// of this call. The path is for messages.
Result<std::unique_ptr<Scratch>> map_posix_scratch(Descriptor file, std::uint64_t size,
                                                   std::string path);

}  // namespace braid::store
