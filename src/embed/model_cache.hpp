#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace braid::store {
class MappedFile;
}

namespace braid::embed {

/// The graph that the runtime prepared from a model for this processor, as kept in the cache.
struct PreparedModel {
    std::span<const std::byte> graph;
    std::string model_sha256;                       // of the file it was made from
    std::shared_ptr<const store::MappedFile> file;  // holds the graph's bytes
};

/// Keeps what the runtime makes of one model in a file, so that the next start need not make it
/// again. It is valid for one state of the model's file, one runtime and one kind of processor; for
/// any other, nothing is kept. A folder that cannot be written to is not an error.
class ModelCache {
public:
    /// `folder`: empty for none. Looks at the model's file, so call it before the file is read.
    ModelCache(const std::filesystem::path& folder, const std::filesystem::path& model,
               const std::string& runtime_version);

    /// None if nothing is kept, if the model's file has changed since, or if it is damaged.
    std::optional<PreparedModel> find() const;

    /// A new file for the runtime to write a graph to; none if nothing can be kept.
    std::optional<std::filesystem::path> begin() const;
    /// Keeps what was written to it, if anything was.
    void finish(const std::filesystem::path& begun, const std::string& model_sha256) const;
    static void abandon(const std::filesystem::path& begun);

private:
    std::filesystem::path place_;  // empty: none
    std::string stamp_;            // identifies the model's file and when it was last modified
};

}  // namespace braid::embed
