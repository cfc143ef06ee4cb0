#include "braid/store/durable_mark.hpp"

#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"

namespace braid::store {
namespace {

constexpr std::uint32_t kMagic = 0x4c445242;  // "BRDL"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kEntryBytes = 40;
/// Beyond this size it is rewritten.
constexpr std::size_t kMaxBytes = kEntryBytes * 2048;

std::optional<DurableLength> decode(std::span<const std::byte> entry) {
    ByteReader in(entry);
    const auto magic = in.u32("magic");
    const auto version = in.u32("version");
    const auto log_id = in.u64("log id");
    const auto bytes = in.u64("length");
    const auto next_sequence = in.u64("sequence");
    const auto stored = in.u64("checksum");
    if (!stored || *magic != kMagic || *version != kVersion) return std::nullopt;
    if (*stored != checksum(entry.first(kEntryBytes - 8))) return std::nullopt;
    return DurableLength{*log_id, *bytes, *next_sequence};
}

/// Ignores a part of an entry that a crash left at the end, or damage.
std::optional<DurableLength> last_of(std::span<const std::byte> file) {
    if (file.size() < kEntryBytes || file.size() % kEntryBytes != 0) return std::nullopt;
    return decode(file.last(kEntryBytes));
}

}  // namespace

std::string durable_mark_name(std::string_view log) {
    return std::string(log) + "-durable";
}

std::vector<std::byte> encode_durable_mark(const DurableLength& length) {
    ByteWriter out;
    out.u32(kMagic);
    out.u32(kVersion);
    out.u64(length.log_id);
    out.u64(length.bytes);
    out.u64(length.next_sequence);
    out.u64(checksum(out.view()));
    return out.take();
}

std::optional<DurableLength> read_durable_mark(const Directory& directory, std::string_view log) {
    const auto view = directory.open(durable_mark_name(log));
    if (!view) return std::nullopt;
    const auto file = (*view)->bytes();
    std::optional<DurableLength> best;
    for (std::size_t at = 0; file.size() - at >= kEntryBytes; at += kEntryBytes) {
        const auto entry = decode(file.subspan(at, kEntryBytes));
        if (entry && (!best || entry->log_id != best->log_id || entry->bytes > best->bytes)) {
            best = entry;
        }
    }
    return best;
}

tl::unexpected<Error> missing_mark(const std::string& path) {
    return fail(ErrorCode::Corruption, durable_mark_name(path) +
                                           ", which records the log's length, is missing or "
                                           "damaged: records may be missing from the log's end");
}

Result<> remove_log(Directory& directory, std::string_view log) {
    // A mark must not outlive its log: another log may get the name.
    const auto removed = directory.remove(durable_mark_name(log));
    if (!removed && removed.error().code != ErrorCode::NotFound) return removed;
    return directory.remove(log);
}

DurableMark::DurableMark(std::unique_ptr<Directory> directory, std::string_view log,
                         std::uint64_t log_id, std::optional<DurableLength> known)
    : directory_(std::move(directory)),
      name_(durable_mark_name(log)),
      log_id_(log_id),
      known_(known) {}

/// Whether it can be appended to: an entry after a torn one would not be found.
bool DurableMark::ends_well() const {
    const auto view = directory_->open(name_);
    if (!view || (*view)->bytes().size() >= kMaxBytes) return false;
    const auto last = last_of((*view)->bytes());
    return last && last->log_id == log_id_;
}

Result<> DurableMark::write(const DurableLength& length) {
    const std::vector<std::byte> entry = encode_durable_mark(length);
    if (file_ != nullptr && file_->size() >= kMaxBytes) file_.reset();
    if (file_ == nullptr) {
        if (!ends_well()) return directory_->replace(name_, entry);
        BRAID_TRY(file_, directory_->open_append(name_));
    }
    BRAID_CHECK(file_->append(entry));
    unsynced_ = true;
    return {};
}

void DurableMark::record(std::uint64_t bytes, std::uint64_t next_sequence) noexcept {
    const DurableLength length{log_id_, bytes, next_sequence};
    if (known_ == length) return;
    try {
        if (write(length)) {
            known_ = length;
            return;
        }
    } catch (const std::exception&) {
        // Out of memory is treated like a full disk.
    }
    file_.reset();  // its content is checked before more is written
    unsynced_ = false;
}

void DurableMark::sync() noexcept {
    try {
        if (file_ != nullptr && std::exchange(unsynced_, false)) (void)file_->sync();
        if (!known_ || known_->log_id != log_id_) return;
        const auto view = directory_->open(name_);
        if (view && last_of((*view)->bytes()) == known_) return;
        // Somebody removed or changed it meanwhile; the log is still as long as it was.
        file_.reset();
        (void)directory_->replace(name_, encode_durable_mark(*known_));
    } catch (const std::exception&) {
        file_.reset();
    }
}

}  // namespace braid::store
