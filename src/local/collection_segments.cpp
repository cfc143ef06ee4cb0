#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <utility>

#include "braid/local/collection.hpp"
#include "braid/local/manifest_recovery.hpp"
#include "braid/store/durable_mark.hpp"

namespace braid::local {
namespace {

std::vector<SegmentEntry> entries_of(const segment::State& state) {
    std::vector<SegmentEntry> entries;
    for (const auto& one : state.segments) {
        entries.push_back({one->generation(), one->rows(), one->bytes()});
    }
    return entries;
}

}  // namespace

Manifest Collection::present_manifest() const {
    const std::scoped_lock lock(files_mutex_);
    return present_manifest_locked();
}

Manifest Collection::present_manifest_locked() const {
    Manifest manifest;
    manifest.schema = manifest_.schema;
    manifest.format = format_;
    manifest.log = log_name_;
    manifest.older_logs = older_logs_;
    manifest.flushed = flushed_;
    manifest.segments = recorded_;
    manifest.deletes = deletes_;
    manifest.next_generation = recorded_generation_;
    const std::shared_lock state_lock(state_mutex_);
    manifest.version_base = versions_.base();
    return manifest;
}

Result<> Collection::replace_manifest(const Manifest& manifest) {
    auto replaced = directory_->replace(manifest_name_, write_manifest(manifest));
    doubtful_ = !replaced;
    return replaced;
}

bool Collection::flush_due() const {
    if (segments_ == nullptr || read_only_) return false;
    // Deletes leave nothing in memory, but the log keeps growing.
    return segments_->flush_due() || log_bytes() > 2 * segments_->policy().buffer_bytes();
}

Result<> Collection::rotate_log() {
    const Sequence last = applied();
    {
        // A flush that failed began the present log, which has no record yet: another would only be
        // one more file, each time.
        const std::scoped_lock lock(files_mutex_);
        if (!older_logs_.empty() && last == older_end_) return {};
    }
    const auto before = log();
    // With relaxed durability the end of this log may not be on disk yet, though what follows it
    // will be.
    BRAID_CHECK(before->flush());
    BRAID_TRY(const std::string name, next_log(*directory_, present_manifest().log));
    {
        const std::scoped_lock lock(files_mutex_);
        Manifest manifest = present_manifest_locked();
        const auto attempt = [&]() -> Result<store::AppendLog::Opened> {
            BRAID_CHECK(create_log(*directory_, name, last + 1));
            manifest.older_logs.push_back(std::exchange(manifest.log, name));
            BRAID_CHECK(replace_manifest(manifest));
            store::AppendLogOptions options;
            options.durability = settings_.durability;
            options.must_exist = true;
            options.must_be_marked = true;
            options.lock = settings_.lock;
            const auto nothing = [](Sequence, std::span<const std::byte>) { return Result<>(); };
            return store::AppendLog::open(*directory_, name, options, nothing);
        };
        auto opened = attempt();
        if (!opened) {
            // The old log goes on taking records: even if the manifest names the new one by now,
            // all of the old one is read before it.
            if (replace_manifest(present_manifest_locked())) {
                (void)store::remove_log(*directory_, name);
            }
            return tl::unexpected(std::move(opened).error());
        }
        log_ = std::move(opened->log);
        log_name_ = manifest.log;
        older_logs_ = manifest.older_logs;
        older_end_ = last;
        format_ = std::max<std::uint32_t>(format_, kSegmentsFormat);
        const std::unique_lock state_lock(state_mutex_);
        versions_ = Versions(log_->id(), versions_.base());
    }
    return before->close();
}

Result<> Collection::record_files() {
    const std::scoped_lock lock(files_mutex_);
    if (jobs_ended_) return fail(ErrorCode::Cancelled, "the collection is closed");
    segment::StatePtr state;
    Sequence flushed = 0;
    Manifest manifest;
    {
        const std::shared_lock state_lock(state_mutex_);
        state = segments_->state();
        flushed = segments_->persisted();
        manifest.version_base = versions_.base();
    }
    manifest.format = format_;
    manifest.schema = manifest_.schema;
    manifest.log = log_name_;
    if (flushed < older_end_) manifest.older_logs = older_logs_;
    manifest.flushed = flushed;
    manifest.segments = entries_of(*state);
    const auto next = [this] { return next_generation_++; };
    BRAID_TRY(manifest.deletes, segments_->write_deletes(*directory_, *state, flushed, next));
    manifest.next_generation = next_generation_;
    BRAID_CHECK(replace_manifest(manifest));
    // From here on, files that the manifest does not name belong to nobody.
    const Manifest before{.schema = {},
                          .log = {},
                          .version_base = 0,
                          .older_logs = {},
                          .flushed = 0,
                          .segments = std::exchange(recorded_, manifest.segments),
                          .deletes = std::exchange(deletes_, manifest.deletes)};
    const std::vector<std::string> named = segment_files(manifest);
    for (const std::string& file : segment_files(before)) {
        if (std::ranges::find(named, file) == named.end()) garbage_.push_back(file);
    }
    const std::vector<std::string> derived = derived_files(manifest);
    for (const std::string& file : derived_files(before)) {
        if (std::ranges::find(derived, file) == derived.end()) garbage_.push_back(file);
    }
    for (const std::string& log : older_logs_) {
        if (!manifest.older_logs.empty()) continue;
        garbage_.push_back(log);
    }
    older_logs_ = manifest.older_logs;
    flushed_ = flushed;
    recorded_generation_ = manifest.next_generation;
    format_ = std::max<std::uint32_t>(format_, kSegmentsFormat);
    if (!is_recorded(graph_work_.generation)) graph_work_.stop.request_stop();
    // They stay as long as the copy may name them.
    if (manifest_name_ == kManifestName && !renew_copy(*directory_, manifest)) return {};
    if (copying_.lock()) return {};
    for (const std::string& file : std::exchange(garbage_, {})) {
        // What cannot be removed now goes when the collection is next opened.
        (void)(log_number(file) ? store::remove_log(*directory_, file) : directory_->remove(file));
    }
    return {};
}

std::uint64_t Collection::keep_pinned_states() {
    const std::unique_lock lock(state_mutex_);  // no pin is being made
    settle(applied_);
    std::vector<Sequence> pinned;
    {
        const std::scoped_lock pins_lock(pins_mutex_);
        pinned.assign(pins_.begin(), pins_.end());
    }
    return segments_->keep(pinned);
}

bool Collection::end_oldest_lapsing() {
    const Sequence newest = segments_->state()->from;
    std::vector<std::shared_ptr<LapsingPin>> all;  // a pin that ends takes the mutex itself
    {
        const std::scoped_lock lock(pins_mutex_);
        for (const auto& one : lapsing_) all.push_back(one.lock());
    }
    std::shared_ptr<LapsingPin> oldest;
    Sequence at = newest;
    for (const auto& one : all) {
        const auto pin = one ? one->pin() : nullptr;
        if (!pin || pin->at().sequence >= at) continue;
        at = pin->at().sequence;
        oldest = one;
    }
    if (!oldest) return false;
    oldest->end();
    return true;
}

void Collection::forget_old_states() {
    while (keep_pinned_states() > settings_.lapsing_bytes && end_oldest_lapsing()) {
    }
}

Result<> Collection::flush(const std::stop_token& stop, std::uint64_t least) {
    if (segments_ == nullptr || read_only_) return {};
    const std::scoped_lock one_at_a_time(flush_mutex_);
    if (jobs_ended_) return {};
    if (!segments_->has_frozen()) {
        const std::unique_lock alone(write_gate_);
        const Sequence last = applied();
        if (last == segments_->persisted()) return {};
        // Deletes alone leave no row in memory, and still have to be recorded.
        const std::uint64_t rows = std::max<std::uint64_t>(segments_->buffered_rows(), 1);
        if (rows < least && !flush_due()) return {};
        BRAID_CHECK(rotate_log());
        const std::unique_lock lock(state_mutex_);
        segments_->freeze(last);
    }
    const auto next = [this] { return next_generation_++; };
    auto flushed = segments_->flush(*directory_, next, stop);
    flush_failed_ = !flushed;
    Result<> recorded;
    if (flushed) {
        {
            const std::unique_lock lock(state_mutex_);
            segments_->install(*std::move(flushed));
        }
        recorded = record_files();
        forget_old_states();
        last_flush_ = std::chrono::steady_clock::now().time_since_epoch().count();
    }
    {
        const std::scoped_lock lock(room_mutex_);
        room_.notify_all();
    }
    if (!flushed) return tl::unexpected(std::move(flushed).error());
    return recorded;
}

void Collection::wait_for_room() const {
    if (segments_ == nullptr || read_only_ || !settings_.flushes_in_background) return;
    const segment::Policy& policy = segments_->policy();
    const auto room = [&] {
        if (flush_failed_ || jobs_ended_) return true;
        const segment::StatePtr now = segments_->state();
        if (now->buffers.size() == 1) return true;
        const segment::Buffer& buffer = *now->buffers.back();
        return buffer.rows() < 2 * policy.flush_rows && buffer.bytes() < 2 * policy.buffer_bytes();
    };
    if (room()) return;
    // Not forever: a disk that hangs is the log's to report.
    constexpr auto patience = std::chrono::seconds(30);
    std::unique_lock lock(room_mutex_);
    room_.wait_for(lock, patience, room);
}

bool Collection::compacts_segments() const {
    if (segments_ == nullptr) return false;
    const segment::StatePtr now = segments_->state();
    return !now->segments.empty() || now->buffers.size() > 1 ||
           now->buffers.back()->rows() >= settings_.flush_on_close_rows;
}

bool Collection::merge_due() const {
    return segments_ != nullptr && !read_only_ && !segments_->merge_due(expired_for_all()).empty();
}

Result<bool> Collection::merge(const std::stop_token& stop, bool everything) {
    if (segments_ == nullptr || read_only_) return false;
    const std::scoped_lock one_at_a_time(merge_mutex_);
    if (jobs_ended_) return false;
    const Timestamp now = expired_for_all();
    auto inputs = everything ? segments_->everything(now) : segments_->merge_due(now);
    if (inputs.empty()) return false;
    const auto next = [this] { return next_generation_++; };
    // Rows that died since the last flush stay: a record of the log may update one of them, and is
    // replayed against the files.
    BRAID_TRY(auto merged, segments_->merge(*directory_, std::move(inputs), segments_->persisted(),
                                            now, next, stop));
    {
        const std::unique_lock lock(state_mutex_);
        segments_->install(std::move(merged));
    }
    auto recorded = record_files();
    forget_old_states();
    if (!recorded) return tl::unexpected(std::move(recorded).error());
    return true;
}

void Collection::stop_jobs() {
    if (segments_ == nullptr) return;
    jobs_.request_stop();
    const std::scoped_lock nobody_works(flush_mutex_, merge_mutex_, derive_mutex_);
    const std::scoped_lock lock(files_mutex_, due_mutex_);
    jobs_ended_ = true;
}

Result<std::vector<StoredPart>> Collection::stored_parts() const {
    std::map<std::string, std::uint64_t> bytes{{"log", log_bytes()}};
    if (segments_ != nullptr) {
        const segment::StatePtr now = segments_->state();
        for (const auto& segment : now->segments) {
            BRAID_CHECK(segment->add_bytes(bytes));
            if (const auto graphs = segment->graphs()) bytes["graphs"] += graphs->bytes();
        }
    } else if (const std::uint64_t others = bytes_on_disk() - log_bytes(); others > 0) {
        bytes["other"] = others;
    }
    std::vector<StoredPart> parts;
    for (const auto& [name, size] : bytes) parts.push_back({name, size});
    std::ranges::stable_sort(parts, std::greater(), &StoredPart::bytes);
    return parts;
}

std::optional<IndexState> Collection::index_state() const {
    if (segments_ == nullptr) return std::nullopt;
    IndexState index;
    const segment::StatePtr now = segments_->state();
    for (const auto& segment : now->segments) {
        IndexState::Segment& shown = index.segments.emplace_back();
        shown.file = store::section_file_name(segment::kSegmentKind, segment->generation());
        shown.chunks = segment->rows();
        shown.dead = segment->dead();
        for (const segment::PartMeta& part : segment->meta().parts) shown.vectors += part.vectors;
        shown.bytes = segment->bytes();
        if (const auto graphs = segment->graphs()) shown.graph_bytes = graphs->bytes();
    }
    for (const auto& buffer : now->buffers) index.in_memory += buffer->rows();
    if (segments_->has_frozen() || segments_->flush_due()) index.pending.emplace_back("flush");
    if (merge_due()) index.pending.emplace_back("merge");
    if (!segments_->graphs_due().empty()) index.pending.emplace_back("graph");
    if (!segments_->calibrations_due().empty()) index.pending.emplace_back("calibration");
    return index;
}

std::uint64_t Collection::bytes_on_disk() const {
    std::uint64_t bytes = log_bytes();
    const std::scoped_lock lock(files_mutex_);
    for (const SegmentEntry& segment : recorded_) bytes += segment.bytes;
    if (segments_ == nullptr) return bytes;
    const segment::StatePtr state = segments_->state();
    for (const auto& one : state->segments) {
        if (const auto graphs = one->graphs()) bytes += graphs->bytes();
    }
    return bytes;
}

}  // namespace braid::local
