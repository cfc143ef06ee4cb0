#pragma once

#include <utility>

#include "braid/database.hpp"
#include "braid/retrieval/retriever.hpp"

namespace braid::retrieval {

/// Options with the applications' vocabulary: many tests search their collections and profiles.
inline RetrieverOptions application_options(LogSink log = nullptr) {
    RetrieverOptions options;
    options.vocabulary = application_vocabulary();
    options.log = std::move(log);
    return options;
}

}  // namespace braid::retrieval
