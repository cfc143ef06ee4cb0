#include "braid/cli/commands/ingest_run.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "braid/apps/filling.hpp"
#include "braid/cli/commands/collection_setup.hpp"
#include "braid/cli/commands/ingest_files.hpp"
#include "braid/cli/commands/ingest_report.hpp"
#include "braid/cli/commands/settle.hpp"
#include "braid/cli/view/progress.hpp"
#include "braid/core/numbers.hpp"
#include "braid/core/resident_memory.hpp"
#include "braid/ingest/directory.hpp"
#include "braid/ingest/file_handle.hpp"
#include "braid/ingest/foreign.hpp"
#include "braid/ingest/jsonl.hpp"
#include "braid/ingest/new_source.hpp"
#include "braid/service/directory_target.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kMaxShownWarnings = 10;

class Ingest {
public:
    explicit Ingest(Session& session) : session_(session), paths_(session.arguments.operands) {}

    Result<> run() {
        core::keep_memory_low();
        BRAID_CHECK(prepare());
        BRAID_CHECK(read_first());
        session_.interrupts.hold();
        if (is_empty()) {  // it makes no collection
            progress_ = std::make_unique<Progress>(session_.out, false, every_);
            note_empty(paths_.front());
            report();
            return {};
        }
        if (texts_.dry_run) {
            BRAID_TRY(service_, service_to_look_at(session_, texts_.collection));
        } else {
            BRAID_TRY(service_, session_.service_for_writing(true));
            BRAID_CHECK(ensure_collections());
        }
        BRAID_CHECK(note_embedder());
        const bool bar = !session_.quiet() && session_.out.notes_on_terminal();
        progress_ = std::make_unique<Progress>(session_.out, bar, every_);
        if (session_.arguments.has("watch")) watched_ = state_of(paths_, texts_.walk);
        auto stored = store_all();
        progress_->clear();
        if (!stored) return tl::unexpected(with_count(std::move(stored).error(), totals_));
        // A folder without files is a mistake, unless it had some before.
        if (no_files_ && totals_.texts.gone.empty()) return tl::unexpected<Error>(*no_files_);
        BRAID_CHECK(settle());
        report();
        if (session_.arguments.has("watch")) return watch();
        return failures_of(totals_);
    }

private:
    Result<> settle() const {
        if (!session_.arguments.has("wait") || texts_.dry_run) return {};
        BRAID_CHECK(wait_until_settled(session_, *service_, texts_.collection));
        if (texts_.documents.empty()) return {};
        return wait_until_settled(session_, *service_, texts_.documents);
    }
    Result<> prepare() {
        const Arguments& arguments = session_.arguments;
        BRAID_TRY(const auto batch, arguments.integer("batch", 1, 100'000));
        BRAID_TRY(const auto every, arguments.integer("progress-every", 1, 1'000'000'000));
        BRAID_TRY(texts_, directory_options(arguments));
        BRAID_CHECK(use_profile());
        if (batch) lines_.batch_chunks = static_cast<std::size_t>(*batch);
        lines_.keep_going = !texts_.strict;
        lines_.may_be_empty = true;
        every_ = static_cast<std::uint64_t>(every.value_or(0));
        name_ = arguments.text_or("name", "");
        if (!name_.empty() && paths_ != std::vector<std::string>{"-"}) {
            return invalid_argument("--name works only with standard input (\"-\")");
        }
        const bool lines = name_.empty() && std::ranges::any_of(paths_, is_lines_here());
        if (arguments.has("watch") && (lines || !name_.empty() || texts_.dry_run)) {
            return invalid_argument("--watch is for folders and documents");
        }
        if (texts_.dry_run && lines) {
            return invalid_argument("--dry-run is for folders and documents, not for JSON lines");
        }
        texts_.namespace_ = lines_.namespace_ = session_.namespace_name();
        texts_.stop = lines_.stop = write_.limits.stop = session_.interrupts.token();
        texts_.list_all = session_.json();
        if (arguments.has("vectors") && (paths_.size() > 1 || !is_lines_here()(paths_.front()))) {
            return invalid_argument("--vectors is for one file of JSON lines");
        }
        if (arguments.has("ack") && session_.json()) {
            return invalid_argument("--ack and --json cannot be combined");
        }
        return validate_collection_name(texts_.collection);
    }

    /// Whether all there is are lines of which there is none.
    bool is_empty() const {
        return first_reader_ && !first_batch_ && paths_.size() == 1 && totals_.failed_lines == 0;
    }

    /// The destination, according to --profile, --documents and --collection.
    Result<> use_profile() {
        const Arguments& arguments = session_.arguments;
        texts_.collection = session_.collection();
        if (const auto profile = arguments.text("profile")) {
            BRAID_TRY(filling_, apps::filling(*profile));
            texts_.collection = arguments.text_or("collection", filling_.collection);
            texts_.documents = filling_.documents;
            lines_.record = filling_.record;
        }
        if (const auto documents = arguments.text("documents")) {
            BRAID_CHECK(validate_collection_name(*documents));
            texts_.documents = *documents;
        }
        if (!texts_.documents.empty() && texts_.documents == texts_.collection) {
            return invalid_argument("\"" + texts_.documents +
                                    "\" cannot hold both whole documents and their chunks");
        }
        return {};
    }

    /// With --from every path is read as records.
    std::function<bool(const std::string&)> is_lines_here() const {
        if (session_.arguments.has("from")) return [](const std::string&) { return true; };
        return is_lines;
    }

    /// Looks at the input before the database is opened: bad input creates nothing.
    Result<> read_first() {
        if (!name_.empty()) {
            BRAID_TRY(piped_, read_piped(texts_));
            return {};
        }
        const auto lines = is_lines_here();
        bytes_ = 0;
        for (const std::string& path : paths_) {
            if (lines(path)) {
                const std::string from = session_.arguments.text_or("from", "");
                BRAID_TRY(const auto file,
                          ingest::FileHandle::open(ingest::foreign_file(from, path)));
                add_bytes(file.size());
                continue;
            }
            BRAID_TRY(const auto listing, ingest::list_files(path, texts_.walk));
            if (paths_.size() == 1) BRAID_CHECK(check_only(path, listing));
            for (const ingest::SourceFile& file : listing.files) add_bytes(file.bytes);
            files_ += listing.files.size();
        }
        if (!lines(paths_.front())) return {};
        BRAID_TRY(first_reader_, open(paths_.front()));
        std::vector<std::string> failed;
        BRAID_TRY(first_batch_, next_of(*first_reader_, failed));
        if (first_batch_ || paths_.size() > 1 || failed.empty()) {
            note_failed(failed);
            return {};
        }
        if (failed.size() > 1) {
            failed.front() += " (and " + core::grouped(failed.size() - 1) + " more)";
        }
        // What is not even JSON may be a document.
        const bool json = failed.front().find(": column ") == std::string::npos &&
                          failed.front().find("not valid UTF-8") == std::string::npos;
        if (paths_.front() == "-" && !json) failed.front() += "; a document needs --name FILE";
        return invalid_argument(failed.front());
    }

    /// A folder without files may have had some before: what is gone is found out later.
    Result<> check_only(const std::string& path, const ingest::Listing& listing) {
        auto checked = check_only_path(path, listing);
        if (checked || !listing.files.empty()) return checked;
        const auto present = session_.service_for_reading();
        if (!present || !(*present)->schema(texts_.collection)) return checked;
        no_files_ = std::move(checked).error();
        return {};
    }

    /// The next batch with chunks; lines on the way to it that are not chunks go to `failed`.
    static Result<std::optional<ingest::Batch>> next_of(ingest::RecordReader& reader,
                                                        std::vector<std::string>& failed) {
        while (true) {
            BRAID_TRY(auto batch, reader.next());
            if (!batch) return batch;
            std::ranges::move(std::exchange(batch->failed, {}), std::back_inserter(failed));
            if (batch->chunks > 0) return batch;
        }
    }
    Result<std::optional<ingest::Batch>> next_of(ingest::RecordReader& reader) {
        std::vector<std::string> failed;
        auto batch = next_of(reader, failed);
        note_failed(failed);
        return batch;
    }
    void note_failed(const std::vector<std::string>& failed) {
        totals_.failed_lines += failed.size();
        keep_warnings(failed);
    }

    void add_bytes(std::optional<std::uint64_t> bytes) {
        if (bytes && bytes_) {
            *bytes_ += *bytes;
        } else {
            bytes_.reset();  // a pipe: nobody knows
        }
    }

    Result<std::unique_ptr<ingest::RecordReader>> open(const std::string& path) {
        ingest::JsonlOptions options = lines_;
        options.vocabulary = application_vocabulary();
        if (const auto from = session_.arguments.text("from")) {
            return ingest::open_foreign(*from, path, options);
        }
        if (const auto vectors = session_.arguments.text("vectors")) {
            options.vectors = *vectors;
        } else if (session_.arguments.text_or("embedder", "external") == "external") {
            options.vectors = ingest::vectors_beside(path).value_or("");
            if (!options.vectors.empty()) session_.note("Vectors from " + options.vectors + ".");
        }
        BRAID_TRY(auto reader, ingest::JsonlReader::open(path, options));
        return std::make_unique<ingest::JsonlReader>(std::move(reader));
    }

    Result<> ensure_collections() {
        const bool vectors = first_batch_ && first_batch_->has_vectors();
        auto created =
            ensure_collection(session_, *service_, texts_.collection, vectors, filling_.schema);
        if (!created && created.error().code == ErrorCode::Unsupported &&
            !filling_.other_schema.empty()) {
            filling_.schema = filling_.other_schema;
            created =
                ensure_collection(session_, *service_, texts_.collection, vectors, filling_.schema);
            keep_warnings({filling_.other_note});
        }
        if (!created) return tl::unexpected<Error>(std::move(created).error());
        totals_.created = *created;
        if (texts_.documents.empty()) return {};
        BRAID_CHECK(
            ensure_collection(session_, *service_, texts_.documents, vectors, filling_.schema));
        return {};
    }

    /// What is already stored unchanged is neither embedded nor written again. In a collection
    /// created by this run there is nothing to look for; embedding costs more than looking.
    Result<> note_embedder() {
        BRAID_TRY(const Schema schema, service_->schema(texts_.collection));
        const std::string& embedder = schema.vectors.embedder;
        write_.skip_unchanged = !totals_.created || (embedder != "none" && embedder != "external");
        return {};
    }

    /// All texts go together, so that no two files of the run get the same id.
    Result<> store_all() {
        if (!name_.empty()) return store_piped();
        const auto lines = is_lines_here();
        std::vector<std::filesystem::path> texts;
        std::ranges::copy_if(paths_, std::back_inserter(texts),
                             [&](const std::string& path) { return !lines(path); });
        if (!texts.empty()) BRAID_CHECK(store_texts(texts));
        for (const std::string& path : paths_) {
            if (!lines(path)) continue;
            if (!first_reader_) {
                BRAID_TRY(first_reader_, open(path));
                BRAID_TRY(first_batch_, next_of(*first_reader_));
            }
            if (!first_batch_ && totals_.failed_lines == 0) note_empty(path);
            BRAID_CHECK(store_lines(*first_reader_, std::move(first_batch_)));
            first_reader_.reset();
        }
        return {};
    }

    void note_empty(const std::string& path) {
        ingest::FileOutcome& outcome = empty_.emplace_back();
        outcome.path = path;
        outcome.state = ingest::FileState::Skipped;
        outcome.reason = "empty";
    }

    Result<> store_lines(ingest::RecordReader& reader, std::optional<ingest::Batch> batch) {
        const std::uint64_t before = state_.bytes_done;
        while (batch) {
            for (ingest::Batch::Part& part : batch->parts) {
                auto stored = store_chunks(std::move(part.chunks), part.namespace_);
                if (!stored && stored.error().code == ErrorCode::Cancelled) return interrupted();
                BRAID_CHECK(std::move(stored));
            }
            keep_warnings(batch->warnings);
            acknowledge();
            state_.bytes_done = before + reader.bytes_read();
            show_progress();
            if (session_.interrupts.requested()) return interrupted();
            BRAID_TRY(batch, next_of(reader));
        }
        return {};
    }

    static tl::unexpected<Error> interrupted() {
        return fail(ErrorCode::Cancelled,
                    "interrupted; what was acknowledged stays, and the next run continues");
    }

    /// If the database refuses some chunks, finds out which: each half is tried on its own.
    Result<> store_chunks(std::vector<Chunk> chunks, const std::string& namespace_) {
        auto written = service_->add(texts_.collection, chunks, namespace_, write_);
        if (written) {
            totals_.stored += written->written;
            totals_.replaced += written->replaced;
            totals_.unchanged += written->unchanged;
            keep_warnings(written->warnings);
            return {};
        }
        const bool about_a_chunk = written.error().code == ErrorCode::InvalidArgument ||
                                   written.error().code == ErrorCode::Conflict;
        if (!about_a_chunk || texts_.strict) return tl::unexpected<Error>(written.error());
        if (chunks.size() == 1) {
            note_failed({written.error().message});
            return {};
        }
        const auto middle = chunks.begin() + static_cast<std::ptrdiff_t>(chunks.size() / 2);
        std::vector<Chunk> rest(std::make_move_iterator(middle),
                                std::make_move_iterator(chunks.end()));
        chunks.erase(middle, chunks.end());
        BRAID_CHECK(store_chunks(std::move(chunks), namespace_));
        return store_chunks(std::move(rest), namespace_);
    }

    Result<> store_texts(const std::vector<std::filesystem::path>& paths) {
        const std::uint64_t before = totals_.stored;
        ingest::DirectoryOptions options = texts_;
        options.progress = [&](const ingest::DirectoryProgress& at) {
            if (before + at.chunks != totals_.stored) {
                totals_.stored = before + at.chunks;
                acknowledge();
            }
            state_.files_done = at.files_done;
            state_.bytes_done = at.bytes_done;
            show_progress();
        };
        service::ServiceTarget target(*service_, options);
        Database* const local = service_->database();
        BRAID_TRY(totals_.texts, local != nullptr
                                     ? ingest::ingest_directory(*local, paths, options)
                                     : ingest::ingest_directory(target, paths, options));
        totals_.stored = before + totals_.texts.chunks;
        totals_.removed += totals_.texts.removed;
        totals_.failed_lines += totals_.texts.failed_lines;
        keep_warnings(totals_.texts.failed);
        keep_warnings(totals_.texts.warnings);
        return {};
    }

    Result<> store_piped() {
        service::ServiceTarget target(*service_, texts_);
        BRAID_TRY(totals_.texts,
                  ingest::ingest_source(static_cast<ingest::DirectoryTarget&>(target),
                                        {.document_id = {},
                                         .name = name_,
                                         .bytes = std::move(piped_),
                                         .title = {},
                                         .metadata = {}},
                                        texts_));
        totals_.stored = totals_.texts.chunks;
        totals_.removed = totals_.texts.removed;
        totals_.failed_lines = totals_.texts.failed_lines;
        keep_warnings(totals_.texts.warnings);
        acknowledge();
        return {};
    }

    /// Stores what changes in the folders until the program is interrupted.
    Result<> watch() {
        session_.out.flush();
        while (wait_for_change(paths_, texts_, watched_)) {
            totals_ = {};
            state_ = {};
            progress_ = std::make_unique<Progress>(session_.out, false, every_);
            auto stored = store_all();
            if (!stored && stored.error().code == ErrorCode::Cancelled) break;
            if (!stored) return stored;
            report();
            session_.out.flush();
        }
        return {};
    }

    void acknowledge() {
        if (!session_.arguments.has("ack")) return;
        session_.out.line("acknowledged " + std::to_string(totals_.stored + totals_.unchanged));
        session_.out.flush();
    }

    void show_progress() {
        state_.chunks = totals_.stored + totals_.unchanged;
        state_.bytes = bytes_;
        state_.files = files_;
        progress_->update(state_);
    }

    void keep_warnings(const std::vector<std::string>& warnings) {
        for (const std::string& warning : warnings) {
            ++totals_.warning_count;
            if (totals_.warnings.size() == kMaxShownWarnings) continue;
            totals_.warnings.push_back(warning);
            if (!session_.json()) session_.warn(warning);
        }
    }

    void report() {
        totals_.seconds = progress_->seconds();
        std::ranges::move(std::exchange(empty_, {}), std::back_inserter(totals_.texts.outcomes));
        if (session_.json()) {
            session_.out.json(report_value(totals_, texts_.collection, paths_, texts_));
            return;
        }
        if (session_.quiet()) return;
        if (totals_.warning_count > totals_.warnings.size()) {
            session_.warn("and " + core::grouped(totals_.warning_count - totals_.warnings.size()) +
                          " more like these");
        }
        for (const std::string& line : report_lines(totals_, texts_.collection, texts_)) {
            session_.out.line(line);
        }
    }

    Session& session_;
    const std::vector<std::string>& paths_;
    apps::Filling filling_;  // empty without --profile
    ingest::JsonlOptions lines_;
    ingest::DirectoryOptions texts_;  // names the collection
    WriteOptions write_;              // of lines
    std::string name_;                // of the document on standard input; empty: there are lines
    std::string piped_;               // that document
    std::vector<ingest::FileOutcome> empty_;  // lines or a document without a byte
    std::optional<Error> no_files_;           // the only path is a folder without files
    std::string watched_;                     // the files as they were before they were last stored
    std::uint64_t every_ = 0;
    std::optional<std::uint64_t> bytes_;  // of all paths; none if one is a pipe
    std::size_t files_ = 0;               // in folders, and documents
    std::unique_ptr<ingest::RecordReader> first_reader_;
    std::optional<ingest::Batch> first_batch_;
    std::unique_ptr<service::Service> service_;  // from run() on
    std::unique_ptr<Progress> progress_;
    Progress::State state_;
    IngestTotals totals_;
};

}  // namespace

Result<> run_ingest(Session& session) {
    return Ingest(session).run();
}

}  // namespace braid::cli
