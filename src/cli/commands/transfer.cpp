#include <memory>
#include <string>
#include <utility>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"
#include "braid/ingest/jsonl.hpp"
#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::cli {
namespace {

constexpr std::int64_t kExportFormat = 2;
constexpr std::string_view kExportEnd = "braid_export_end";  // since format 2
constexpr std::size_t kPage = 500;                           // chunks
constexpr FlagSpec kExportFlags[] = {kReadFlag};
constexpr FlagSpec kImportFlags[] = {
    {.name = "collection",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "its new name (default: the one it had)"},
};

/// The first line of an export.
struct Header {
    std::int64_t format = kExportFormat;
    std::string collection;
    Schema schema;
};

Result<Header> header_from_text(std::string_view line) {
    BRAID_TRY(const Value json, json::parse(line));
    BRAID_TRY(json::Fields fields, json::Fields::of(json, ""));
    BRAID_TRY(const auto format, fields.required("braid_export", fields.integer("braid_export")));
    BRAID_TRY(auto collection, fields.required("collection", fields.string("collection")));
    const Value* const schema = fields.any("schema");
    BRAID_CHECK(fields.finish());
    if (format < 1 || format > kExportFormat) {
        return invalid_argument("this program reads exports up to format " +
                                std::to_string(kExportFormat) + ", not " + std::to_string(format));
    }
    if (schema == nullptr) return invalid_argument("\"schema\" is missing");
    Header header{format, std::move(collection), {}};
    BRAID_TRY(header.schema, wire::schema_from_value(*schema));
    return header;
}

Result<> run_export(Session& session) {
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const std::string collection, session.collection_to_read(*service));
    BRAID_TRY(const CollectionInfo info,
              service->run(service::DescribeRequest{.at = {collection, {}}}));
    if (!info.damage.empty()) {
        return fail(ErrorCode::Unavailable,
                    "collection \"" + collection + "\" cannot be read: " + info.damage);
    }
    session.out.text(json::print(Object{{"braid_export", kExportFormat},
                                        {"collection", Value(collection)},
                                        {"schema", wire::schema_to_value(info.schema)}}) +
                     "\n");
    std::uint64_t chunks = 0;
    std::size_t limit = kPage;
    for (const std::string& name : info.namespaces) {
        service::ScanRequest page{.at = {collection, name}, .limit = limit, .vectors = true};
        while (true) {
            const auto answer = service->run(page);
            if (!answer && answer.error().code == ErrorCode::InvalidArgument && limit > 1) {
                page.limit = limit /= 2;  // its texts are too large for one answer
                continue;
            }
            BRAID_TRY(const service::ScanPage found, answer);
            for (const Chunk& chunk : found.chunks) {
                Value line = wire::chunk_to_value(chunk);
                line.as_object().set("namespace", name);
                session.out.text(json::print(line) + "\n");
                ++chunks;
            }
            if (!found.after || session.out.broken_pipe()) break;
            page.after = *found.after;
        }
    }
    // Without this line it is incomplete.
    session.out.text(json::print(Object{{std::string(kExportEnd), chunks}}) + "\n");
    session.note(core::count_of(chunks, "chunk", "chunks") + " of \"" + collection + "\".");
    return {};
}

/// One `import`: lines to chunks to a new collection.
class Import {
public:
    Import(Session& session, ingest::LineReader lines)
        : session_(session), lines_(std::move(lines)) {}

    Result<> run() {
        BRAID_TRY(const Header header, read_header());
        collection_ = session_.arguments.text_or("collection", header.collection);
        session_.interrupts.hold();
        BRAID_TRY(service_, session_.service_for_writing(true));
        BRAID_CHECK(create(header.schema));
        auto stored = store_all(header.format);
        if (stored) {
            const auto finished = service_->run(service::FinishCollectionRequest{collection_});
            if (!finished) stored = tl::unexpected<Error>(finished.error());
        }
        if (!stored) return give_up(std::move(stored).error());
        if (session_.json()) {
            session_.out.json(Object{{"collection", Value(collection_)}, {"stored", stored_}});
        } else if (!session_.quiet()) {
            session_.out.line("Stored " + core::count_of(stored_, "chunk", "chunks") +
                              " in the new collection \"" + collection_ + "\".");
        }
        return {};
    }

private:
    Result<Header> read_header() {
        BRAID_TRY(const auto line, lines_.next());
        if (!line) return invalid_argument(lines_.name() + " is empty");
        auto header = header_from_text(*line);
        if (!header) {
            return lines_.complain("not the first line of an export: " + header.error().message);
        }
        return *std::move(header);
    }

    /// What is there so far cannot be read by anybody; it is dropped, as if nothing had been
    /// imported.
    tl::unexpected<Error> give_up(Error error) const {
        const auto dropped = service_->run(service::DropCollectionRequest{collection_});
        error.message += dropped ? "; nothing was imported"
                                 : "; the unfinished collection \"" + collection_ +
                                       "\" could not be dropped: " + dropped.error().message;
        return tl::unexpected<Error>(std::move(error));
    }

    Result<> create(const Schema& schema) {
        BRAID_CHECK(service_->run(service::CreateCollectionRequest{
            .name = collection_, .schema = schema, .unfinished = true}));
        BRAID_TRY(const Schema made, service_->schema(collection_));
        const auto& before = schema.vectors.fingerprint;
        const auto& now = made.vectors.fingerprint;
        keep_vectors_ = !before || !now || before->hard_equal(*now);
        if (!keep_vectors_) {
            session_.note("the embedder \"" + made.vectors.embedder +
                          "\" is not the one that made these vectors, so they are recomputed");
        }
        return {};
    }

    Result<> store_all(std::int64_t format) {
        ingest::JsonlOptions options;
        options.vocabulary = application_vocabulary();
        if (format >= 2) options.end_key = kExportEnd;
        auto reader = ingest::JsonlReader::rest_of(std::move(lines_), options);
        while (true) {
            BRAID_TRY(auto batch, reader.next());
            if (!batch) return {};
            for (ingest::Batch::Part& part : batch->parts) BRAID_CHECK(store(part));
            if (session_.interrupts.requested()) {
                return fail(ErrorCode::Cancelled, "interrupted");
            }
        }
    }

    Result<> store(ingest::Batch::Part& part) {
        if (!keep_vectors_) {
            for (Chunk& chunk : part.chunks) chunk.vector.clear();
        }
        BRAID_TRY(const WriteReport report,
                  service_->add(collection_, std::move(part.chunks), part.namespace_, {}));
        stored_ += report.written;
        return {};
    }

    Session& session_;
    ingest::LineReader lines_;
    std::unique_ptr<service::Service> service_;
    std::string collection_;
    bool keep_vectors_ = true;
    std::uint64_t stored_ = 0;
};

Result<> run_import(Session& session) {
    BRAID_TRY(auto file, ingest::FileHandle::open(session.arguments.operands.front()));
    return Import(session,
                  ingest::LineReader(std::move(file), ingest::JsonlOptions{}.max_line_bytes,
                                     session.interrupts.token()))
        .run();
}

}  // namespace

const CommandSpec kExportCommand{
    .name = "export",
    .operands = "",
    .summary = "write a collection as JSON lines",
    .details = R"(The first line is the collection's schema; then a line for each chunk of every
namespace, with its vector, in the form that "ingest" reads; the last line says
how many there are. Concurrent writes may be included or not: for a copy as of
one point in time use "braid backup".

  braid export --collection notes > notes.jsonl
  braid export --collection notes | braid import - --data ~/other)",
    .flags = kExportFlags,
    .run = run_export,
};

const CommandSpec kImportCommand{
    .name = "import",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "make a collection from an export",
    .details = R"(FILE is what "braid export" wrote; "-" is standard input. The collection must be
new, and becomes readable when it is complete: an import that fails or is
interrupted leaves nothing; one that is killed leaves a collection that is
listed as unfinished and that the next import replaces. Vectors are kept if the
embedder here is the one that made them, else recomputed. Chunks get new
versions.

  braid import notes.jsonl
  braid import notes.jsonl --collection notes-2)",
    .flags = kImportFlags,
    .run = run_import,
};

}  // namespace braid::cli
