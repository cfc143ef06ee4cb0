#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace braid::ingest {

/// A pattern as in .gitignore: "*" and "?" stay within one name, "**" stands for any number of
/// folders, "[a-z]" for one character. With a "/" before its end it applies to the whole path,
/// otherwise to a name at any depth; with a "/" at its end, to folders only.
class Glob {
public:
    explicit Glob(std::string_view pattern);

    /// `path` is relative, with "/". Takes time at most proportional to the product of the lengths.
    bool matches(std::string_view path, bool directory) const;
    /// Whether it matches the path of a file or of a folder above it.
    bool covers(std::string_view file) const;

private:
    std::vector<std::string> parts_;
    bool whole_path_ = false;
    bool directories_only_ = false;
};

/// The patterns of the ignore files between a folder and the one being visited. The last match
/// decides; a leading "!" means that the path is not ignored.
class IgnoreRules {
public:
    /// The lines of the file `origin` in the folder `base` ("" for the folder given).
    void add(std::string_view lines, std::string_view base, std::string_view origin);
    std::size_t size() const noexcept { return rules_.size(); }
    /// Drops what was added last.
    void shrink(std::size_t size) { rules_.resize(size); }

    /// The file that holds the deciding pattern; empty: the path is not ignored.
    std::string_view ignored_by(std::string_view path, bool directory) const;

private:
    struct Rule {
        Glob glob{""};
        std::string base;
        std::string origin;
        bool keep = false;
    };
    std::vector<Rule> rules_;
};

}  // namespace braid::ingest
