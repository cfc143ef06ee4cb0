#include "braid/ingest/walk.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "braid/core/utf8.hpp"
#include "braid/ingest/glob.hpp"

namespace braid::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxDepth = 256;  // of folders
constexpr std::size_t kMaxIgnoreBytes = std::size_t{1} << 20;
constexpr std::array<std::string_view, 5> kDependencyFolders = {
    "node_modules", "bower_components", "__pycache__", "site-packages", "__MACOSX"};
constexpr std::array<std::string_view, 2> kIgnoreFiles = {".gitignore", ".braidignore"};

std::vector<Glob> globs_of(const std::vector<std::string>& patterns) {
    std::vector<Glob> globs;
    globs.reserve(patterns.size());
    for (const std::string& pattern : patterns) globs.emplace_back(pattern);
    return globs;
}

/// ASCII control characters; no id may contain one.
bool is_control(char c) {
    return (static_cast<unsigned char>(c) < 0x20) || c == '\x7F';
}

bool is_below(const fs::path& place, const fs::path& root) {
    return std::ranges::mismatch(root, place).in1 == root.end();
}

class Walk {
public:
    Walk(fs::path root, fs::path place, const WalkOptions& options)
        : root_(std::make_shared<const SourceRoot>(
              SourceRoot{.given = std::move(root), .place = std::move(place)})),
          options_(options),
          include_(globs_of(options.include)),
          exclude_(globs_of(options.exclude)) {}

    Listing run() {
        visit_folder(root_->given, root_->place, "", 0);
        // Only now is it known what is read in its own place.
        std::ranges::sort(listing_.files, {}, &SourceFile::below);
        in_place_ = listing_.files.size();
        for (std::size_t i = 0; i < links_.size(); ++i)
            visit_link(links_[i].first, links_[i].second);
        std::ranges::sort(listing_.files, {}, &SourceFile::below);
        std::ranges::sort(listing_.left_out, {}, &LeftOut::path);
        return std::move(listing_);
    }

private:
    void leave_out(const fs::path& path, bool directory, std::string reason, bool failed = false) {
        listing_.left_out.push_back(
            {shown_path(path) + (directory ? "/" : ""), std::move(reason), failed});
    }

    void visit_folder(const fs::path& path, const fs::path& place, const std::string& below,
                      std::size_t depth) {
        if (!folders_.insert(place).second) return;
        if (depth > kMaxDepth) {
            return leave_out(path, true, "folders are nested too deeply", true);
        }
        std::error_code error;
        fs::directory_iterator entries(path, error);
        if (error) return leave_out(path, true, "cannot be opened: " + error.message(), true);
        const std::size_t rules = rules_.size();
        if (!options_.everything) read_ignore_files(path, below);
        for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
            visit(*entries, place, below, depth);
        }
        if (error) leave_out(path, true, "cannot be read: " + error.message(), true);
        rules_.shrink(rules);
    }

    void visit(const fs::directory_entry& entry, const fs::path& folder, const std::string& above,
               std::size_t depth) {
        const fs::path name = entry.path().filename();
        const std::string below =
            above.empty() ? name.generic_string() : above + "/" + name.generic_string();
        std::error_code error;
        const fs::file_status status = entry.symlink_status(error);
        const bool directory = fs::is_directory(status);
        const std::string reason = reason_against(name.string(), below, directory);
        if (!reason.empty()) return leave_out(entry.path(), directory, reason);
        if (fs::is_symlink(status)) {
            links_.emplace_back(entry.path(), below);
        } else if (directory) {
            visit_folder(entry.path(), folder / name, below, depth + 1);
        } else if (fs::is_regular_file(status)) {
            add_file(entry.path(), folder / name, below);
        } else {
            leave_out(entry.path(), false, "not a file");
        }
    }

    void visit_link(const fs::path& path, const std::string& below) {
        std::error_code error;
        const fs::path place = fs::canonical(path, error);
        if (error) return leave_out(path, false, "broken link");
        if (!is_below(place, root_->place))
            return leave_out(path, false, "link that leads out of the folder");
        const bool directory = fs::is_directory(place, error);
        if (is_read(place)) {
            return leave_out(path, directory, "link whose target is read anyway");
        }
        if (directory) return visit_folder(path, place, below, 1);
        if (fs::is_regular_file(place, error)) return add_file(path, place, below);
        leave_out(path, false, "not a file");
    }

    void add_file(const fs::path& path, const fs::path& place, const std::string& below) {
        if (!include_.empty() &&
            std::ranges::none_of(include_, [&](const Glob& glob) { return glob.covers(below); })) {
            return leave_out(path, false, "not among --include");
        }
        std::error_code error;
        const std::uint64_t bytes = fs::file_size(path, error);
        if (error) return leave_out(path, false, "cannot be read: " + error.message(), true);
        if (!core::is_valid_utf8(below)) {
            return leave_out(path, false, "its name is not UTF-8", true);
        }
        if (std::ranges::any_of(below, is_control)) {
            return leave_out(path, false, "its name holds a control character", true);
        }
        SourceFile& file = listing_.files.emplace_back();
        file.root = root_;
        file.below = below;
        file.bytes = bytes;
        if (file.place() == place) return;
        file.linked_place = place.string();
        if (!linked_.insert(file.linked_place).second) listing_.files.pop_back();
    }

    /// Whether a folder or a file is read in its own place, or through an earlier link.
    bool is_read(const fs::path& place) const {
        if (folders_.contains(place) || linked_.contains(place.string())) return true;
        const std::string below = place.lexically_relative(root_->place).generic_string();
        const auto in_place = std::span(listing_.files).first(in_place_);
        const auto found = std::ranges::lower_bound(in_place, below, {}, &SourceFile::below);
        return found != in_place.end() && found->below == below;
    }

    std::string reason_against(const std::string& name, const std::string& below,
                               bool directory) const {
        for (const Glob& glob : exclude_) {
            if (glob.matches(below, directory)) return "excluded by --exclude";
        }
        if (options_.everything) return {};
        if (name.starts_with('.')) return "hidden";
        if (directory && std::ranges::find(kDependencyFolders, name) != kDependencyFolders.end()) {
            return "folder of dependencies (" + name + ")";
        }
        const std::string_view by = rules_.ignored_by(below, directory);
        return by.empty() ? std::string() : "ignored by " + std::string(by);
    }

    void read_ignore_files(const fs::path& folder, const std::string& below) {
        for (const std::string_view name : kIgnoreFiles) {
            std::ifstream in(folder / name, std::ios::binary);
            if (!in) continue;
            std::string text(kMaxIgnoreBytes, '\0');
            in.read(text.data(), static_cast<std::streamsize>(text.size()));
            text.resize(static_cast<std::size_t>(in.gcount()));
            rules_.add(text, below, name);
        }
    }

    std::shared_ptr<const SourceRoot> root_;
    const WalkOptions& options_;
    std::vector<Glob> include_;
    std::vector<Glob> exclude_;
    IgnoreRules rules_;
    std::vector<std::pair<fs::path, std::string>> links_;  // with their paths below the root
    std::set<fs::path> folders_;                           // places of folders that were read
    std::set<std::string> linked_;                         // places of files found through links
    std::size_t in_place_ = 0;  // files of the list that precede those found through links
    Listing listing_;
};

}  // namespace

std::string shown_path(const fs::path& path) {
    const std::string bytes = path.string();
    std::string shown;
    for (std::size_t at = 0; at < bytes.size();) {
        const core::Decoded next = core::decode_at(bytes, at);
        shown +=
            next.code_point == core::kInvalidBytes ? "\xEF\xBF\xBD" : bytes.substr(at, next.length);
        at += next.length;
    }
    return shown;
}

Result<Listing> list_files(const fs::path& root, const WalkOptions& options) {
    std::error_code error;
    const fs::file_status status = fs::status(root, error);
    if (!fs::exists(status)) {
        return fail(ErrorCode::NotFound, "there is no file or directory \"" + root.string() + "\"");
    }
    const fs::path place = fs::canonical(root, error);
    if (error) {
        return fail(ErrorCode::IoError, "reading \"" + root.string() + "\": " + error.message());
    }
    if (fs::is_directory(status)) return Walk(root, place, options).run();
    if (!fs::is_regular_file(status)) {
        return invalid_argument("\"" + root.string() + "\" is neither a file nor a directory");
    }
    Listing listing;
    SourceFile& file = listing.files.emplace_back();
    file.root = std::make_shared<const SourceRoot>(
        SourceRoot{.given = root.parent_path(), .place = place.parent_path()});
    file.below = root.filename().generic_string();
    if (file.place() != place) file.linked_place = place.string();
    file.bytes = fs::file_size(root, error);
    file.named = true;
    return listing;
}

}  // namespace braid::ingest
