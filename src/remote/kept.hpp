#pragma once

#include <string>

#include "braid/remote/cluster_core.hpp"
#include "braid/remote/document.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::remote {

/// What is kept with a collection besides its chunks: named texts, each in a document of the same
/// index without a namespace, which no search sees. They are dropped with the collection.
struct Kept {
    std::string text;  // empty: there is none
    Dependency dependency;

    friend bool operator==(const Kept&, const Kept&) = default;
};

/// Without `with_text`, only its dependency, which changes with the text.
Result<Kept> read_kept(const ClusterCore& core, const RemoteCollection& collection,
                       const std::string& name, bool with_text, const CallLimits& limits);
/// Replaces it; an empty text removes it. Conflict if another program did so at the same moment.
Result<> write_kept(const ClusterCore& core, const RemoteCollection& collection,
                    const std::string& name, const std::string& text, const CallLimits& limits);

/// The names of what is kept.
inline constexpr const char* kRankerName = ":ranker";
std::string probes_name(const std::string& namespace_);

}  // namespace braid::remote
