#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "braid/cli/collection_setup.hpp"
#include "braid/cli/commands.hpp"
#include "braid/cli/progress.hpp"
#include "braid/cli/session.hpp"
#include "braid/ingest/file_handle.hpp"
#include "braid/ingest/jsonl.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kMaxShownWarnings = 10;

constexpr auto kOwnFlags = std::to_array<FlagSpec>({
    kCollectionFlag,
    kNamespaceFlag,
    {.name = "vectors",
     .kind = FlagKind::Text,
     .value = "FILE.npy",
     .help = "vectors, row i for line i (default: the .npy beside the file)"},
    {.name = "batch",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "chunks written together (default: 500)"},
    {.name = "progress-every",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "a line on standard error every N chunks"},
    {.name = "ack", .help = "print \"acknowledged N\" once N chunks are on disk"},
});

/// One `ingest`: files to batches to the database.
class Ingest {
public:
    explicit Ingest(Session& session)
        : session_(session),
          collection_(session.collection()),
          paths_(session.arguments.operands) {}

    Result<> run() {
        BRAID_CHECK(prepare());
        // The first batch is read before the database is opened: bad input creates nothing.
        BRAID_TRY(auto reader, open(paths_.front()));
        BRAID_TRY(auto batch, reader.next());
        session_.interrupts.hold();
        BRAID_TRY(auto database, session_.open_for_writing(true));
        database_ = &database;
        BRAID_TRY(created_,
                  ensure_collection(session_, database, collection_, has_vectors(*batch)));

        Progress progress(session_.out, !session_.quiet() && session_.out.notes_on_terminal(),
                          every_);
        if (auto stored = store_all(std::move(reader), std::move(batch), progress); !stored) {
            progress.clear();
            return with_count(std::move(stored).error());
        }
        progress.clear();
        report(progress.seconds());
        return {};
    }

private:
    Result<> prepare() {
        const Arguments& arguments = session_.arguments;
        BRAID_TRY(const auto batch, arguments.integer("batch", 1, 100'000));
        BRAID_TRY(const auto every, arguments.integer("progress-every", 1, 1'000'000'000));
        if (batch) options_.batch_chunks = static_cast<std::size_t>(*batch);
        every_ = static_cast<std::uint64_t>(every.value_or(0));
        options_.namespace_ = session_.namespace_name();
        options_.stop = session_.interrupts.token();
        if (arguments.has("vectors") && paths_.size() > 1) {
            return fail(ErrorCode::InvalidArgument, "--vectors goes with one file, not several");
        }
        if (arguments.has("ack") && session_.json()) {
            return fail(ErrorCode::InvalidArgument, "--ack and --json exclude each other");
        }
        BRAID_CHECK(validate_collection_name(collection_));
        for (const std::string& path : paths_) BRAID_CHECK(ingest::FileHandle::open(path));
        return {};
    }

    Result<ingest::JsonlReader> open(const std::string& path) {
        ingest::JsonlOptions options = options_;
        if (const auto vectors = session_.arguments.text("vectors")) {
            options.vectors = *vectors;
        } else if (session_.arguments.text_or("embedder", "external") == "external") {
            options.vectors = ingest::vectors_beside(path).value_or("");
            if (!options.vectors.empty()) session_.note("vectors from " + options.vectors);
        }
        return ingest::JsonlReader::open(path, options);
    }

    static bool has_vectors(const ingest::Batch& batch) {
        return std::ranges::any_of(batch.parts, [](const ingest::Batch::Part& part) {
            return std::ranges::any_of(part.chunks,
                                       [](const Chunk& chunk) { return !chunk.vector.empty(); });
        });
    }

    Result<> store_all(ingest::JsonlReader reader, std::optional<ingest::Batch> batch,
                       Progress& progress) {
        for (std::size_t i = 0; i < paths_.size(); ++i) {
            if (i > 0) {
                BRAID_TRY(reader, open(paths_[i]));
                BRAID_TRY(batch, reader.next());
            }
            while (batch) {
                BRAID_CHECK(store(*std::move(batch)));
                progress.update(stored_, reader.bytes_read(), reader.file_bytes());
                if (session_.interrupts.requested()) {
                    return fail(ErrorCode::Cancelled, "interrupted");
                }
                BRAID_TRY(batch, reader.next());
            }
        }
        return {};
    }

    Result<> store(ingest::Batch batch) {
        for (ingest::Batch::Part& part : batch.parts) {
            BRAID_TRY(const WriteReport report,
                      database_->add(collection_, std::move(part.chunks), part.namespace_));
            stored_ += report.written;
            replaced_ += report.replaced;
            keep_warnings(report.warnings);
        }
        keep_warnings(batch.warnings);
        if (session_.arguments.has("ack")) {
            session_.out.line("acknowledged " + std::to_string(stored_));
            session_.out.flush();
        }
        return {};
    }

    void keep_warnings(const std::vector<std::string>& warnings) {
        for (const std::string& warning : warnings) {
            ++warning_count_;
            if (warnings_.size() < kMaxShownWarnings) {
                warnings_.push_back(warning);
                if (!session_.json()) session_.warn(warning);
            }
        }
    }

    tl::unexpected<Error> with_count(Error error) const {
        error.message += " (" + with_separators(stored_) + (stored_ == 1 ? " chunk" : " chunks") +
                         (stored_ == 1 ? " was stored)" : " were stored before)");
        return tl::unexpected<Error>(std::move(error));
    }

    void report(double seconds) const {
        if (session_.json()) {
            session_.out.json(Object{{"collection", Value(collection_)},
                                     {"created", created_},
                                     {"chunks", stored_},
                                     {"replaced", replaced_},
                                     {"files", Array(paths_.begin(), paths_.end())},
                                     {"seconds", seconds},
                                     {"warnings", Array(warnings_.begin(), warnings_.end())},
                                     {"warning_count", warning_count_}});
            return;
        }
        if (session_.quiet()) return;
        if (warning_count_ > warnings_.size()) {
            session_.warn("and " + with_separators(warning_count_ - warnings_.size()) +
                          " more like these");
        }
        const double rate = static_cast<double>(stored_) / std::max(seconds, 1e-3);
        std::string text =
            "Stored " + with_separators(stored_) + (stored_ == 1 ? " chunk in " : " chunks in ") +
            (created_ ? "the new collection \"" : "collection \"") + collection_ + "\"";
        if (replaced_ > 0) text += ", " + with_separators(replaced_) + " of them replaced";
        session_.out.line(text + " (" + with_separators(static_cast<std::uint64_t>(rate)) +
                          " chunks/s).");
    }

    Session& session_;
    std::string collection_;
    const std::vector<std::string>& paths_;
    ingest::JsonlOptions options_;
    std::uint64_t every_ = 0;
    Database* database_ = nullptr;
    bool created_ = false;
    std::uint64_t stored_ = 0;
    std::uint64_t replaced_ = 0;
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
    .summary = "store chunks from JSON lines",
    .details =
        R"(Each line is one chunk: {"_id", "title", "text", "metadata"}, or braid's own names.
"-" is standard input. The database and the collection are created when missing;
flags about the collection count then, and must fit one that exists. A batch is
on disk once it is acknowledged; after an error, what was stored before stays.

  braid ingest corpus.jsonl --collection wiki
  braid ingest corpus.jsonl --embedder external --vectors corpus.npy)",
    .flags = kOwnFlags,
    .shared_flags = kSchemaFlags,
    .run = run_ingest,
};

}  // namespace braid::cli
