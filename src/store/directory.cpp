#include "braid/store/directory.hpp"

#include <algorithm>
#include <utility>

#include "braid/store/file_writer.hpp"
#include "braid/store/raw_directory.hpp"

namespace braid::store {
namespace {

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::string_view kTrashPrefix = ".trash-";
constexpr int kMaxDepth = 64;

bool is_name_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

bool is_listed(const RawEntry& entry) noexcept {
    return entry.kind != RawEntry::Kind::Other && is_valid_name(entry.name);
}

Result<> check_name(std::string_view name) {
    if (is_valid_name(name)) return {};
    return invalid_argument(
        "file name \"" + std::string(name.substr(0, kMaxNameBytes)) +
        "\" is not 1 to 200 characters of [A-Za-z0-9._-], not starting with '.'");
}

Result<> write_all(RawFile& file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        BRAID_TRY(const std::size_t written, file.write(bytes));
        bytes = bytes.subspan(written);
    }
    return {};
}

Result<> remove_tree(RawDirectory& parent, const std::string& name, int depth) {
    if (depth > kMaxDepth) {
        return fail(ErrorCode::IoError,
                    "cannot remove " + parent.path() + "/" + name + ": nested too deeply");
    }
    BRAID_TRY(const auto directory, parent.open_directory(name));
    BRAID_TRY(const auto entries, directory->list());
    for (const RawEntry& entry : entries) {
        if (entry.kind == RawEntry::Kind::Directory) {
            BRAID_CHECK(remove_tree(*directory, entry.name, depth + 1));
        } else {
            BRAID_CHECK(directory->remove_file(entry.name));
        }
    }
    return parent.remove_directory(name);
}

class RawBackedAppendFile final : public AppendFile {
public:
    RawBackedAppendFile(std::shared_ptr<RawDirectory> parent, std::string name,
                        std::unique_ptr<RawFile> file, std::uint64_t size)
        : parent_(std::move(parent)), name_(std::move(name)), file_(std::move(file)), size_(size) {}

    Result<> append(std::span<const std::byte> bytes) override {
        BRAID_CHECK(write_all(*file_, bytes));
        size_ += bytes.size();
        return {};
    }

    Result<> sync() override {
        BRAID_CHECK(file_->sync());
        // Also if the file existed before: whoever created it may have died too early.
        if (!name_is_durable_) BRAID_CHECK(parent_->sync());
        name_is_durable_ = true;
        return {};
    }

    std::uint64_t size() const noexcept override { return size_; }

    Result<> truncate(std::uint64_t size) override {
        if (size > size_) {
            return invalid_argument("cannot cut a file of " + std::to_string(size_) + " bytes in " +
                                    parent_->path() + " to " + std::to_string(size) + " bytes");
        }
        BRAID_CHECK(file_->truncate(size));
        size_ = size;
        return sync();
    }

    Result<> verify() const override {
        BRAID_TRY(const FileState ours, file_->state());
        const auto named = parent_->state(name_);
        if (named && named->same_file(ours) && ours.size == size_) return {};
        if (!named && named.error().code != ErrorCode::NotFound) {
            return tl::unexpected(named.error());
        }
        std::string problem = "another file has taken its place";
        if (!named) problem = "it was removed or renamed";
        if (named && named->same_file(ours)) {
            problem = "it has " + std::to_string(ours.size) + " bytes, but " +
                      std::to_string(size_) + " were written here";
        }
        return fail(ErrorCode::ReadOnly, "another program changed " + parent_->path() + "/" +
                                             name_ + " while it was being written: " + problem);
    }

private:
    std::shared_ptr<RawDirectory> parent_;
    std::string name_;
    std::unique_ptr<RawFile> file_;
    std::uint64_t size_;
    bool name_is_durable_ = false;
};

class RawBackedDirectory final : public Directory {
public:
    explicit RawBackedDirectory(std::shared_ptr<RawDirectory> raw) : raw_(std::move(raw)) {}

    std::string path() const override { return raw_->path(); }
    std::unique_ptr<Directory> again() const override { return make_directory(raw_); }

    Result<std::unique_ptr<FileView>> open(std::string_view name) const override {
        BRAID_CHECK(check_name(name));
        return raw_->view(std::string(name));
    }

    Result<std::shared_ptr<const MappedFile>> map(std::string_view name) const override {
        BRAID_CHECK(check_name(name));
        return raw_->map(std::string(name));
    }

    Result<std::vector<DirectoryEntry>> list() const override;
    Result<std::vector<std::string>> list_others() const override;
    Result<> create(std::string_view name, std::span<const std::byte> bytes) override;
    Result<std::unique_ptr<FileWriter>> write_file(std::string_view name) override;
    Result<std::unique_ptr<Scratch>> scratch(std::uint64_t size) override {
        return raw_->scratch(size);
    }
    Result<> replace(std::string_view name, std::span<const std::byte> bytes) override;
    Result<> remove(std::string_view name) override;
    Result<std::unique_ptr<AppendFile>> open_append(std::string_view name) override;
    Result<std::unique_ptr<Directory>> subdirectory(std::string_view name) override;
    Result<std::unique_ptr<Directory>> open_subdirectory(std::string_view name) const override;
    Result<> rename_subdirectory(std::string_view from, std::string_view to) override;
    Result<> remove_subdirectory(std::string_view name) override;

    Result<std::unique_ptr<DirectoryLock>> lock(std::string_view name) override {
        BRAID_CHECK(check_name(name));
        return raw_->lock(std::string(name));
    }

    Result<> sync() override { return raw_->sync(); }
    Result<std::size_t> remove_leftovers() override;

private:
    Result<> write_and_rename(std::string_view name, std::span<const std::byte> bytes,
                              RawDirectory::IfTaken if_taken);
    Result<std::unique_ptr<RawFile>> open_or_create(const std::string& name);
    Result<std::string> move_to_trash(const std::string& name);

    std::shared_ptr<RawDirectory> raw_;
};

Result<std::vector<DirectoryEntry>> RawBackedDirectory::list() const {
    BRAID_TRY(auto raw_entries, raw_->list());
    std::vector<DirectoryEntry> entries;
    for (RawEntry& raw : raw_entries) {
        if (!is_listed(raw)) continue;
        const bool is_directory = raw.kind == RawEntry::Kind::Directory;
        entries.push_back({std::move(raw.name), is_directory, is_directory ? 0 : raw.size});
    }
    std::sort(entries.begin(), entries.end(),
              [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
    return entries;
}

Result<std::vector<std::string>> RawBackedDirectory::list_others() const {
    BRAID_TRY(auto raw_entries, raw_->list());
    std::vector<std::string> names;
    for (RawEntry& raw : raw_entries) {
        if (!is_listed(raw)) names.push_back(std::move(raw.name));
    }
    std::sort(names.begin(), names.end());
    return names;
}

Result<> RawBackedDirectory::write_and_rename(std::string_view name,
                                              std::span<const std::byte> bytes,
                                              RawDirectory::IfTaken if_taken) {
    BRAID_CHECK(check_name(name));
    BRAID_TRY(const auto writer, FileWriter::open(raw_, std::string(name), if_taken));
    BRAID_CHECK(writer->write(bytes));
    return writer->finish();
}

Result<std::unique_ptr<FileWriter>> RawBackedDirectory::write_file(std::string_view name) {
    BRAID_CHECK(check_name(name));
    return FileWriter::open(raw_, std::string(name), RawDirectory::IfTaken::Fail);
}

Result<> RawBackedDirectory::create(std::string_view name, std::span<const std::byte> bytes) {
    return write_and_rename(name, bytes, RawDirectory::IfTaken::Fail);
}

Result<> RawBackedDirectory::replace(std::string_view name, std::span<const std::byte> bytes) {
    return write_and_rename(name, bytes, RawDirectory::IfTaken::Replace);
}

Result<> RawBackedDirectory::remove(std::string_view name) {
    BRAID_CHECK(check_name(name));
    BRAID_CHECK(raw_->remove_file(std::string(name)));
    return raw_->sync();
}

Result<std::unique_ptr<RawFile>> RawBackedDirectory::open_or_create(const std::string& name) {
    for (int attempt = 0;; ++attempt) {
        auto present = raw_->open_file(name, RawDirectory::Access::Append);
        if (present) {
            // The cache may still hold what a failed sync of an earlier owner dropped, and it looks
            // written there. Sync what can be synced and drop the rest, so that the next read sees
            // the disk.
            BRAID_CHECK((*present)->sync());
            (*present)->drop_cache();
            return present;
        }
        if (present.error().code != ErrorCode::NotFound) return present;
        auto created = raw_->open_file(name, RawDirectory::Access::AppendNew);
        if (created) return created;
        const bool raced = created.error().code == ErrorCode::AlreadyExists && attempt == 0;
        if (!raced) return created;
    }
}

Result<std::unique_ptr<AppendFile>> RawBackedDirectory::open_append(std::string_view name) {
    BRAID_CHECK(check_name(name));
    BRAID_TRY(auto file, open_or_create(std::string(name)));
    BRAID_TRY(const std::uint64_t size, file->size());
    return std::make_unique<RawBackedAppendFile>(raw_, std::string(name), std::move(file), size);
}

Result<std::unique_ptr<Directory>> RawBackedDirectory::subdirectory(std::string_view name) {
    BRAID_CHECK(check_name(name));
    auto made = raw_->make_directory(std::string(name));
    const bool present = !made && made.error().code == ErrorCode::AlreadyExists;
    if (!made && !present) return fail("cannot create a directory", std::move(made).error());
    auto opened = raw_->open_directory(std::string(name));
    if (!opened) {
        // Not a directory: a file has that name.
        const bool is_file = present && opened.error().code == ErrorCode::NotFound;
        return is_file ? fail("cannot create a directory", std::move(made).error())
                       : fail("cannot open a directory", std::move(opened).error());
    }
    // Also if the directory existed before: whoever created it may have died too early.
    BRAID_CHECK(raw_->sync());
    return make_directory(*std::move(opened));
}

Result<std::unique_ptr<Directory>> RawBackedDirectory::open_subdirectory(
    std::string_view name) const {
    BRAID_CHECK(check_name(name));
    BRAID_TRY(auto raw, raw_->open_directory(std::string(name)));
    return make_directory(std::move(raw));
}

Result<> RawBackedDirectory::rename_subdirectory(std::string_view from, std::string_view to) {
    BRAID_CHECK(check_name(from));
    BRAID_CHECK(check_name(to));
    BRAID_CHECK(raw_->open_directory(std::string(from)));
    BRAID_CHECK(raw_->rename(std::string(from), std::string(to), RawDirectory::IfTaken::Fail));
    return raw_->sync();
}

Result<std::string> RawBackedDirectory::move_to_trash(const std::string& name) {
    for (int attempt = 0;; ++attempt) {
        std::string trash = own_name(kTrashPrefix);
        auto renamed = raw_->rename(name, trash, RawDirectory::IfTaken::Fail);
        if (renamed) return trash;
        if (renamed.error().code != ErrorCode::AlreadyExists || attempt >= kMaxNameAttempts) {
            return fail("cannot remove a directory", std::move(renamed).error());
        }
    }
}

Result<> RawBackedDirectory::remove_subdirectory(std::string_view name) {
    BRAID_CHECK(check_name(name));
    BRAID_CHECK(raw_->open_directory(std::string(name)));
    BRAID_TRY(const std::string trash, move_to_trash(std::string(name)));
    // Before anything in it is removed: otherwise the old name could come back half empty.
    BRAID_CHECK(raw_->sync());
    return remove_tree(*raw_, trash, 0);
}

Result<std::size_t> RawBackedDirectory::remove_leftovers() {
    BRAID_TRY(const auto entries, raw_->list());
    std::size_t removed = 0;
    for (const RawEntry& entry : entries) {
        if (!is_leftover_name(entry.name)) continue;
        BRAID_CHECK(entry.kind == RawEntry::Kind::Directory ? remove_tree(*raw_, entry.name, 0)
                                                            : raw_->remove_file(entry.name));
        ++removed;
    }
    if (removed > 0) BRAID_CHECK(raw_->sync());
    return removed;
}

}  // namespace

bool is_valid_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= kMaxNameBytes && name.front() != '.' &&
           std::all_of(name.begin(), name.end(), is_name_character);
}

bool is_leftover_name(std::string_view name) noexcept {
    return name.starts_with(kTempPrefix) || name.starts_with(kTrashPrefix);
}

tl::unexpected<Error> lock_is_lost(const std::string& path) {
    return fail(ErrorCode::ReadOnly,
                "the lock " + path +
                    " was removed or replaced while this program held it, so another one may "
                    "be writing; nothing more is written here until the database is reopened");
}

Result<std::shared_ptr<const MappedFile>> RawDirectory::map(const std::string& name) const {
    BRAID_TRY(const auto seen, view(name));
    return map_copy(seen->bytes(), path() + "/" + name);
}

Result<std::unique_ptr<Scratch>> RawDirectory::scratch(std::uint64_t size) {
    return scratch_in_memory(size);
}

std::unique_ptr<Directory> make_directory(std::shared_ptr<RawDirectory> raw) {
    return std::make_unique<RawBackedDirectory>(std::move(raw));
}

}  // namespace braid::store
