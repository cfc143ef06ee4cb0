#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace braid::ingest {

/// A pattern as .gitignore writes it: "*" and "?" stay within one name, "**" stands for any number
/// of folders, "[a-z]" for one character. With a "/" before its end it is about the whole path,
/// without one about a name at any depth; with a "/" at its end, about folders only.
class Glob {
public:
    explicit Glob(std::string_view pattern);

    /// `path` is relative, with "/". Takes time by the product of the lengths at most.
    bool matches(std::string_view path, bool directory) const;
    /// Whether it matches the path of a file, or a folder above it.
    bool covers(std::string_view file) const;

private:
    std::vector<std::string> parts_;
    bool whole_path_ = false;
    bool directories_only_ = false;
};

/// The patterns of the ignore files between a folder and the one that is being looked at. The last
/// one that matches decides; "!" before it means that the path is not ignored.
class IgnoreRules {
public:
    /// The lines of the file `origin` in the folder `base` ("" for the one that was given).
    void add(std::string_view lines, std::string_view base, std::string_view origin);
    std::size_t size() const noexcept { return rules_.size(); }
    /// Forgets what was added last.
    void shrink(std::size_t size) { rules_.resize(size); }

    /// The name of the file that has the deciding pattern; empty: the path is not ignored.
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
