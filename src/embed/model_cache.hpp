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

/// The graph that the runtime made of a model for this processor, as it was kept.
struct PreparedModel {
    std::span<const std::byte> graph;
    std::string model_sha256;                       // of the file that it was made from
    std::shared_ptr<const store::MappedFile> file;  // holds the graph's bytes
};

/// Keeps what the runtime makes of one model, in a file of a folder, so that the next start need
/// not make it again. What is kept belongs to one state of the model's file, one runtime and one
/// kind of processor; for any other it is as if nothing were kept. A folder that cannot be written
/// to is no error.
class ModelCache {
public:
    /// `folder`: empty for none. Looks at the model's file: call it before the file is read.
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
    std::string stamp_;            // which file the model is, and when it was last touched
};

}  // namespace braid::embed
