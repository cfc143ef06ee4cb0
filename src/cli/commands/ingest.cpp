#include <array>

#include "braid/cli/commands/collection_setup.hpp"
#include "braid/cli/commands/ingest_run.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"

namespace braid::cli {
namespace {

constexpr auto kIngestFlags = std::to_array<FlagSpec>({
    kCollectionFlag,
    kNamespaceFlag,
    {.name = "profile",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "store as an application expects: artifacts, decisions"},
    {.name = "documents",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "also store each document whole in this collection"},
    {.name = "from",
     .kind = FlagKind::Text,
     .value = "FORM",
     .help = "another program's JSON: langchain, llamaindex",
     .choices = "langchain|llamaindex"},
    {.name = "vectors",
     .kind = FlagKind::Text,
     .value = "FILE.npy",
     .help = "vectors, row i for line i (default: .npy beside it)"},
    {.name = "batch",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "chunks written together (default: 500)"},
    kLowWriteMemoryFlag,
    {.name = "max-tokens",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "tokens per chunk cut from a text (default: 256)"},
    {.name = "overlap",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "tokens repeated from the previous chunk (default: 32)"},
    {.name = "chunker",
     .kind = FlagKind::Text,
     .value = "METHOD",
     .help = "structure (default), sentences or fixed",
     .choices = "structure|sentences|fixed"},
    {.name = "name",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "\"-\" is one document of this name, not JSON lines"},
    {.name = "wait", .help = "return once files are merged and graphs built"},
    {.name = "watch", .help = "keep running and store changes until interrupted"},
    {.name = "include",
     .kind = FlagKind::List,
     .value = "GLOB",
     .help = "only these files of a folder (repeatable)"},
    {.name = "exclude",
     .kind = FlagKind::List,
     .value = "GLOB",
     .help = "skip these files or folders (repeatable)"},
    {.name = "everything", .help = "also hidden and ignored files, and node_modules"},
    {.name = "prune", .help = "remove documents whose files are gone from the folder"},
    {.name = "dry-run", .help = "show what would be stored and removed, change nothing"},
    {.name = "strict", .help = "stop at the first file or line that cannot be read"},
    {.name = "replace", .help = "let files take over ids of files in other folders"},
    {.name = "progress-every",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "a line on standard error every N chunks"},
    {.name = "ack", .help = "print \"acknowledged N\" once N chunks are on disk"},
});

}  // namespace

const CommandSpec kIngestCommand{
    .name = "ingest",
    .operands = "PATH...",
    .min_operands = 1,
    .max_operands = 100'000,
    .summary = "store documents, or chunks from JSON lines",
    .details = R"(In JSON lines, each line is one chunk: {"_id", "title", "text", "metadata"}, or
braid's own names; they may be packed by gzip or zstd; "-" is standard input.
Documents and folders of them are cut into chunks at headings, definitions,
paragraphs; unchanged files are skipped.
Hidden files, folders such as node_modules, and what .gitignore or
.braidignore names are left out; the summary counts them by reason, and --json
lists every file and what became of it.

A document's id is its path below the folder given; if a file of another folder
has that id, folder names come in front (p2/README.md), with a warning. A file
keeps its id however the folder is given later; after moving a folder, --replace
lets its files take over the old ids. Documents whose files are gone stay until
--prune.

A line or file that cannot be read is named and does not stop the others
(--strict: it does); the exit code shows it. After an interrupt what was
acknowledged stays, and the next run continues.

--profile artifacts stores documents whole in "artifacts" and cut in
"artifact_chunks"; --profile decisions takes lines that are decisions.

Creates the database and the collection if missing; flags about the collection
apply then, and must match one that exists. A batch is on disk once it is
acknowledged; after an error, earlier batches stay.

  braid ingest corpus.jsonl --collection wiki
  braid ingest corpus.jsonl --embedder external --vectors corpus.npy
  braid ingest notes/ --embedder minilm --exclude '*.log'
  braid ingest notes/ --prune --dry-run
  braid ingest decisions.jsonl --profile decisions
  braid ingest docstore.json --from llamaindex
  curl -s https://example.org/ | braid ingest - --name page.html)",
    .flags = kIngestFlags,
    .shared_flags = kSchemaFlags,
    .shared_title = "For a new collection",
    .run = run_ingest,
    .low_memory = true,
};

}  // namespace braid::cli
