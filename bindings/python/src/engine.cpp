#include "engine.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "answers.hpp"
#include "braid/apps/artifacts/hybrid_search.hpp"
#include "braid/apps/operations.hpp"
#include "braid/json/fields.hpp"
#include "braid/wire/answer_json.hpp"
#include "braid/wire/check_json.hpp"
#include "chunk_input.hpp"
#include "ingest.hpp"
#include "open_options.hpp"
#include "request_input.hpp"

namespace braid::python {
namespace {

service::Caller caller_for(const Principal& principal, const CallLimits& limits) {
    service::Caller caller;
    caller.principal = principal;
    caller.limits = service::RequestLimits::none();
    caller.call = limits;
    return caller;
}

/// Runs an operation of the service on behalf of a principal.
template <class Operation>
auto run_operation(const Engine& self, Operation operation, const Principal& principal,
                   const std::stop_source* stop) {
    auto result =
        run_call(stop, [&](const CallLimits& limits) -> Result<typename Operation::Output> {
            BRAID_TRY(const OpenPtr open, self.open());
            return open->operations.run(std::move(operation), caller_for(principal, limits));
        });
    return value_or_raise(std::move(result));
}

nb::object call(const Engine& self, std::string_view name, nb::dict params,
                const Principal& principal, const std::stop_source* stop) {
    const service::NamedOperation* const found = apps::find_operation(name);
    if (found == nullptr) {
        raise(ErrorCode::Unsupported, "there is no operation \"" + std::string(name) + "\"");
    }
    const Object members = to_object(params);
    auto result = run_call(stop, [&](const CallLimits& limits) -> Result<Value> {
        BRAID_TRY(const OpenPtr open, self.open());
        return service::run_named(*found, open->operations, members, caller_for(principal, limits));
    });
    return to_python(value_or_raise(std::move(result)));
}

Shared<Answer> retrieve(const Engine& self, nb::dict json, const Principal& principal,
                        const std::stop_source* stop) {
    Request request = read_request(json);
    auto answer = run_call(stop, [&](const CallLimits& limits) -> Result<Answer> {
        BRAID_TRY(const OpenPtr open, self.open());
        return open->operations.retrieve(request, caller_for(principal, limits));
    });
    spare_vector() = std::move(request.query_embedding);
    return share(value_or_raise(std::move(answer)));
}

nb::list retrieve_batch(const Engine& self, nb::dict shared, nb::list queries,
                        nb::object embeddings, const Principal& principal,
                        const std::stop_source* stop) {
    std::vector<Result<Request>> requests;
    for (Request& request : read_batch(shared, queries, embeddings)) {
        requests.emplace_back(std::move(request));
    }
    auto answers =
        run_call(stop, [&](const CallLimits& limits) -> Result<std::vector<Result<Answer>>> {
            BRAID_TRY(const OpenPtr open, self.open());
            return open->operations.retrieve_batch(std::move(requests),
                                                   caller_for(principal, limits));
        });
    nb::list out;
    for (auto& answer : value_or_raise(std::move(answers))) {
        if (answer) {
            out.append(share(*std::move(answer)));
        } else {
            out.append(exception_of(answer.error()));
        }
    }
    return out;
}

nb::tuple hybrid_search(const Engine& self, nb::dict params, const Principal& principal,
                        const std::stop_source* stop) {
    const Object members = to_object(params);
    auto answer = run_call(stop, [&](const CallLimits& limits) -> Result<Answer> {
        BRAID_TRY(const OpenPtr open, self.open());
        BRAID_TRY(const auto request, apps::read_hybrid_search(members));
        return apps::hybrid_search(open->operations, request, caller_for(principal, limits));
    });
    const Answer found = value_or_raise(std::move(answer));
    return nb::make_tuple(to_python(apps::hybrid_search_value(found)),
                          apps::hybrid_search_text(found));
}

/// What the text takes from a hit, from the hit as data.
Result<Hit> hit_of(const Value& result) {
    BRAID_TRY(json::Fields fields, json::Fields::of(result, "results"));
    Hit hit;
    Chunk& chunk = hit.chunk;
    BRAID_TRY(hit.score, fields.required("score", fields.number("score")));
    BRAID_TRY(hit.collection, fields.required("collection", fields.string("collection")));
    BRAID_TRY(chunk.chunk_id, fields.required("id", fields.string("id")));
    BRAID_TRY(chunk.content, fields.required("content", fields.string("content")));
    BRAID_TRY(chunk.title, fields.string("title"));
    BRAID_TRY(chunk.sensitivity, fields.string("sensitivity"));
    BRAID_TRY(const Object* const metadata, fields.object("metadata"));
    if (metadata != nullptr) chunk.metadata = *metadata;
    BRAID_TRY(auto artifact, fields.string("artifact_id"));
    chunk.document_id = std::move(artifact).value_or(chunk.chunk_id);
    BRAID_TRY(const Object* const receipt, fields.object("receipt"));
    if (receipt != nullptr) {
        BRAID_TRY(hit.receipt, wire::receipt_from_value(*receipt));
        return hit;
    }
    BRAID_TRY(const auto names, fields.strings("collections"));
    for (const std::string& name : names.value_or(std::vector<std::string>())) {
        hit.receipt.sources.emplace_back().source = name;
    }
    return hit;
}

std::string text_of_results(nb::list results) {
    Answer answer;
    answer.hits.reserve(nb::len(results));
    for (const nb::handle result : results) {
        answer.hits.push_back(value_or_raise(hit_of(to_value(result))));
    }
    return apps::hybrid_search_text(answer);
}

nb::object add(const Engine& self, const std::string& collection, const std::string& namespace_,
               nb::list chunks, nb::object vectors, nb::object schema,
               std::optional<std::uint64_t> if_version, const Principal& principal,
               const std::stop_source* stop, bool replace_documents) {
    ChunkBatch batch = read_chunks(chunks, vectors, namespace_);
    service::AddRequest wanted{.at = {collection, namespace_}, .chunks = {}};
    wanted.schema = read_schema(schema, batch.has_vectors);
    wanted.chunks = std::move(batch.chunks);
    wanted.warnings = std::move(batch.warnings);
    wanted.if_version = if_version;
    wanted.replace_documents = replace_documents;
    return to_python(service::output_to_value<service::AddRequest>(
        run_operation(self, std::move(wanted), principal, stop)));
}

nb::list chunk_list(std::vector<Chunk> chunks) {
    nb::list out;
    for (Chunk& chunk : chunks) out.append(share(std::move(chunk)));
    return out;
}

nb::list get(const Engine& self, const std::string& collection, const std::string& namespace_,
             std::vector<std::string> ids, bool vectors, const Principal& principal,
             const std::stop_source* stop) {
    nb::list out;
    if (ids.empty()) return out;
    service::GetRequest wanted{{collection, namespace_}, std::move(ids), vectors};
    for (auto& chunk : run_operation(self, std::move(wanted), principal, stop)) {
        if (chunk) {
            out.append(share(*std::move(chunk)));
        } else {
            out.append(nb::none());
        }
    }
    return out;
}

nb::list scan(const Engine& self, const std::string& collection, const std::string& namespace_,
              nb::object filter, const std::string& after, std::size_t limit, bool vectors,
              const Principal& principal) {
    service::ScanRequest wanted{.at = {collection, namespace_}, .after = after, .limit = limit};
    wanted.vectors = vectors;
    if (!filter.is_none()) wanted.filter = value_or_raise(parse_filter(to_value(filter)));
    return chunk_list(run_operation(self, std::move(wanted), principal, nullptr).chunks);
}

nb::list neighbors(const Engine& self, const std::string& collection, const std::string& namespace_,
                   const std::string& chunk_id, std::size_t count, const Principal& principal) {
    service::NeighborsRequest wanted{{collection, namespace_}, chunk_id, count};
    return chunk_list(run_operation(self, std::move(wanted), principal, nullptr).chunks);
}

nb::object backup(const Engine& self, const std::string& path, const std::stop_source* stop) {
    auto report = run_call(stop, [&](const CallLimits& limits) -> Result<CheckReport> {
        BRAID_TRY(const OpenPtr open, self.open());
        return open->database.backup(path, limits);
    });
    return to_python(wire::check_to_value(value_or_raise(std::move(report))));
}

nb::list open_notes(const Engine& self) {
    const OpenPtr open = value_or_raise(self.open());
    nb::list notes;
    for (const std::string& note : open->database.open_report().notes) notes.append(note);
    return notes;
}

void bind_principal(nb::module_& module) {
    nb::class_<Principal>(module, "Principal")
        .def(
            "__init__",
            [](Principal* self, std::string name, std::optional<std::string> clearance,
               std::vector<std::string> scopes) {
                new (self) Principal{std::move(name), std::move(clearance), std::move(scopes)};
            },
            nb::arg("name") = "", nb::kw_only(), nb::arg("clearance") = nb::none(),
            nb::arg("scopes") = std::vector<std::string>())
        .def_ro("name", &Principal::name)
        .def_ro("clearance", &Principal::clearance)
        .def_ro("scopes", &Principal::scopes)
        .def(
            "__eq__", [](const Principal& a, const Principal& b) { return a == b; },
            nb::is_operator());
}

}  // namespace

Engine::Engine(const std::optional<std::string>& path, nb::dict options) {
    Opening opening = read_options(std::move(options));
    auto opened = run_call(nullptr, [&](const CallLimits&) {
        if (opening.cluster) return Database::cluster(*opening.cluster, opening.options);
        return path ? Database::open(*path, opening.options) : Database::in_memory(opening.options);
    });
    open_ = std::make_shared<OpenDatabase>(
        value_or_raise(std::move(opened)),
        service::ServiceOptions{opening.options.profiles, opening.embedder});
}

Engine::~Engine() {
    // Its threads stayed with the parent: nothing could end them properly here.
    if (forked()) {
        // NOLINTNEXTLINE(cppcoreguidelines-owning-memory,bugprone-unhandled-exception-at-new)
        (void)new OpenPtr(std::move(open_));
        return;
    }
    close();
}

void Engine::close() {
    if (forked()) return;
    const nb::gil_scoped_release release;
    OpenPtr last;
    const std::scoped_lock lock(mutex_);
    last.swap(open_);
}

bool Engine::closed() const {
    const std::scoped_lock lock(mutex_);
    return open_ == nullptr;
}

Result<OpenPtr> Engine::open() const {
    if (forked()) {
        return fail(ErrorCode::Unsupported,
                    "this database was opened before the process forked; open it again in the "
                    "child, or start processes with \"spawn\"");
    }
    const std::scoped_lock lock(mutex_);
    if (!open_) return fail(ErrorCode::Unavailable, "this database is closed");
    return open_;
}

void bind_engine(nb::module_& module) {
    bind_principal(module);
    module.def("hybrid_search_text", &text_of_results, nb::arg("results"));
    nb::class_<std::stop_source>(module, "StopSource")
        .def(nb::init<>())
        .def("request_stop", &std::stop_source::request_stop)
        .def_prop_ro("stop_requested", &std::stop_source::stop_requested);
    nb::class_<Engine> engine(module, "Engine", nb::is_weak_referenceable());
    bind_ingest(engine);
    engine
        .def(nb::init<const std::optional<std::string>&, nb::dict>(), nb::arg("path").none(),
             nb::arg("options"))
        .def("close", &Engine::close)
        .def_prop_ro("closed", &Engine::closed)
        .def_prop_ro("notes", &open_notes)
        .def("call", &call, nb::arg("operation"), nb::arg("params"), nb::arg("principal"),
             nb::arg("stop").none() = nb::none())
        .def("retrieve", &retrieve, nb::arg("request"), nb::arg("principal"),
             nb::arg("stop").none() = nb::none())
        .def("retrieve_batch", &retrieve_batch, nb::arg("shared"), nb::arg("queries"),
             nb::arg("embeddings").none(), nb::arg("principal"),
             nb::arg("stop").none() = nb::none())
        .def("backup", &backup, nb::arg("path"), nb::arg("stop").none() = nb::none())
        .def("hybrid_search", &hybrid_search, nb::arg("params"), nb::arg("principal"),
             nb::arg("stop").none() = nb::none())
        .def("add", &add, nb::arg("collection"), nb::arg("namespace"), nb::arg("chunks"),
             nb::arg("vectors").none(), nb::arg("schema").none(), nb::arg("if_version").none(),
             nb::arg("principal"), nb::arg("stop").none() = nb::none(),
             nb::arg("replace_documents") = false)
        .def("get", &get, nb::arg("collection"), nb::arg("namespace"), nb::arg("chunk_ids"),
             nb::arg("vectors"), nb::arg("principal"), nb::arg("stop").none() = nb::none())
        .def("scan", &scan, nb::arg("collection"), nb::arg("namespace"), nb::arg("filter").none(),
             nb::arg("after"), nb::arg("limit"), nb::arg("vectors"), nb::arg("principal"))
        .def("neighbors", &neighbors, nb::arg("collection"), nb::arg("namespace"),
             nb::arg("chunk_id"), nb::arg("count"), nb::arg("principal"));
}

}  // namespace braid::python
