#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "braid/cli/commands/collection_setup.hpp"
#include "braid/cli/commands/ingest_files.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/progress.hpp"
#include "braid/core/numbers.hpp"
#include "braid/ingest/directory.hpp"
#include "braid/ingest/file_handle.hpp"
#include "braid/ingest/jsonl.hpp"
#include "braid/ingest/new_source.hpp"
#include "braid/service/directory_target.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kMaxShownWarnings = 10;

constexpr auto kIngestFlags = std::to_array<FlagSpec>({
    kCollectionFlag,
    kNamespaceFlag,
    {.name = "vectors",
     .kind = FlagKind::Text,
     .value = "FILE.npy",
     .help = "vectors, row i for line i (default: the .npy beside)"},
    {.name = "batch",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "chunks written together (default: 500)"},
    {.name = "max-tokens",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "tokens of a chunk cut from a text (default: 256)"},
    {.name = "overlap",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "tokens repeated from the chunk before (default: 32)"},
    {.name = "chunker",
     .kind = FlagKind::Text,
     .value = "METHOD",
     .help = "structure (default), sentences or fixed",
     .choices = "structure|sentences|fixed"},
    {.name = "name",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "\"-\" is one document of this name, not JSON lines"},
    {.name = "watch", .help = "go on, and store what changes, until interrupted"},
    {.name = "include",
     .kind = FlagKind::List,
     .value = "GLOB",
     .help = "only these files of a folder (repeatable)"},
    {.name = "exclude",
     .kind = FlagKind::List,
     .value = "GLOB",
     .help = "not these files or folders (repeatable)"},
    {.name = "everything", .help = "also what is hidden, ignored or in node_modules"},
    {.name = "prune", .help = "remove documents whose files are gone from the folder"},
    {.name = "dry-run", .help = "say what would be stored and removed, and do nothing"},
    {.name = "strict", .help = "stop at the first file or line that cannot be read"},
    {.name = "replace", .help = "let files take over ids of files in other folders"},
    {.name = "progress-every",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "a line on standard error every N chunks"},
    {.name = "ack", .help = "print \"acknowledged N\" once N chunks are on disk"},
});

bool has_vectors(const ingest::Batch& batch) {
    return std::ranges::any_of(batch.parts, [](const ingest::Batch::Part& part) {
        return std::ranges::any_of(part.chunks,
                                   [](const Chunk& chunk) { return !chunk.vector.empty(); });
    });
}

/// One `ingest`: files to chunks to the database.
class Ingest {
public:
    explicit Ingest(Session& session)
        : session_(session),
          collection_(session.collection()),
          paths_(session.arguments.operands) {}

    Result<> run() {
        BRAID_CHECK(prepare());
        BRAID_CHECK(read_first());
        session_.interrupts.hold();
        if (texts_.dry_run) {
            BRAID_TRY(service_, service_to_look_at());
        } else {
            BRAID_TRY(service_, session_.service_for_writing(true));
            BRAID_TRY(created_, ensure_collection(session_, *service_, collection_,
                                                  first_batch_ && has_vectors(*first_batch_)));
        }
        const bool bar = !session_.quiet() && session_.out.notes_on_terminal();
        progress_ = std::make_unique<Progress>(session_.out, bar, every_);
        if (session_.arguments.has("watch")) watched_ = state_of(paths_, texts_.walk);
        auto stored = store_all();
        progress_->clear();
        if (!stored) return with_count(std::move(stored).error());
        report(progress_->seconds());
        if (session_.arguments.has("watch")) return watch();
        const std::size_t failed = texts_report_.failed.size();
        if (failed == 0) return {};
        return fail(ErrorCode::IoError,
                    core::count_of(failed, "file", "files") + " could not be read");
    }

private:
    /// For a dry run: the database if there is one with the collection, else an empty one.
    Result<std::unique_ptr<service::Service>> service_to_look_at() {
        auto present = session_.service_for_reading();
        if (present && (*present)->schema(collection_)) return present;
        if (!present && present.error().code != ErrorCode::NotFound) return present;
        BRAID_TRY(Database empty, Database::in_memory());
        BRAID_CHECK(empty.create_collection(collection_));
        return service::local_service(std::move(empty), {});
    }

    /// Stores what changes in the folders until the program is interrupted.
    Result<> watch() {
        session_.out.flush();
        while (wait_for_change(paths_, texts_, watched_)) {
            stored_ = removed_ = 0;
            created_ = false;
            progress_ = std::make_unique<Progress>(session_.out, false, every_);
            auto stored = store_all();
            if (!stored && stored.error().code == ErrorCode::Cancelled) break;
            if (!stored) return stored;
            report(progress_->seconds());
            session_.out.flush();
        }
        return {};
    }

    Result<> prepare() {
        const Arguments& arguments = session_.arguments;
        BRAID_TRY(const auto batch, arguments.integer("batch", 1, 100'000));
        BRAID_TRY(const auto every, arguments.integer("progress-every", 1, 1'000'000'000));
        BRAID_TRY(texts_, directory_options(arguments));
        if (batch) lines_.batch_chunks = static_cast<std::size_t>(*batch);
        every_ = static_cast<std::uint64_t>(every.value_or(0));
        name_ = arguments.text_or("name", "");
        if (!name_.empty() && paths_ != std::vector<std::string>{"-"}) {
            return invalid_argument("--name goes with standard input alone (\"-\")");
        }
        const bool lines = name_.empty() && std::ranges::any_of(paths_, is_lines);
        if (arguments.has("watch") && (lines || !name_.empty() || texts_.dry_run)) {
            return invalid_argument("--watch goes with folders and documents");
        }
        if (texts_.dry_run && lines) {
            return invalid_argument(
                "--dry-run goes with folders and documents, not with JSON lines");
        }
        texts_.collection = collection_;
        texts_.namespace_ = lines_.namespace_ = session_.namespace_name();
        texts_.stop = lines_.stop = session_.interrupts.token();
        if (arguments.has("vectors") && (paths_.size() > 1 || !is_lines(paths_.front()))) {
            return invalid_argument("--vectors goes with one file of JSON lines");
        }
        if (arguments.has("ack") && session_.json()) {
            return invalid_argument("--ack and --json exclude each other");
        }
        return validate_collection_name(collection_);
    }

    /// Looks at the input before the database is opened: bad input creates nothing.
    Result<> read_first() {
        if (!name_.empty()) {
            BRAID_TRY(piped_, read_piped(texts_));
            return {};
        }
        for (const std::string& path : paths_) {
            if (is_lines(path)) {
                BRAID_CHECK(ingest::FileHandle::open(path));
                continue;
            }
            BRAID_TRY(const auto listing, ingest::list_files(path, texts_.walk));
            if (paths_.size() == 1) BRAID_CHECK(check_only_path(path, listing));
        }
        if (!is_lines(paths_.front())) return {};
        BRAID_TRY(first_reader_, open(paths_.front()));
        BRAID_TRY(first_batch_, first_reader_->next());
        return {};
    }

    Result<ingest::JsonlReader> open(const std::string& path) {
        ingest::JsonlOptions options = lines_;
        options.vocabulary = application_vocabulary();
        if (const auto vectors = session_.arguments.text("vectors")) {
            options.vectors = *vectors;
        } else if (session_.arguments.text_or("embedder", "external") == "external") {
            options.vectors = ingest::vectors_beside(path).value_or("");
            if (!options.vectors.empty()) session_.note("Vectors from " + options.vectors + ".");
        }
        return ingest::JsonlReader::open(path, options);
    }

    /// All texts go together, so that no two files of the run get one id.
    Result<> store_all() {
        if (!name_.empty()) return store_piped();
        std::vector<std::filesystem::path> texts;
        for (const std::string& path : paths_) {
            if (!is_lines(path)) texts.emplace_back(path);
        }
        if (!texts.empty()) BRAID_CHECK(store_texts(texts));
        for (const std::string& path : paths_) {
            if (!is_lines(path)) continue;
            if (first_reader_) {
                BRAID_CHECK(store_lines(*first_reader_, std::move(first_batch_)));
                first_reader_.reset();
            } else {
                BRAID_TRY(auto reader, open(path));
                BRAID_TRY(auto batch, reader.next());
                BRAID_CHECK(store_lines(reader, std::move(batch)));
            }
        }
        return {};
    }

    Result<> store_lines(ingest::JsonlReader& reader, std::optional<ingest::Batch> batch) {
        while (batch) {
            for (ingest::Batch::Part& part : batch->parts) {
                BRAID_TRY(const WriteReport report,
                          service_->add(collection_, std::move(part.chunks), part.namespace_, {}));
                stored_ += report.written;
                replaced_ += report.replaced;
                keep_warnings(report.warnings);
            }
            keep_warnings(batch->warnings);
            acknowledge();
            progress_->update(stored_, reader.bytes_read(), reader.file_bytes());
            if (session_.interrupts.requested()) {
                return fail(ErrorCode::Cancelled, "interrupted");
            }
            BRAID_TRY(batch, reader.next());
        }
        return {};
    }

    Result<> store_texts(const std::vector<std::filesystem::path>& paths) {
        const std::uint64_t before = stored_;
        ingest::DirectoryOptions options = texts_;
        options.progress = [&](const ingest::DirectoryProgress& at) {
            if (before + at.chunks != stored_) {
                stored_ = before + at.chunks;
                acknowledge();
            }
            progress_->update(stored_, at.files_done, at.files);
        };
        service::ServiceTarget target(*service_, options);
        Database* const local = service_->database();
        BRAID_TRY(const auto report, local != nullptr
                                         ? ingest::ingest_directory(*local, paths, options)
                                         : ingest::ingest_directory(target, paths, options));
        stored_ = before + report.chunks;
        removed_ += report.removed;
        keep_warnings(report.failed);
        keep_warnings(report.warnings);
        texts_report_ = report;
        return {};
    }

    Result<> store_piped() {
        service::ServiceTarget target(*service_, texts_);
        BRAID_TRY(texts_report_,
                  ingest::ingest_source(static_cast<ingest::DirectoryTarget&>(target),
                                        {.document_id = {},
                                         .name = name_,
                                         .bytes = std::move(piped_),
                                         .title = {},
                                         .metadata = {}},
                                        texts_));
        stored_ = texts_report_.chunks;
        removed_ = texts_report_.removed;
        keep_warnings(texts_report_.warnings);
        acknowledge();
        return {};
    }

    void acknowledge() {
        if (!session_.arguments.has("ack")) return;
        session_.out.line("acknowledged " + std::to_string(stored_));
        session_.out.flush();
    }

    void keep_warnings(const std::vector<std::string>& warnings) {
        for (const std::string& warning : warnings) {
            ++warning_count_;
            if (warnings_.size() == kMaxShownWarnings) continue;
            warnings_.push_back(warning);
            if (!session_.json()) session_.warn(warning);
        }
    }

    tl::unexpected<Error> with_count(Error error) const {
        error.message += " (" + core::count_of(stored_, "chunk", "chunks") +
                         (stored_ == 1 ? " was stored before)" : " were stored before)");
        return tl::unexpected<Error>(std::move(error));
    }

    void report(double seconds) const {
        if (session_.json()) {
            report_json(seconds);
            return;
        }
        if (session_.quiet()) return;
        if (warning_count_ > warnings_.size()) {
            session_.warn("and " + core::grouped(warning_count_ - warnings_.size()) +
                          " more like these");
        }
        std::string text = (texts_.dry_run ? "Would store " : "Stored ") +
                           core::count_of(stored_, "chunk", "chunks");
        if (texts_report_.written > 0) {
            text += " of " + core::count_of(texts_report_.written, "file", "files");
        }
        text += std::string(" in ") + (created_ ? "the new collection \"" : "collection \"") +
                collection_ + "\"";
        if (replaced_ > 0) text += ", " + core::grouped(replaced_) + " of them replaced";
        if (removed_ > 0) {
            text += ", " + core::count_of(removed_, "outdated one", "outdated ones") + " removed";
        }
        if (texts_report_.unchanged > 0) {
            text += ", " +
                    core::count_of(texts_report_.unchanged, "unchanged file", "unchanged files") +
                    " skipped";
        }
        const double rate = static_cast<double>(stored_) / std::max(seconds, 1e-3);
        if (rate >= 1 && !texts_.dry_run) {
            text += " (" + core::grouped(static_cast<std::uint64_t>(rate)) + " chunks/s)";
        }
        session_.out.line(text + ".");
        for (const std::string& line : file_lines(texts_report_, texts_)) session_.out.line(line);
    }

    void report_json(double seconds) const {
        const ingest::DirectoryReport& texts = texts_report_;
        session_.out.json(
            Object{{"collection", Value(collection_)},
                   {"created", created_},
                   {"chunks", stored_},
                   {"replaced", replaced_},
                   {"removed", removed_},
                   {"paths", Array(paths_.begin(), paths_.end())},
                   {"dry_run", texts_.dry_run},
                   {"text_files", texts.files},
                   {"stored_files", texts.written},
                   {"unchanged_files", texts.unchanged},
                   {"skipped_files", count_of_state(texts.outcomes, ingest::FileState::Skipped)},
                   {"failed_files", Array(texts.failed.begin(), texts.failed.end())},
                   {"renamed_files", Array(texts.renamed.begin(), texts.renamed.end())},
                   {"gone_documents", Array(texts.gone.begin(), texts.gone.end())},
                   {"pruned", texts_.prune && !texts_.dry_run},
                   {"files", ingest::files_to_value(texts.outcomes)},
                   {"reading_seconds", texts.times.reading},
                   {"parsing_seconds", texts.times.parsing},
                   {"storing_seconds", texts.times.storing},
                   {"seconds", seconds},
                   {"warnings", Array(warnings_.begin(), warnings_.end())},
                   {"warning_count", warning_count_}});
    }

    Session& session_;
    std::string collection_;
    const std::vector<std::string>& paths_;
    ingest::JsonlOptions lines_;
    ingest::DirectoryOptions texts_;
    std::string name_;     // of the document on standard input; empty: there are lines
    std::string piped_;    // that document
    std::string watched_;  // the files as they were before they were last stored
    std::uint64_t every_ = 0;
    std::optional<ingest::JsonlReader> first_reader_;
    std::optional<ingest::Batch> first_batch_;
    std::unique_ptr<service::Service> service_;  // from run() on
    std::unique_ptr<Progress> progress_;

    bool created_ = false;
    std::uint64_t stored_ = 0;
    std::uint64_t replaced_ = 0;
    std::uint64_t removed_ = 0;
    ingest::DirectoryReport texts_report_;
    std::uint64_t warning_count_ = 0;
    std::vector<std::string> warnings_;
};

Result<> run_ingest(Session& session) {
    return Ingest(session).run();
}

}  // namespace

const CommandSpec kIngestCommand{
    .name = "ingest",
    .operands = "PATH...",
    .min_operands = 1,
    .max_operands = 100'000,
    .summary = "store chunks from JSON lines, or documents",
    .details = R"(In JSON lines, each line is one chunk: {"_id", "title", "text", "metadata"}, or
braid's own names; "-" is standard input. Documents and folders of them are cut
into chunks at headings, definitions, paragraphs; unchanged files are skipped.
Hidden files, folders such as node_modules, and what .gitignore or
.braidignore names are left out; the summary counts them by reason, and --json
lists every file with what became of it.

A document's id is its path below the folder given; if a file of another folder
has that id, folder names come in front (p2/README.md), with a warning. A file
keeps its id however the folder is given later; after moving a folder, --replace
lets its files take over the old ids. Documents whose files are gone stay until
--prune.

Creates the database and the collection if missing; flags about the collection
apply then, and must match one that exists. A batch is on disk once it is
acknowledged; after an error, earlier batches stay.

  braid ingest corpus.jsonl --collection wiki
  braid ingest corpus.jsonl --embedder external --vectors corpus.npy
  braid ingest notes/ --embedder minilm --exclude '*.log'
  braid ingest notes/ --prune --dry-run
  curl -s https://example.org/ | braid ingest - --name page.html)",
    .flags = kIngestFlags,
    .shared_flags = kSchemaFlags,
    .shared_title = "Of a new collection",
    .run = run_ingest,
};

}  // namespace braid::cli
