#pragma once

#include <memory>

#include "braid/collection.hpp"
#include "braid/index/index.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/text/analyzer.hpp"

namespace braid::local {

/// The index that an engine keeps a collection in, empty.
std::unique_ptr<index::Index> make_index(Engine engine, const Schema& schema,
                                         const text::Analyzer& analyzer);

}  // namespace braid::local
