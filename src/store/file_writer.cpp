#include "braid/store/file_writer.hpp"

#include <atomic>
#include <chrono>
#include <utility>

namespace braid::store {
namespace {

// Large enough that calls cost nothing compared with the bytes, small enough to hold per open file.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

}  // namespace

std::string own_name(std::string_view prefix) {
    static std::atomic<std::uint64_t> next{
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count())};
    return std::string(prefix) + std::to_string(next.fetch_add(1, std::memory_order_relaxed));
}

FileWriter::FileWriter(std::shared_ptr<RawDirectory> directory, std::string name,
                       RawDirectory::IfTaken if_taken)
    : directory_(std::move(directory)), name_(std::move(name)), if_taken_(if_taken) {}

FileWriter::~FileWriter() {
    remove_temporary();
}

Result<std::unique_ptr<FileWriter>> FileWriter::open(std::shared_ptr<RawDirectory> directory,
                                                     std::string name,
                                                     RawDirectory::IfTaken if_taken) {
    // Reported before gigabytes are written; the rename at the end is what decides.
    if (if_taken == RawDirectory::IfTaken::Fail && directory->state(name)) {
        return fail(ErrorCode::AlreadyExists,
                    "cannot create " + directory->path() + "/" + name + ": it exists");
    }
    std::unique_ptr<FileWriter> writer(
        new FileWriter(std::move(directory), std::move(name), if_taken));  // NOLINT: private
    BRAID_CHECK(writer->begin());
    return writer;
}

Result<> FileWriter::begin() {
    for (int attempt = 0;; ++attempt) {
        std::string name = own_name(kTempPrefix);
        auto file = directory_->open_file(name, RawDirectory::Access::AppendNew);
        if (file) {
            temporary_ = std::move(name);
            file_ = *std::move(file);
            return {};
        }
        if (file.error().code != ErrorCode::AlreadyExists || attempt >= kMaxNameAttempts) {
            return fail("cannot write a new file", std::move(file).error());
        }
    }
}

void FileWriter::remove_temporary() noexcept {
    file_ = nullptr;
    if (temporary_.empty()) return;
    (void)directory_->remove_file(temporary_);  // the first error is the one to report
    temporary_.clear();
}

Result<> FileWriter::remember(Result<> outcome) {
    if (outcome) return outcome;
    failure_ = outcome.error();
    remove_temporary();
    pending_ = {};
    return outcome;
}

Result<> FileWriter::write_now(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        auto written = file_->write(bytes);
        if (!written) return fail("cannot write a new file", std::move(written).error());
        bytes = bytes.subspan(*written);
    }
    return {};
}

Result<> FileWriter::write(std::span<const std::byte> bytes) {
    if (failure_) return tl::unexpected<Error>(*failure_);
    if (finished_) return invalid_argument("the file " + name_ + " is finished");
    size_ += bytes.size();
    if (pending_.empty() && bytes.size() >= kPieceBytes) return remember(write_now(bytes));
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    if (pending_.size() < kPieceBytes) return {};
    BRAID_CHECK(remember(write_now(pending_)));
    pending_.clear();
    return {};
}

Result<> FileWriter::finish_now() {
    BRAID_CHECK(write_now(pending_));
    pending_ = {};
    auto synced = file_->sync();
    if (!synced) return fail("cannot write a new file", std::move(synced).error());
    BRAID_CHECK(directory_->rename(temporary_, name_, if_taken_));
    temporary_.clear();
    file_ = nullptr;
    return directory_->sync();
}

Result<> FileWriter::finish() {
    if (failure_) return tl::unexpected<Error>(*failure_);
    if (finished_) return invalid_argument("the file " + name_ + " is finished");
    finished_ = true;
    return remember(finish_now());
}

}  // namespace braid::store
