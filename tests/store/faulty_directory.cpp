#include "store/faulty_directory.hpp"

#include <utility>

#include "braid/store/raw_directory.hpp"
#include "store/faulty_tree.hpp"

namespace braid::store::testing {
namespace {

using Operation = FaultPlan::Operation;
using Verdict = FaultPlan::Verdict;

/// What all handles of one disk share.
struct Context {
    std::shared_ptr<FaultPlan> plan;
    std::shared_ptr<FaultyDisk::Tree> tree;
};

/// The error a verdict means, if it means one. CrashDuring: the operation still happens, in the
/// cache, so that the crash state may or may not hold it.
Result<> outcome(Verdict verdict, std::string_view doing, const std::string& path) {
    const std::string what = "cannot " + std::string(doing) + " " + path + ": ";
    switch (verdict) {
        case Verdict::Succeed:
        case Verdict::Short:
            return {};
        case Verdict::IoError:
            return fail(ErrorCode::IoError, what + "injected I/O error");
        case Verdict::NoSpace:
            return fail(ErrorCode::StorageFull, what + "no space left on the device");
        case Verdict::CrashDuring:
        case Verdict::MachineIsOff:
            return fail(ErrorCode::IoError, what + "the machine is off");
    }
    return {};
}

bool takes_place(Verdict verdict) {
    return verdict == Verdict::Succeed || verdict == Verdict::Short ||
           verdict == Verdict::CrashDuring;
}

class FaultyView final : public FileView {
public:
    explicit FaultyView(FaultyFile::Bytes bytes) : bytes_(std::move(bytes)) {}
    std::span<const std::byte> bytes() const noexcept override { return bytes_; }

private:
    FaultyFile::Bytes bytes_;
};

/// Looking at it is no operation that can fail: only what is read or changed counts.
FileState state_of(const std::shared_ptr<FaultyFile>& file) {
    return {0, reinterpret_cast<std::uintptr_t>(file.get()), file->cached.size()};
}

class FaultyRawFile final : public RawFile {
public:
    FaultyRawFile(Context context, std::shared_ptr<FaultyFile> file, std::string path)
        : context_(std::move(context)), file_(std::move(file)), path_(std::move(path)) {}

    Result<std::uint64_t> size() const override {
        BRAID_CHECK(outcome(context_.plan->enter(Operation::Read), "examine", path_));
        const std::scoped_lock lock(context_.tree->mutex);
        return std::uint64_t{file_->cached.size()};
    }

    Result<FileState> state() const override {
        const std::scoped_lock lock(context_.tree->mutex);
        return state_of(file_);
    }

    Result<std::size_t> write(std::span<const std::byte> bytes) override {
        const Verdict verdict = context_.plan->enter(Operation::Write);
        const std::scoped_lock lock(context_.tree->mutex);
        // A write that goes wrong goes wrong in the middle.
        std::size_t written = bytes.size() / 2;
        if (verdict == Verdict::Succeed) written = bytes.size();
        if (verdict == Verdict::Short) written = (bytes.size() + 1) / 2;
        if (verdict == Verdict::MachineIsOff) written = 0;
        file_->append(bytes.first(written));
        BRAID_CHECK(outcome(verdict, "write to", path_));
        return written;
    }

    Result<> sync() override {
        const Verdict verdict = context_.plan->enter(Operation::FileSync);
        const std::scoped_lock lock(context_.tree->mutex);
        if (verdict == Verdict::IoError) file_->lose();
        if (verdict == Verdict::Succeed) file_->sync();
        return outcome(verdict, "sync", path_);
    }

    Result<> truncate(std::uint64_t size) override {
        const Verdict verdict = context_.plan->enter(Operation::Other);
        const std::scoped_lock lock(context_.tree->mutex);
        if (takes_place(verdict)) file_->truncate(static_cast<std::size_t>(size));
        return outcome(verdict, "truncate", path_);
    }

    void drop_cache() noexcept override {
        const std::scoped_lock lock(context_.tree->mutex);
        file_->drop_cache();
    }

private:
    Context context_;
    std::shared_ptr<FaultyFile> file_;
    std::string path_;
};

class FaultyLock final : public DirectoryLock {
public:
    FaultyLock(Context context, std::shared_ptr<FaultyFolder> folder, std::string name)
        : context_(std::move(context)),
          folder_(std::move(folder)),
          name_(std::move(name)),
          file_(folder_->cached.at(name_)) {}
    FaultyLock(const FaultyLock&) = delete;
    FaultyLock& operator=(const FaultyLock&) = delete;
    FaultyLock(FaultyLock&&) = delete;
    FaultyLock& operator=(FaultyLock&&) = delete;
    ~FaultyLock() override {
        const std::scoped_lock lock(context_.tree->mutex);
        folder_->locked = false;
    }

    Result<> verify() const override {
        const std::scoped_lock lock(context_.tree->mutex);
        const auto named = folder_->cached.find(name_);
        if (named != folder_->cached.end() && named->second == file_) return {};
        return lock_is_lost(name_);
    }

private:
    Context context_;
    std::shared_ptr<FaultyFolder> folder_;
    std::string name_;
    FaultyFolder::Node file_;
};

auto missing(const std::string& path) {
    return fail(ErrorCode::NotFound, path + " does not exist");
}

auto taken(const std::string& path) {
    return fail(ErrorCode::AlreadyExists, path + " exists");
}

class FaultyRawDirectory final : public RawDirectory {
public:
    FaultyRawDirectory(Context context, std::shared_ptr<FaultyFolder> folder, std::string path)
        : context_(std::move(context)), folder_(std::move(folder)), path_(std::move(path)) {}

    std::string path() const override { return path_; }

    Result<std::unique_ptr<FileView>> view(const std::string& name) const override {
        BRAID_CHECK(enter(Operation::Read, "open", name));
        const std::scoped_lock lock(context_.tree->mutex);
        const auto* file = find<FaultyFile>(name);
        if (file == nullptr) return missing(path_of(name));
        return std::make_unique<FaultyView>((*file)->cached);
    }

    Result<std::unique_ptr<RawFile>> open_file(const std::string& name, Access access) override {
        const bool create = access == Access::AppendNew;
        const Verdict verdict = context_.plan->enter(create ? Operation::Create : Operation::Other);
        const std::scoped_lock lock(context_.tree->mutex);
        if (create && takes_place(verdict)) {
            if (folder_->cached.contains(name)) return taken(path_of(name));
            folder_->change({std::nullopt, {{name, std::make_shared<FaultyFile>()}}});
        }
        BRAID_CHECK(outcome(verdict, "open", path_of(name)));
        const auto* file = find<FaultyFile>(name);
        if (file == nullptr) return missing(path_of(name));
        return std::make_unique<FaultyRawFile>(context_, *file, path_of(name));
    }

    Result<std::shared_ptr<RawDirectory>> open_directory(const std::string& name) const override {
        BRAID_CHECK(enter(Operation::Read, "open", name));
        const std::scoped_lock lock(context_.tree->mutex);
        const auto* folder = find<FaultyFolder>(name);
        if (folder == nullptr) return missing(path_of(name));
        return std::make_shared<FaultyRawDirectory>(context_, *folder, path_of(name));
    }

    Result<> make_directory(const std::string& name) override {
        const Verdict verdict = context_.plan->enter(Operation::Create);
        const std::scoped_lock lock(context_.tree->mutex);
        if (takes_place(verdict)) {
            if (folder_->cached.contains(name)) return taken(path_of(name));
            folder_->change({std::nullopt, {{name, std::make_shared<FaultyFolder>()}}});
        }
        return outcome(verdict, "create", path_of(name));
    }

    Result<> rename(const std::string& from, const std::string& to, IfTaken if_taken) override {
        const Verdict verdict = context_.plan->enter(Operation::Create);
        const std::scoped_lock lock(context_.tree->mutex);
        if (takes_place(verdict)) {
            const auto source = folder_->cached.find(from);
            if (source == folder_->cached.end()) return missing(path_of(from));
            const FaultyFolder::Node node = source->second;
            const auto target = folder_->cached.find(to);
            if (target != folder_->cached.end()) {
                const bool both_files = node.index() == 0 && target->second.index() == 0;
                if (if_taken == IfTaken::Fail || !both_files) return taken(path_of(to));
            }
            folder_->change({from, {{to, node}}});
        }
        return outcome(verdict, "rename", path_of(from));
    }

    Result<> remove_file(const std::string& name) override {
        const Verdict verdict = context_.plan->enter(Operation::Other);
        const std::scoped_lock lock(context_.tree->mutex);
        if (takes_place(verdict)) {
            if (find<FaultyFile>(name) == nullptr) return missing(path_of(name));
            folder_->change({name, std::nullopt});
        }
        return outcome(verdict, "remove", path_of(name));
    }

    Result<> remove_directory(const std::string& name) override {
        const Verdict verdict = context_.plan->enter(Operation::Other);
        const std::scoped_lock lock(context_.tree->mutex);
        if (takes_place(verdict)) {
            const auto* folder = find<FaultyFolder>(name);
            if (folder == nullptr) return missing(path_of(name));
            if (!(*folder)->cached.empty()) return taken(path_of(name));
            folder_->change({name, std::nullopt});
        }
        return outcome(verdict, "remove", path_of(name));
    }

    Result<std::vector<RawEntry>> list() const override {
        BRAID_CHECK(enter(Operation::Read, "list", "."));
        const std::scoped_lock lock(context_.tree->mutex);
        std::vector<RawEntry> entries;
        for (const auto& [name, node] : folder_->cached) {
            const auto* file = std::get_if<std::shared_ptr<FaultyFile>>(&node);
            entries.push_back({name,
                               file != nullptr ? RawEntry::Kind::File : RawEntry::Kind::Directory,
                               file != nullptr ? (*file)->cached.size() : 0});
        }
        return entries;
    }

    Result<FileState> state(const std::string& name) const override {
        const std::scoped_lock lock(context_.tree->mutex);
        const auto* file = find<FaultyFile>(name);
        if (file == nullptr) return missing(path_of(name));
        return state_of(*file);
    }

    Result<std::unique_ptr<DirectoryLock>> lock(const std::string& name) override {
        BRAID_CHECK(enter(Operation::Create, "lock", name));
        const std::scoped_lock lock(context_.tree->mutex);
        if (!folder_->cached.contains(name)) {
            folder_->change({std::nullopt, {{name, std::make_shared<FaultyFile>()}}});
        }
        if (find<FaultyFile>(name) == nullptr) return taken(path_of(name));
        if (std::exchange(folder_->locked, true)) {
            return fail(ErrorCode::Locked, "cannot lock " + path_of(name) + ": held");
        }
        return std::make_unique<FaultyLock>(context_, folder_, name);
    }

    Result<> sync() override {
        const Verdict verdict = context_.plan->enter(Operation::Other);
        const std::scoped_lock lock(context_.tree->mutex);
        if (verdict == Verdict::Succeed || verdict == Verdict::Short) folder_->sync();
        return outcome(verdict, "sync the directory", path_);
    }

private:
    std::string path_of(const std::string& name) const { return path_ + "/" + name; }

    Result<> enter(Operation operation, std::string_view doing, const std::string& name) const {
        return outcome(context_.plan->enter(operation), doing, path_of(name));
    }

    template <class T>
    const std::shared_ptr<T>* find(const std::string& name) const {
        const auto entry = folder_->cached.find(name);
        return entry == folder_->cached.end() ? nullptr
                                              : std::get_if<std::shared_ptr<T>>(&entry->second);
    }

    Context context_;
    std::shared_ptr<FaultyFolder> folder_;
    std::string path_;
};

}  // namespace

FaultyDisk::FaultyDisk() : FaultyDisk(std::make_shared<Tree>()) {}

FaultyDisk::FaultyDisk(std::shared_ptr<Tree> tree)
    : plan_(std::make_shared<FaultPlan>()), tree_(std::move(tree)) {}

std::unique_ptr<Directory> FaultyDisk::root() {
    return make_directory(
        std::make_shared<FaultyRawDirectory>(Context{plan_, tree_}, tree_->root, "faulty"));
}

FaultyDisk FaultyDisk::crash_state(std::uint64_t seed, CrashMode mode) const {
    std::mt19937_64 rng(seed);
    const std::scoped_lock lock(tree_->mutex);
    auto tree = std::make_shared<Tree>();
    tree->root = tree_->root->after_crash(rng, mode);
    return FaultyDisk(std::move(tree));
}

}  // namespace braid::store::testing
