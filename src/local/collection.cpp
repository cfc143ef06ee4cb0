#include "braid/local/collection.hpp"

#include <algorithm>
#include <utility>

#include "braid/exact/exact_index.hpp"
#include "braid/local/manifest_recovery.hpp"
#include "braid/store/durable_mark.hpp"

namespace braid::local {
Collection::Pin::Pin(std::shared_ptr<const Collection> collection, const PointInTime& at)
    : collection_(std::move(collection)), at_(at) {
    const std::scoped_lock lock(collection_->pins_mutex_);
    collection_->pins_.insert(at_.sequence);
    collection_->pinned_times_.insert(at_.now);
}

Collection::Pin::~Pin() {
    const std::scoped_lock lock(collection_->pins_mutex_);
    collection_->pins_.erase(collection_->pins_.find(at_.sequence));
    collection_->pinned_times_.erase(collection_->pinned_times_.find(at_.now));
}

Result<std::shared_ptr<const rank::Model>> Collection::Pin::ranker() const {
    std::call_once(ranker_read_, [this] { ranker_ = collection_->ranker(); });
    return ranker_;
}

Result<std::shared_ptr<const rank::Model>> Collection::ranker() const {
    const std::scoped_lock lock(ranker_mutex_);
    if (!ranker_) ranker_ = read_ranker(*directory_);
    return *ranker_;
}

Result<> Collection::set_ranker(const std::string& model) {
    const std::scoped_lock lock(ranker_mutex_);
    ranker_.reset();  // whatever happens, the file is the truth
    if (!model.empty()) return write_ranker(*directory_, model);
    auto removed = directory_->remove(kRankerName);
    if (!removed && removed.error().code != ErrorCode::NotFound) return removed;
    return {};
}

Result<> Collection::set_probes(const std::string& namespace_, const LegProbes& probes) {
    constexpr std::size_t most = 64;
    const std::scoped_lock lock(probes_mutex_);
    ProbesByNamespace all = read_probes(*directory_).value_or(ProbesByNamespace());
    all[namespace_] = probes;
    while (all.size() > most) {  // small namespaces tell the least
        all.erase(
            std::ranges::min_element(all, {}, [](const auto& one) { return one.second.chunks; }));
    }
    return write_probes(*directory_, all);
}

Collection::Collection(std::string name, std::unique_ptr<store::Directory> directory,
                       Manifest manifest, text::Analyzer analyzer, OpenSettings settings,
                       std::string_view manifest_name)
    : name_(std::move(name)),
      directory_(std::move(directory)),
      manifest_(std::move(manifest)),
      manifest_name_(manifest_name),
      analyzer_(std::move(analyzer)),
      settings_(std::move(settings)),
      read_only_(settings_.read_only),
      format_(manifest_.format),
      log_name_(manifest_.log),
      older_logs_(manifest_.older_logs),
      deletes_(manifest_.deletes),
      recorded_(manifest_.segments),
      flushed_(manifest_.flushed),
      recorded_generation_(manifest_.next_generation),
      next_generation_(manifest_.next_generation),
      versions_(0, manifest_.version_base),
      dimension_(manifest_.schema.vectors.dimension) {}

Result<> Collection::create_log(store::Directory& directory, const std::string& log,
                                Sequence first_sequence) {
    const auto nothing = [](std::uint64_t, std::span<const std::byte>) { return Result<>(); };
    store::AppendLogOptions options;
    options.first_sequence = first_sequence;
    BRAID_TRY(const auto opened, store::AppendLog::open(directory, log, options, nothing));
    BRAID_CHECK(opened.log->close());
    const store::DurableLength length{.log_id = opened.log->id(),
                                      .bytes = opened.log->size_bytes(),
                                      .next_sequence = opened.log->next_sequence()};
    return directory.replace(store::durable_mark_name(log), store::encode_durable_mark(length));
}

Result<> Collection::create_files(store::Directory& directory, const Schema& schema,
                                  std::string_view manifest_name, const std::string& log) {
    BRAID_CHECK(validate(schema));
    BRAID_CHECK(text::Analyzer::create(analyzer_options(schema)));
    // The log first: a manifest without its log then always means damage.
    const bool new_log = !directory.open(log);
    const auto attempt = [&]() -> Result<> {
        BRAID_CHECK(create_log(directory, log, 1));
        const auto manifest = write_manifest({.schema = schema, .log = log});
        BRAID_CHECK(directory.replace(manifest_name, manifest));
        if (manifest_name == kManifestName) (void)keep_copy(directory, manifest);
        return {};
    };
    auto written = attempt();
    if (!written && new_log) {
        // A full disk should leave nothing behind. But a manifest that is in place after all needs
        // its log.
        (void)directory.remove(manifest_name);
        const auto left = directory.open(manifest_name);
        if (!left && left.error().code == ErrorCode::NotFound) {
            (void)store::remove_log(directory, log);
        }
    }
    return written;
}

Result<> Collection::create(store::Directory& directory, const Schema& schema, Created as) {
    if (as == Created::Unfilled) {
        BRAID_CHECK(directory.replace(kUnfinishedMark, {}));
        auto created = create_files(directory, schema, kManifestName, log_name(1));
        if (!created) (void)directory.remove(kUnfinishedMark);
        return created;
    }
    if (const auto removed = directory.remove(kUnfinishedMark);
        !removed && removed.error().code != ErrorCode::NotFound) {
        return removed;  // left behind by an interrupted creation
    }
    return create_files(directory, schema, kManifestName, log_name(1));
}

Result<Collection::Opened> Collection::open(std::string name,
                                            std::unique_ptr<store::Directory> directory,
                                            const OpenSettings& settings,
                                            std::string_view manifest_name) {
    const std::string path = directory->path() + "/" + std::string(manifest_name);
    const auto file = directory->open(manifest_name);
    if (!file) {
        const bool missing = file.error().code == ErrorCode::NotFound;
        if (missing && manifest_name == kManifestName) BRAID_CHECK(require_no_records(*directory));
        return tl::unexpected(file.error());
    }
    BRAID_TRY(Manifest manifest, read_manifest((*file)->bytes(), path));
    BRAID_TRY(text::Analyzer analyzer, text::Analyzer::create(analyzer_options(manifest.schema)));
    const std::shared_ptr<Collection> collection(
        new Collection(std::move(name), std::move(directory), std::move(manifest),
                       std::move(analyzer), settings, manifest_name));  // NOLINT: private
    BRAID_CHECK(collection->open_index());
    Opened result{collection, {}};
    BRAID_CHECK(collection->replay_logs(result.notes));
    collection->unfinished_ = collection->directory_->open(kUnfinishedMark).has_value();
    if (!settings.read_only && manifest_name == kManifestName) collection->remove_old_files();
    return result;
}

Result<> Collection::open_index() {
    const Schema& schema = manifest_.schema;
    auto segments = std::make_unique<segment::SegmentIndex>(
        schema, analyzer_, settings_.engine.caches, settings_.engine.policy);
    std::vector<std::uint64_t> generations;
    for (const SegmentEntry& segment : manifest_.segments)
        generations.push_back(segment.generation);
    const auto loaded =
        segments->load(*directory_, generations, manifest_.deletes, manifest_.flushed);
    if (!loaded) {
        if (loaded.error().code != ErrorCode::NotFound) return loaded;
        return fail(ErrorCode::Corruption,
                    directory_->path() + ": a segment is missing: " + loaded.error().message);
    }
    if (manifest_name_ == kManifestName) segments->calibrations().read(*directory_);
    if (dimension_ == 0) dimension_ = segments->dimension();
    applied_ = manifest_.flushed;
    if (engine_for(settings_.engine.engine, schema) == Engine::Segment) {
        segments_ = segments.get();
        index_ = std::move(segments);
        return {};
    }
    index_ = std::make_unique<exact::ExactIndex>(schema, analyzer_);
    return copy_segments(*segments, *index_, analyzer_);
}

Result<store::AppendLog::Opened> Collection::replay_log(const std::string& name,
                                                        bool takes_records) {
    store::AppendLogOptions options;
    options.durability = settings_.durability;
    options.read_only = read_only_ || !takes_records;
    options.must_exist = true;
    options.must_be_marked = manifest_.format >= kMarkedFormat;
    options.lock = settings_.lock;
    options.on_id = [&](std::uint64_t log_id) {
        versions_ = Versions(log_id, manifest_.version_base);
    };
    auto opened = store::AppendLog::open(
        *directory_, name, options, [&](Sequence sequence, std::span<const std::byte> payload) {
            return replay(sequence, payload);
        });
    if (opened || opened.error().code != ErrorCode::NotFound) return opened;
    return fail(ErrorCode::Corruption,
                directory_->path() + ": the log \"" + name + "\" is missing");
}

Result<> Collection::replay_logs(std::vector<std::string>& notes) {
    for (const std::string& older : manifest_.older_logs) {
        BRAID_CHECK(replay_log(older, false));
    }
    older_end_ = applied_;
    BRAID_TRY(auto opened, replay_log(manifest_.log, true));
    log_ = std::move(opened.log);
    const store::LogReport& report = opened.report;
    if (!report.marked && manifest_.format < kMarkedFormat && report.records > 0) {
        notes.push_back("collection \"" + name_ +
                        "\": its log, written by an older version, does not record its length, so "
                        "a missing end would go unnoticed (\"braid compact\" adds the record)");
    }
    if (report.cut_bytes == 0) return {};
    notes.push_back(
        "collection \"" + name_ + "\": " + (read_only_ ? "ignored " : "cut ") +
        std::to_string(report.cut_bytes) + " bytes of an unfinished write at the end of its log" +
        (report.kept.empty() ? ""
                             : "; they are kept in " + directory_->path() + "/" + report.kept));
    return {};
}

Result<> Collection::close() {
    // What fails here is still in the log. Once for what was about to be flushed, once for the
    // rest; if the collection was filled, for all of the rest, so that it can be counted.
    const bool filled = counts_are_worth_it() && next_generation_ != manifest_.next_generation;
    for (int i = 0; i < 2; ++i) {
        if (!flush(jobs_.get_token(), filled ? 1 : settings_.flush_on_close_rows)) break;
    }
    stop_jobs();
    keep_counts();
    return close_for_good();
}

Result<> Collection::close_for_good() {
    stop_jobs();
    return log()->close();
}

Result<> Collection::finish() {
    if (!unfinished_) return {};
    BRAID_CHECK(directory_->remove(kUnfinishedMark));
    unfinished_ = false;
    return {};
}

std::optional<Error> Collection::refusal() const {
    const auto log = this->log();
    if (auto failure = log->failure()) return failure;
    return log->no_space();
}

Schema Collection::schema() const {
    Schema schema = manifest_.schema;
    schema.vectors.dimension = dimension();
    return schema;
}

std::size_t Collection::dimension() const {
    const std::shared_lock lock(state_mutex_);
    return dimension_;
}

Result<std::size_t> Collection::visible_dimension(const Principal& principal) const {
    const std::size_t declared = manifest_.schema.vectors.dimension;
    const std::size_t dimension = this->dimension();
    if (declared != 0 || dimension == 0 || principal.sees_everything()) return dimension;
    for (const std::string& namespace_ : index_->namespaces()) {
        const auto view = present(namespace_, principal);
        if (!view) return 0;
        BRAID_TRY(const bool visible, (*view)->has_vectors());
        if (visible) return dimension;
    }
    return 0;
}

std::shared_ptr<const Collection::Pin> Collection::pin() const {
    const std::shared_lock lock(state_mutex_);  // nothing is dropped before the pin is known
    return std::make_shared<const Pin>(shared_from_this(),
                                       PointInTime{applied_, now(), index_->bind(applied_)});
}

std::shared_ptr<const Collection::LapsingPin> Collection::lapsing(
    const std::shared_ptr<const Pin>& pin) {
    auto lapsing = std::make_shared<LapsingPin>(pin);
    const Collection& of = pin->collection();
    const std::scoped_lock lock(of.pins_mutex_);
    std::erase_if(of.lapsing_, [](const auto& one) { return one.expired(); });
    of.lapsing_.push_back(lapsing);
    return lapsing;
}

Timestamp Collection::now() const {
    const std::int64_t clock = settings_.clock().micros;
    std::int64_t last = last_now_;
    while (last < clock && !last_now_.compare_exchange_weak(last, clock)) {
    }
    return {std::max(last, clock)};
}

Timestamp Collection::expired_for_all() const {
    const std::unique_lock lock(state_mutex_);  // no pin is being made
    const Timestamp present = now();
    const std::scoped_lock pins_lock(pins_mutex_);
    return pinned_times_.empty() ? present : std::min(present, *pinned_times_.begin());
}

Sequence Collection::applied() const {
    const std::shared_lock lock(state_mutex_);
    return applied_;
}

Result<Collection::ViewPtr> Collection::present(const std::string& namespace_,
                                                const Principal& principal) const {
    // Under the lock, because a sequence number without a pin may be dropped before the view
    // exists.
    const std::shared_lock lock(state_mutex_);
    return index_->view({.namespace_ = namespace_,
                         .principal = principal,
                         .at = applied_,
                         .now = now(),
                         .limits = {}});
}

void Collection::settle(Sequence sequence) {
    applied_ = sequence;
    Sequence oldest = sequence;
    {
        const std::scoped_lock lock(pins_mutex_);
        if (!pins_.empty()) oldest = std::min(oldest, *pins_.begin());
    }
    index_->settle(oldest);
}

}  // namespace braid::local
