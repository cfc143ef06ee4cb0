#include "ingest.hpp"

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "braid/ingest/directory.hpp"
#include "braid/ingest/new_source.hpp"
#include "braid/json/fields.hpp"

namespace braid::python {
namespace {

using ingest::DirectoryOptions;
using ingest::DirectoryReport;

Result<DirectoryOptions> read_ingest_options(const Value& given) {
    BRAID_TRY(json::Fields fields, json::Fields::of(given));
    DirectoryOptions options;
    BRAID_TRY(const auto max_tokens, fields.integer("max_tokens", 16, 100'000));
    BRAID_TRY(const auto overlap, fields.integer("overlap", 0, 50'000));
    BRAID_TRY(const auto chunker, fields.choice("chunker", {"structure", "sentences", "fixed"}));
    BRAID_TRY(auto include, fields.strings("include"));
    BRAID_TRY(auto exclude, fields.strings("exclude"));
    BRAID_TRY(const auto everything, fields.boolean("everything"));
    BRAID_TRY(const auto replace, fields.boolean("replace"));
    BRAID_TRY(const auto prune, fields.boolean("prune"));
    BRAID_TRY(const auto dry_run, fields.boolean("dry_run"));
    BRAID_TRY(const auto strict, fields.boolean("strict"));
    BRAID_CHECK(fields.finish());
    if (max_tokens) options.chunking.max_tokens = static_cast<std::size_t>(*max_tokens);
    if (overlap) options.chunking.overlap_tokens = static_cast<std::size_t>(*overlap);
    if (chunker == "sentences") options.chunking.method = ingest::ChunkingMethod::Sentences;
    if (chunker == "fixed") options.chunking.method = ingest::ChunkingMethod::Fixed;
    options.walk.include = std::move(include).value_or(std::vector<std::string>());
    options.walk.exclude = std::move(exclude).value_or(std::vector<std::string>());
    options.walk.everything = everything.value_or(false);
    options.replace = replace.value_or(false);
    options.prune = prune.value_or(false);
    options.dry_run = dry_run.value_or(false);
    options.strict = strict.value_or(false);
    return options;
}

/// Runs `work(database, options)` on the collection, which is made if it is missing.
template <class Work>
nb::object run_ingest(const Engine& self, const std::string& collection,
                      const std::string& namespace_, nb::handle given, const Principal& principal,
                      const std::stop_source* stop, Work&& work) {
    DirectoryOptions options = value_or_raise(read_ingest_options(to_value(given)));
    options.collection = collection;
    options.namespace_ = namespace_;
    bool created = false;
    auto result = run_call(stop, [&](const CallLimits& limits) -> Result<DirectoryReport> {
        if (!principal.sees_everything()) {
            return fail(
                ErrorCode::PermissionDenied,
                "only a principal that sees everything may ingest files; add() stores chunks");
        }
        BRAID_TRY(const OpenPtr open, self.open());
        BRAID_TRY(created, open->operations.ensure_collection(collection, nullptr));
        options.stop = limits.stop;
        return work(open->database, std::as_const(options));
    });
    const DirectoryReport report = value_or_raise(std::move(result));
    return to_python(
        Value(Object{{"collection", Value(collection)},
                     {"created", created},
                     {"chunks", report.chunks},
                     {"removed", report.removed},
                     {"stored", report.written},
                     {"unchanged", report.unchanged},
                     {"skipped", count_of_state(report.outcomes, ingest::FileState::Skipped)},
                     {"failed", Array(report.failed.begin(), report.failed.end())},
                     {"failed_lines", report.failed_lines},
                     {"gone", Array(report.gone.begin(), report.gone.end())},
                     {"files", ingest::files_to_value(report.outcomes)},
                     {"warnings", Array(report.warnings.begin(), report.warnings.end())}}));
}

nb::object ingest_paths(const Engine& self, const std::string& collection,
                        const std::string& namespace_, const std::vector<std::string>& paths,
                        nb::dict options, const Principal& principal,
                        const std::stop_source* stop) {
    const std::vector<std::filesystem::path> roots(paths.begin(), paths.end());
    return run_ingest(self, collection, namespace_, options, principal, stop,
                      [&](Database& database, const DirectoryOptions& read) {
                          return ingest::ingest_directory(database, roots, read);
                      });
}

nb::object ingest_bytes(const Engine& self, const std::string& collection,
                        const std::string& namespace_, const std::string& name, nb::bytes content,
                        const std::string& document_id, std::optional<std::string> title,
                        nb::dict metadata, nb::dict options, const Principal& principal,
                        const std::stop_source* stop) {
    ingest::NewSource source;
    source.name = name;
    source.document_id = document_id;
    source.bytes = std::string(content.c_str(), content.size());
    source.title = std::move(title);
    Value noted = to_value(metadata);
    source.metadata = std::move(noted.as_object());
    return run_ingest(self, collection, namespace_, options, principal, stop,
                      [&](Database& database, const DirectoryOptions& read) {
                          return ingest::ingest_source(database, std::move(source), read);
                      });
}

}  // namespace

void bind_ingest(nb::class_<Engine>& engine) {
    engine
        .def("ingest_paths", &ingest_paths, nb::arg("collection"), nb::arg("namespace"),
             nb::arg("paths"), nb::arg("options"), nb::arg("principal"),
             nb::arg("stop").none() = nb::none())
        .def("ingest_bytes", &ingest_bytes, nb::arg("collection"), nb::arg("namespace"),
             nb::arg("name"), nb::arg("content"), nb::arg("document_id"), nb::arg("title").none(),
             nb::arg("metadata"), nb::arg("options"), nb::arg("principal"),
             nb::arg("stop").none() = nb::none());
}

}  // namespace braid::python
