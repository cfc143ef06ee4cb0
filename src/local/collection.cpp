#include "braid/local/collection.hpp"

#include <utility>

#include "braid/store/durable_mark.hpp"

namespace braid::local {
namespace {

text::AnalyzerOptions analyzer_options(const Schema& schema) {
    return {.name = schema.analyzer, .language = schema.language, .stop_words = schema.stop_words};
}

/// Corruption if there is a log with records: their manifest is lost, not yet to come.
Result<> require_no_records(store::Directory& directory) {
    const auto nothing = [](std::uint64_t, std::span<const std::byte>) { return Result<>(); };
    BRAID_TRY(const auto entries, directory.list());
    for (const store::DirectoryEntry& entry : entries) {
        if (entry.is_directory || !log_number(entry.name)) continue;
        const store::AppendLogOptions options{.read_only = true};
        BRAID_TRY(const auto opened,
                  store::AppendLog::open(directory, entry.name, options, nothing));
        if (opened.report.records == 0) continue;
        return fail(ErrorCode::Corruption, directory.path() + ": the manifest is missing, but \"" +
                                               entry.name + "\" holds " +
                                               std::to_string(opened.report.records) + " records");
    }
    return {};
}

}  // namespace

Collection::Pin::Pin(std::shared_ptr<const Collection> collection, Sequence at)
    : collection_(std::move(collection)), at_(at) {
    const std::scoped_lock lock(collection_->pins_mutex_);
    collection_->pins_.insert(at_);
}

Collection::Pin::~Pin() {
    const std::scoped_lock lock(collection_->pins_mutex_);
    collection_->pins_.erase(collection_->pins_.find(at_));
}

Collection::Collection(std::string name, std::unique_ptr<store::Directory> directory,
                       Manifest manifest, text::Analyzer analyzer,
                       std::unique_ptr<index::Index> index, bool read_only)
    : name_(std::move(name)),
      directory_(std::move(directory)),
      manifest_(std::move(manifest)),
      analyzer_(std::move(analyzer)),
      read_only_(read_only),
      format_(manifest_.format),
      index_(std::move(index)),
      versions_(0, manifest_.version_base),
      dimension_(manifest_.schema.vectors.dimension) {}

Result<> Collection::create_files(store::Directory& directory, const Schema& schema,
                                  std::string_view manifest_name, const std::string& log) {
    BRAID_CHECK(validate(schema));
    BRAID_CHECK(text::Analyzer::create(analyzer_options(schema)));
    // The log first: a manifest without its log then always means damage.
    const auto nothing = [](std::uint64_t, std::span<const std::byte>) { return Result<>(); };
    const bool new_log = !directory.open(log);
    const auto attempt = [&]() -> Result<> {
        BRAID_TRY(const auto opened, store::AppendLog::open(directory, log, {}, nothing));
        BRAID_CHECK(opened.log->close());
        const store::DurableLength length{.log_id = opened.log->id(),
                                          .bytes = opened.log->size_bytes(),
                                          .next_sequence = opened.log->next_sequence()};
        BRAID_CHECK(
            directory.replace(store::durable_mark_name(log), store::encode_durable_mark(length)));
        return directory.replace(manifest_name, write_manifest({.schema = schema, .log = log}));
    };
    auto written = attempt();
    if (!written && new_log) {
        // On a full disk nothing is to stay. A manifest that is in place after all needs its log.
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
        return removed;  // left by a creation that was interrupted
    }
    return create_files(directory, schema, kManifestName, log_name(1));
}

Result<Collection::Opened> Collection::open(std::string name,
                                            std::unique_ptr<store::Directory> directory,
                                            store::Durability durability, bool read_only,
                                            Engine engine, std::string_view manifest_name,
                                            std::shared_ptr<const store::DirectoryLock> lock) {
    const std::string path = directory->path() + "/" + std::string(manifest_name);
    const auto file = directory->open(manifest_name);
    if (!file) {
        const bool missing = file.error().code == ErrorCode::NotFound;
        if (missing && manifest_name == kManifestName) BRAID_CHECK(require_no_records(*directory));
        return tl::unexpected(file.error());
    }
    BRAID_TRY(Manifest manifest, read_manifest((*file)->bytes(), path));
    if (manifest.format >= kSegmentsFormat) {
        return fail(ErrorCode::Unsupported,
                    path + ": the collection has segments, which a newer braid wrote");
    }
    BRAID_TRY(text::Analyzer analyzer, text::Analyzer::create(analyzer_options(manifest.schema)));

    store::AppendLogOptions options;
    options.durability = durability;
    options.read_only = read_only;
    options.must_exist = true;
    options.must_be_marked = manifest.format >= kMarkedFormat;
    options.lock = std::move(lock);
    auto index = make_index(engine, manifest.schema, analyzer);
    const std::shared_ptr<Collection> collection(new Collection(
        std::move(name), std::move(directory), std::move(manifest), std::move(analyzer),
        std::move(index), read_only));  // NOLINT(cppcoreguidelines-owning-memory): private
    options.on_id = [&](std::uint64_t log_id) {
        collection->versions_ = Versions(log_id, collection->manifest_.version_base);
    };
    auto opened =
        store::AppendLog::open(*collection->directory_, collection->manifest_.log, options,
                               [&](std::uint64_t sequence, std::span<const std::byte> payload) {
                                   return collection->replay(sequence, payload);
                               });
    if (!opened) {
        if (opened.error().code != ErrorCode::NotFound) return tl::unexpected(opened.error());
        return fail(ErrorCode::Corruption, collection->directory_->path() + ": the log \"" +
                                               collection->manifest_.log + "\" is missing");
    }
    collection->log_ = std::move(opened->log);
    collection->manifest_name_ = manifest_name;
    collection->unfinished_ = collection->directory_->open(kUnfinishedMark).has_value();
    if (!read_only && manifest_name == kManifestName) collection->remove_old_logs();

    Opened result{collection, {}};
    if (!opened->report.marked && !options.must_be_marked && opened->report.records > 0) {
        result.notes.push_back("collection \"" + collection->name_ +
                               "\": its log has no mark of its length, as older versions leave it; "
                               "a missing end would not be noticed (\"braid compact\" adds one)");
    }
    if (opened->report.cut_bytes > 0) {
        const std::string& kept = opened->report.kept;
        result.notes.push_back(
            "collection \"" + collection->name_ + "\": " + (read_only ? "ignored " : "cut ") +
            std::to_string(opened->report.cut_bytes) +
            " bytes of an unfinished write at the end of its log" +
            (kept.empty() ? ""
                          : "; they are kept in " + collection->directory_->path() + "/" + kept));
    }
    return result;
}

Result<> Collection::close() {
    return log_->close();
}

Result<> Collection::finish() {
    if (!unfinished_) return {};
    BRAID_CHECK(directory_->remove(kUnfinishedMark));
    unfinished_ = false;
    return {};
}

std::optional<Error> Collection::refusal() const {
    if (auto failure = log_->failure()) return failure;
    return log_->no_space();
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
    const std::shared_lock lock(state_mutex_);  // nothing is forgotten before the pin is known
    return std::make_shared<const Pin>(shared_from_this(), applied_);
}

Sequence Collection::applied() const {
    const std::shared_lock lock(state_mutex_);
    return applied_;
}

Result<Collection::ViewPtr> Collection::present(const std::string& namespace_,
                                                const Principal& principal) const {
    // A sequence number that nobody has pinned may be forgotten before the view is there.
    const std::shared_lock lock(state_mutex_);
    return index_->view({.namespace_ = namespace_, .principal = principal, .at = applied_});
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
