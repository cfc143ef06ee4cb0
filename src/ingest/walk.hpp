#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "braid/result.hpp"

namespace braid::ingest {

/// A folder as given.
struct SourceRoot {
    std::filesystem::path given;  // as the caller named it
    std::filesystem::path place;  // absolute, without links
};

/// Small, because there is one for each file of a run.
struct SourceFile {
    std::shared_ptr<const SourceRoot> root;
    std::string below;         // the path below the folder, with '/'
    std::string linked_place;  // absolute, without links; empty: `below` the root's place
    std::uint64_t bytes = 0;
    bool named = false;  // given itself rather than found in a folder

    /// The folder as the caller named it, and the path below it.
    std::filesystem::path path() const { return root->given / below; }
    /// Absolute, without links.
    std::filesystem::path place() const {
        return linked_place.empty() ? root->place / below : std::filesystem::path(linked_place);
    }
};

/// A file, or a whole folder (with '/' at its end), that is not read.
struct LeftOut {
    std::string path;
    std::string reason;   // the same words for the same reason, so that they can be counted
    bool failed = false;  // it should have been read
};

struct Listing {
    std::vector<SourceFile> files;  // sorted by path below the folder
    std::vector<LeftOut> left_out;
};

struct WalkOptions {
    std::vector<std::string> include;  // patterns (glob.hpp); empty: all
    std::vector<std::string> exclude;
    bool everything = false;  // include what is hidden, ignored, or in a folder of dependencies
};

/// The files below `root`, or `root` itself. Left out, each with its reason: hidden files and
/// folders, folders of dependencies such as node_modules, what .gitignore and .braidignore name,
/// and what the options exclude. A link is followed if it leads to a place below `root` that is not
/// read otherwise, so that every file is read once; links out of `root` are not followed. NotFound
/// if the path does not exist.
Result<Listing> list_files(const std::filesystem::path& root, const WalkOptions& options = {});

/// A path as reports show it: bytes that are not UTF-8 are replaced.
std::string shown_path(const std::filesystem::path& path);

}  // namespace braid::ingest
