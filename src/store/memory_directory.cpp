#include "braid/store/memory_directory.hpp"

#include <map>
#include <mutex>
#include <utility>
#include <variant>

#include "braid/store/raw_directory.hpp"

namespace braid::store {
namespace {

using Bytes = std::vector<std::byte>;

class MemoryView final : public FileView {
public:
    explicit MemoryView(std::shared_ptr<const Bytes> bytes) : bytes_(std::move(bytes)) {}
    std::span<const std::byte> bytes() const noexcept override { return *bytes_; }

private:
    std::shared_ptr<const Bytes> bytes_;
};

/// A file being written grows in place; the first view of it seals the bytes, which views then
/// share, and a later write continues on a copy.
class MemoryFile {
public:
    std::uint64_t size() const {
        const std::scoped_lock lock(mutex_);
        return sealed_ != nullptr ? sealed_->size() : growing_.size();
    }

    void append(std::span<const std::byte> bytes) {
        const std::scoped_lock lock(mutex_);
        unseal();
        growing_.insert(growing_.end(), bytes.begin(), bytes.end());
    }

    void truncate(std::uint64_t size) {
        const std::scoped_lock lock(mutex_);
        unseal();
        growing_.resize(static_cast<std::size_t>(size));
    }

    std::shared_ptr<const Bytes> seal() {
        const std::scoped_lock lock(mutex_);
        if (sealed_ == nullptr) {
            sealed_ = std::make_shared<const Bytes>(std::exchange(growing_, Bytes()));
        }
        return sealed_;
    }

private:
    void unseal() {
        if (sealed_ == nullptr) return;
        growing_ = *sealed_;
        sealed_ = nullptr;
    }

    mutable std::mutex mutex_;
    Bytes growing_;
    std::shared_ptr<const Bytes> sealed_;
};

struct MemoryNode {
    using Entry = std::variant<std::shared_ptr<MemoryFile>, std::shared_ptr<MemoryNode>>;

    std::mutex mutex;
    std::map<std::string, Entry> entries;
    bool locked = false;
};

FileState state_of(const std::shared_ptr<MemoryFile>& file) {
    return {0, reinterpret_cast<std::uintptr_t>(file.get()), file->size()};
}

class MemoryRawFile final : public RawFile {
public:
    explicit MemoryRawFile(std::shared_ptr<MemoryFile> file) : file_(std::move(file)) {}

    Result<std::uint64_t> size() const override { return file_->size(); }
    Result<FileState> state() const override { return state_of(file_); }
    Result<std::size_t> write(std::span<const std::byte> bytes) override {
        file_->append(bytes);
        return bytes.size();
    }
    Result<> sync() override { return {}; }
    Result<> truncate(std::uint64_t size) override {
        file_->truncate(size);
        return {};
    }
    void drop_cache() noexcept override {}

private:
    std::shared_ptr<MemoryFile> file_;
};

class MemoryLock final : public DirectoryLock {
public:
    MemoryLock(std::shared_ptr<MemoryNode> node, std::string name, std::string path)
        : node_(std::move(node)),
          name_(std::move(name)),
          path_(std::move(path)),
          file_(node_->entries.at(name_)) {}
    MemoryLock(const MemoryLock&) = delete;
    MemoryLock& operator=(const MemoryLock&) = delete;
    MemoryLock(MemoryLock&&) = delete;
    MemoryLock& operator=(MemoryLock&&) = delete;
    ~MemoryLock() override {
        const std::scoped_lock lock(node_->mutex);
        node_->locked = false;
    }

    Result<> verify() const override {
        const std::scoped_lock lock(node_->mutex);
        const auto named = node_->entries.find(name_);
        if (named != node_->entries.end() && named->second == file_) return {};
        return lock_is_lost(path_);
    }

private:
    std::shared_ptr<MemoryNode> node_;
    std::string name_;
    std::string path_;
    MemoryNode::Entry file_;
};

auto missing(std::string_view doing, const std::string& path, std::string_view kind) {
    return fail(ErrorCode::NotFound,
                "cannot " + std::string(doing) + " " + path + ": no such " + std::string(kind));
}

auto taken(std::string_view doing, const std::string& path) {
    return fail(ErrorCode::AlreadyExists,
                "cannot " + std::string(doing) + " " + path + ": it exists");
}

class MemoryRawDirectory final : public RawDirectory {
public:
    MemoryRawDirectory(std::shared_ptr<MemoryNode> node, std::string path)
        : node_(std::move(node)), path_(std::move(path)) {}

    std::string path() const override { return path_; }

    Result<std::unique_ptr<FileView>> view(const std::string& name) const override {
        const std::scoped_lock lock(node_->mutex);
        const auto* file = find<std::shared_ptr<MemoryFile>>(name);
        if (file == nullptr) return missing("open", path_of(name), "file");
        return std::make_unique<MemoryView>((*file)->seal());
    }

    Result<std::unique_ptr<RawFile>> open_file(const std::string& name, Access access) override {
        const std::scoped_lock lock(node_->mutex);
        if (access == Access::AppendNew) {
            auto file = std::make_shared<MemoryFile>();
            if (!node_->entries.try_emplace(name, file).second)
                return taken("create", path_of(name));
            return std::make_unique<MemoryRawFile>(std::move(file));
        }
        const auto* file = find<std::shared_ptr<MemoryFile>>(name);
        if (file == nullptr) return missing("open", path_of(name), "file");
        return std::make_unique<MemoryRawFile>(*file);
    }

    Result<std::shared_ptr<RawDirectory>> open_directory(const std::string& name) const override {
        const std::scoped_lock lock(node_->mutex);
        const auto* node = find<std::shared_ptr<MemoryNode>>(name);
        if (node == nullptr) return missing("open", path_of(name), "directory");
        return std::make_shared<MemoryRawDirectory>(*node, path_of(name));
    }

    Result<> make_directory(const std::string& name) override {
        const std::scoped_lock lock(node_->mutex);
        if (!node_->entries.try_emplace(name, std::make_shared<MemoryNode>()).second) {
            return taken("create", path_of(name));
        }
        return {};
    }

    Result<> rename(const std::string& from, const std::string& to, IfTaken if_taken) override {
        const std::scoped_lock lock(node_->mutex);
        const auto source = node_->entries.find(from);
        if (source == node_->entries.end())
            return missing("rename", path_of(from), "file or directory");
        const auto target = node_->entries.find(to);
        if (target != node_->entries.end()) {
            const bool both_files = source->second.index() == 0 && target->second.index() == 0;
            if (if_taken == IfTaken::Fail || !both_files) return taken("rename to", path_of(to));
        }
        MemoryNode::Entry moved = std::move(source->second);
        node_->entries.erase(source);
        node_->entries.insert_or_assign(to, std::move(moved));
        return {};
    }

    Result<> remove_file(const std::string& name) override {
        const std::scoped_lock lock(node_->mutex);
        if (find<std::shared_ptr<MemoryFile>>(name) == nullptr) {
            return missing("remove", path_of(name), "file");
        }
        node_->entries.erase(name);
        return {};
    }

    Result<> remove_directory(const std::string& name) override {
        const std::scoped_lock lock(node_->mutex);
        const auto* node = find<std::shared_ptr<MemoryNode>>(name);
        if (node == nullptr) return missing("remove", path_of(name), "directory");
        const std::shared_ptr<MemoryNode> keep = *node;
        const std::scoped_lock inner_lock(keep->mutex);
        if (!keep->entries.empty()) return taken("remove the non-empty directory", path_of(name));
        node_->entries.erase(name);
        return {};
    }

    Result<std::vector<RawEntry>> list() const override {
        const std::scoped_lock lock(node_->mutex);
        std::vector<RawEntry> entries;
        for (const auto& [name, entry] : node_->entries) {
            const auto* file = std::get_if<std::shared_ptr<MemoryFile>>(&entry);
            entries.push_back({name,
                               file != nullptr ? RawEntry::Kind::File : RawEntry::Kind::Directory,
                               file != nullptr ? (*file)->size() : 0});
        }
        return entries;
    }

    Result<FileState> state(const std::string& name) const override {
        const std::scoped_lock lock(node_->mutex);
        const auto* file = find<std::shared_ptr<MemoryFile>>(name);
        if (file == nullptr) return missing("examine", path_of(name), "file");
        return state_of(*file);
    }

    Result<std::unique_ptr<DirectoryLock>> lock(const std::string& name) override {
        const std::scoped_lock lock(node_->mutex);
        node_->entries.try_emplace(name, std::make_shared<MemoryFile>());
        if (find<std::shared_ptr<MemoryFile>>(name) == nullptr) return taken("lock", path_of(name));
        if (std::exchange(node_->locked, true)) {
            return fail(ErrorCode::Locked,
                        "cannot lock " + path_of(name) + ": held by this process");
        }
        return std::make_unique<MemoryLock>(node_, name, path_of(name));
    }

    Result<> sync() override { return {}; }

private:
    std::string path_of(const std::string& name) const { return path_ + "/" + name; }

    template <class T>
    const T* find(const std::string& name) const {
        const auto entry = node_->entries.find(name);
        return entry == node_->entries.end() ? nullptr : std::get_if<T>(&entry->second);
    }

    std::shared_ptr<MemoryNode> node_;
    std::string path_;
};

}  // namespace

std::unique_ptr<Directory> make_memory_directory(std::string label) {
    return make_directory(
        std::make_shared<MemoryRawDirectory>(std::make_shared<MemoryNode>(), std::move(label)));
}

}  // namespace braid::store
