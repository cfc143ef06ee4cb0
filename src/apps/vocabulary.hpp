#pragma once

#include "braid/core/vocabulary.hpp"

namespace braid::apps {

/// What the applications call things, handed to the layers below as data. Lives as long as the
/// program.
const core::Vocabulary& vocabulary();

}  // namespace braid::apps
