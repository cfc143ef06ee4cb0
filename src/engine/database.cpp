#include "braid/database.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "braid/backend.hpp"
#include "braid/core/charge.hpp"
#include "braid/core/parallel.hpp"
#include "braid/engine/batch_admission.hpp"
#include "braid/engine/context.hpp"
#include "braid/engine/embedder_registry.hpp"
#include "braid/engine/embedder_settings.hpp"
#include "braid/engine/leg_probes.hpp"
#include "braid/engine/prober.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/rank/model_json.hpp"
#include "braid/remote/backend.hpp"
#include "braid/retrieval/retriever.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/memory_directory.hpp"
#include "braid/store/posix_directory.hpp"

namespace braid {
namespace {

constexpr std::size_t kContextHits = 50;  // enough short ones to fill a prompt

using RegistryPtr = std::shared_ptr<engine::EmbedderRegistry>;

/// Shared, because a program that ends in a hurry may leave one behind at work.
retrieval::QueryEmbedder embedder_of(const RegistryPtr& registry, TextRole role) {
    return [registry, role](const Schema& schema, std::string_view text, const CallLimits& limits) {
        return registry->embed_query(schema, text, role, limits);
    };
}

/// Copies a collection batch by batch, each changed by `change`, and puts the copy in its place.
template <class Change>
Result<> carry_out(Rewrite& rewrite, const Change& change,
                   const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    constexpr std::size_t batch_size = 64;
    while (true) {
        BRAID_TRY(Rewrite::Batch batch, rewrite.pending(batch_size));
        if (batch.chunks.empty()) {
            BRAID_TRY(const bool finished, rewrite.finish());
            if (finished) return {};
            continue;
        }
        BRAID_CHECK(change(batch.chunks));
        BRAID_CHECK(rewrite.put(std::move(batch)));
        if (progress) progress(rewrite.done(), rewrite.total());
    }
}

}  // namespace

struct Database::Impl {
    Impl(std::unique_ptr<Backend> opened, std::vector<std::string> notes,
         const OpenOptions& options)
        : report{std::move(notes)},
          vocabulary(options.vocabulary ? options.vocabulary
                                        : std::make_shared<const core::Vocabulary>()),
          backend(std::move(opened)),
          registry(std::make_shared<engine::EmbedderRegistry>(
              options.embedders ? options.embedders : engine::make_embedder_factory({}))),
          retriever(*backend, embedder_of(registry, TextRole::Query), retriever_options(options)) {
        if (options.read_only || options.probe_after_ms == 0) return;
        prober.emplace([this](const auto& place, const auto& stop) { probe_if_due(place, stop); },
                       std::chrono::milliseconds(options.probe_after_ms));
    }

    retrieval::RetrieverOptions retriever_options(const OpenOptions& options) {
        retrieval::RetrieverOptions out;
        out.vocabulary = vocabulary;
        out.profiles = options.profiles;
        out.default_profile = options.default_profile;
        out.log = options.log;
        out.stages = options.stages;
        out.preprocessor = options.preprocessor;
        out.english_embedders = engine::english_embedders();
        out.hypothesis_embedder = embedder_of(registry, TextRole::Passage);
        out.remembered = [known = registry.get()](const Schema& schema, std::string_view text,
                                                  const CallLimits& limits) {
            return known->remembered(schema, text, limits);
        };
        return out;
    }

    /// A snapshot of one collection.
    Result<ReaderPtr> snapshot(const std::string& collection, const CallLimits& limits) const {
        return backend->snapshot(std::span(&collection, 1), limits);
    }

    Result<Schema> schema(const std::string& collection, const CallLimits& limits) const {
        BRAID_TRY(const auto found, snapshot(collection, limits));
        return found->schema(collection);
    }

    /// Gives chunks the vectors that are stored with their ids, where these were made of the same
    /// text.
    Result<> keep_vectors(const std::string& collection, const std::string& namespace_,
                          std::span<Chunk* const> chunks, const WriteOptions& options) const {
        std::vector<std::string> ids;
        for (const Chunk* const chunk : chunks) ids.push_back(chunk->chunk_id);
        BRAID_TRY(const auto now, snapshot(collection, options.limits));
        BRAID_TRY(auto stored, now->fetch({.collection = collection,
                                           .namespace_ = namespace_,
                                           .principal = options.principal},
                                          ids, true));
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            if (!stored[i]) continue;
            if (engine::passage_text(*stored[i]) != engine::passage_text(*chunks[i])) continue;
            chunks[i]->vector = std::move(stored[i]->vector);
        }
        return {};
    }

    Result<std::optional<LegProbes>> probe(const ReadScope& scope, const CallLimits& limits) const {
        BRAID_TRY(const auto now, snapshot(scope.collection, limits));
        BRAID_TRY(auto probes, engine::probe_legs(*now, scope, *registry, limits));
        if (!probes) return probes;
        BRAID_CHECK(backend->set_probes(scope.collection, scope.namespace_, *probes));
        return probes;
    }

    /// Nobody waits for it: where it fails, `stats` goes on saying what it said. An embedder that
    /// does not run here may cost money.
    void probe_if_due(const engine::Prober::Place& place, const std::stop_token& stop) const {
        const ReadScope scope{.collection = place.first, .namespace_ = place.second};
        CallLimits limits;
        limits.stop = stop;
        const auto now = snapshot(scope.collection, limits);
        const auto schema = now ? (*now)->schema(scope.collection) : tl::unexpected(now.error());
        if (!schema) return;
        const auto& ours = engine::english_embedders();
        if (std::ranges::find(ours, schema->vectors.embedder) == ours.end()) return;
        const auto stats = (*now)->stats(scope);
        if (!stats || !engine::probing_due(*stats)) return;
        (void)probe(scope, limits);
    }

    void written(const std::string& collection, const std::string& namespace_) {
        if (prober) prober->written(collection, namespace_);
    }

    OpenReport report;
    core::VocabularyPtr vocabulary;
    std::unique_ptr<Backend> backend;
    RegistryPtr registry;
    retrieval::Retriever retriever;
    std::optional<engine::Prober> prober;  // last: its thread uses all of the above
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::filesystem::path& path, const OpenOptions& options) {
    const bool create = options.create && !options.read_only;
    BRAID_TRY(auto directory,
              store::open_posix_directory(
                  path, create ? store::OpenMode::CreateIfMissing : store::OpenMode::MustExist));
    const unsigned relaxed_ms = options.durability == Durability::Relaxed ? options.relaxed_ms : 0;
    BRAID_TRY(auto opened,
              local::open_local_backend(std::move(directory),
                                        {.read_only = options.read_only,
                                         .relaxed_ms = relaxed_ms,
                                         .compaction = {.enabled = options.auto_compact},
                                         .max_open = options.max_open_collections,
                                         .clock = options.clock,
                                         .log = options.log}));
    return Database(
        std::make_unique<Impl>(std::move(opened.backend), std::move(opened.notes), options));
}

Result<RepairReport> Database::repair(const std::filesystem::path& path) {
    BRAID_TRY(const auto directory, store::open_posix_directory(path, store::OpenMode::MustExist));
    return local::repair_database(*directory);
}

Result<Database> Database::in_memory(const OpenOptions& options) {
    BRAID_TRY(auto opened, local::open_local_backend(store::make_memory_directory(),
                                                     {.clock = options.clock, .log = options.log}));
    return Database(
        std::make_unique<Impl>(std::move(opened.backend), std::move(opened.notes), options));
}

Result<Database> Database::cluster(const ClusterEndpoint& endpoint, const OpenOptions& options) {
    BRAID_TRY(auto backend, remote::open_remote_backend(
                                {.urls = endpoint.urls,
                                 .key = endpoint.key,
                                 .ca_file = endpoint.ca_file,
                                 .prefix = endpoint.prefix,
                                 .shards = endpoint.shards,
                                 .replicas = endpoint.replicas,
                                 .timeout = std::chrono::milliseconds(endpoint.timeout_ms),
                                 .offline = endpoint.offline}));
    return over(std::move(backend), options);
}

Result<Database> Database::over(std::unique_ptr<Backend> backend, const OpenOptions& options) {
    if (backend == nullptr) return invalid_argument("there is no backend to open a database over");
    return Database(
        std::make_unique<Impl>(std::move(backend), std::vector<std::string>(), options));
}

const OpenReport& Database::open_report() const {
    return impl_->report;
}

Backend& Database::backend() const {
    return *impl_->backend;
}

const core::Vocabulary& Database::vocabulary() const {
    return *impl_->vocabulary;
}

Result<> Database::create_collection(const std::string& name, const Schema& schema) {
    BRAID_CHECK(validate_collection_name(name));
    Schema completed = schema;
    BRAID_CHECK(impl_->registry->complete(completed));
    return impl_->backend->create_collection(name, completed);
}

Result<> Database::begin_collection(const std::string& name, const Schema& schema) {
    BRAID_CHECK(validate_collection_name(name));
    Schema completed = schema;
    BRAID_CHECK(impl_->registry->complete(completed));
    return impl_->backend->begin_collection(name, completed);
}

Result<> Database::finish_collection(const std::string& name) {
    return impl_->backend->finish_collection(name);
}

Result<> Database::drop_collection(const std::string& name) {
    return impl_->backend->drop_collection(name);
}

Result<std::vector<CollectionInfo>> Database::collections(const Principal& principal) const {
    return impl_->backend->collections(principal);
}

Result<CollectionInfo> Database::describe(const std::string& name,
                                          const Principal& principal) const {
    return impl_->backend->describe(name, principal);
}

namespace {

/// For a backend that would keep for ever what should expire.
template <class Items>
Result<> refuse_expiry(const Items& items) {
    for (const auto& item : items) {
        if (!item.expires_at) continue;
        return fail(ErrorCode::Unsupported, "chunk \"" + item.chunk_id +
                                                "\" has expires_at, and chunks do not expire in "
                                                "this database");
    }
    return {};
}

}  // namespace

Result<WriteReport> Database::add(const std::string& collection, std::vector<Chunk> chunks,
                                  const std::string& namespace_, const WriteOptions& options) {
    if (!impl_->backend->capabilities().expiry) BRAID_CHECK(refuse_expiry(chunks));
    BRAID_TRY(Schema schema, impl_->schema(collection, options.limits));
    std::vector<Chunk*> embedded_here;
    for (Chunk& chunk : chunks) {
        if (chunk.vector.empty()) embedded_here.push_back(&chunk);
    }
    if (options.skip_unchanged && schema.vectors.fingerprint) {
        BRAID_CHECK(impl_->keep_vectors(collection, namespace_, embedded_here, options));
    }
    while (true) {
        BRAID_TRY(auto warnings, impl_->registry->embed_chunks(schema, chunks, options.limits));
        WriteOptions checked = options;
        if (!checked.vectors_by) checked.vectors_by = schema.vectors.fingerprint;
        if (!schema.vectors.fingerprint) {  // nobody but the user makes its vectors
            return impl_->backend->upsert(collection, namespace_, std::move(chunks), checked);
        }
        auto report = impl_->backend->upsert(collection, namespace_, chunks, checked);
        if (report) {
            report->warnings = std::move(warnings);
            impl_->written(collection, namespace_);
            return report;
        }
        // The collection may have got another embedder while this one was at work.
        BRAID_TRY(Schema present, impl_->schema(collection, options.limits));
        if (present.vectors.fingerprint == schema.vectors.fingerprint) return report;
        schema = std::move(present);
        for (Chunk* const chunk : embedded_here) chunk->vector.clear();
    }
}

Result<WriteReport> Database::update(const std::string& collection,
                                     std::vector<MetadataUpdate> updates,
                                     const std::string& namespace_, const WriteOptions& options) {
    if (!impl_->backend->capabilities().expiry) BRAID_CHECK(refuse_expiry(updates));
    return impl_->backend->update(collection, namespace_, std::move(updates), options);
}

Result<WriteReport> Database::remove(const ReadScope& scope, const DeleteSelector& selector,
                                     const WriteOptions& options) {
    impl_->written(scope.collection, scope.namespace_);
    return impl_->backend->remove(scope, selector, options);
}

Result<ReembedReport> Database::reembed(
    const std::string& collection, const std::string& embedder,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress, const CallLimits& limits) {
    if (embedder == "none" || embedder == "external") {
        return invalid_argument("\"" + embedder + "\" makes no vectors");
    }
    BRAID_TRY(Schema schema, impl_->schema(collection, limits));
    schema.vectors = {.embedder = embedder, .metric = schema.vectors.metric};
    BRAID_CHECK(impl_->registry->complete(schema));
    BRAID_TRY(const auto rewrite, impl_->backend->rewrite(collection, schema));
    ReembedReport report;
    const auto embed = [&](std::vector<Chunk>& chunks) -> Result<> {
        if (limits.stopped()) return fail(ErrorCode::Cancelled, "re-embedding was interrupted");
        for (Chunk& chunk : chunks) chunk.vector.clear();
        BRAID_TRY(auto warnings, impl_->registry->embed_chunks(schema, chunks, limits));
        report.embedded += chunks.size();
        if (report.warnings.empty()) report.warnings = std::move(warnings);
        return {};
    };
    BRAID_CHECK(carry_out(*rewrite, embed, progress));
    report.chunks = rewrite->total();
    return report;
}

Result<CompactReport> Database::compact(
    const std::string& collection,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress, const CallLimits& limits) {
    const auto bytes = [&]() -> Result<std::uint64_t> {
        BRAID_TRY(const CollectionStats found, stats({.collection = collection}, limits));
        return found.bytes_on_disk;
    };
    CompactReport report;
    BRAID_TRY(report.bytes_before, bytes());
    BRAID_TRY(const auto rewrite, impl_->backend->compaction(collection));
    const auto unchanged = [&](const std::vector<Chunk>&) -> Result<> {
        if (!limits.stopped()) return {};
        return fail(ErrorCode::Cancelled,
                    "compacting was interrupted; the collection is as it was");
    };
    BRAID_CHECK(carry_out(*rewrite, unchanged, progress));
    report.chunks = rewrite->total();
    BRAID_TRY(report.bytes_after, bytes());
    return report;
}

Result<std::string> Database::ranker(const std::string& collection) const {
    BRAID_TRY(const ReaderPtr snapshot, impl_->backend->snapshot(std::span(&collection, 1), {}));
    BRAID_TRY(const auto model, snapshot->ranker(collection));
    return model ? rank::write_model(*model) : std::string();
}

Result<> Database::set_ranker(const std::string& collection, const std::string& model) {
    return impl_->backend->set_ranker(collection, model);
}

Result<Answer> Database::retrieve(const Request& request, const Principal& principal,
                                  const CallLimits& limits) const {
    return impl_->retriever.retrieve(request, principal, limits);
}

Result<SearchTarget> Database::target_of(const Request& request, const Principal& principal) const {
    return impl_->retriever.target_of(request, principal);
}

std::vector<Result<Answer>> Database::retrieve_batch(std::span<const Request> requests,
                                                     const Principal& principal,
                                                     const CallLimits& limits) const {
    std::vector<Result<Answer>> answers(requests.size());
    engine::BatchAdmission admission(answers, limits);
    core::run_parallel(requests.size(), [&](std::size_t i) {
        const CallLimits own = core::as_another_answer(limits);
        try {
            answers[i] = retrieve(requests[i], principal, own);
        } catch (const std::bad_alloc&) {
            answers[i] = fail(ErrorCode::ResourceExhausted, "out of memory");
        }
        admission.done(i, own);
    });
    return answers;
}

Result<Explanation> Database::explain(const Request& request, const std::string& chunk_id,
                                      const Principal& principal, const CallLimits& limits) const {
    return impl_->retriever.explain(request, chunk_id, principal, limits);
}

Result<WhyNot> Database::why_not(const Request& request, const std::string& chunk_id,
                                 const Principal& principal, const CallLimits& limits) const {
    return impl_->retriever.why_not(request, chunk_id, principal, limits);
}

Result<Context> Database::context(const Request& request, std::size_t budget,
                                  const Principal& principal, const CallLimits& limits) const {
    Request plain = request;  // neighbours are added here, as far as there is room
    plain.expand_neighbors = 0;
    plain.explain = false;
    if (!plain.top_k) plain.top_k = kContextHits;
    const auto start = std::chrono::steady_clock::now();
    BRAID_TRY(Answer answer, retrieve(plain, principal, limits));
    if (request.explain) answer.unused.emplace_back("explain");
    CallLimits whole = limits;  // the answer's deadline is the context's
    if (request.deadline_ms) {
        const auto end = start + std::chrono::milliseconds(*request.deadline_ms);
        whole.deadline = std::min(whole.deadline.value_or(end), end);
    }
    engine::ContextOptions options;
    options.budget = budget;
    options.neighbors = request.expand_neighbors;
    options.limits = whole;
    if (whole.deadline) {  // what was made must still be sent
        const auto left = std::max(*whole.deadline - std::chrono::steady_clock::now(), {});
        *options.limits.deadline -=
            std::min(left / 8, decltype(left)(std::chrono::milliseconds(200)));
    }
    if (!answer.hits.empty()) {
        BRAID_TRY(const Schema schema, impl_->schema(answer.hits.front().collection, whole));
        CallLimits now =
            whole;  // an embedder that could not be had for the answer is not waited for
        if (!answer.complete) now.deadline = start;
        auto counter = impl_->registry->token_counter(schema, now);
        if (counter && *counter) options.count_tokens = (*counter)->count;
        if (!counter) {
            answer.warnings.push_back("tokens are estimated: " + counter.error().message);
        }
    }
    const auto around = [&](const Hit& hit, std::size_t count) {
        const ReadScope scope{hit.collection, hit.namespace_, principal, std::nullopt};
        return neighbors(scope, hit.chunk.chunk_id, count, core::as_another_answer(whole));
    };
    return engine::make_context(answer, options, around);
}

Result<std::vector<std::optional<Chunk>>> Database::get(const ReadScope& scope,
                                                        std::span<const std::string> chunk_ids,
                                                        bool with_vectors,
                                                        const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    return snapshot->fetch(scope, chunk_ids, with_vectors);
}

Result<std::vector<Chunk>> Database::neighbors(const ReadScope& scope, const std::string& chunk_id,
                                               std::size_t count, const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    const std::vector<std::string> ids{chunk_id};
    const ReaderPtr apart = snapshot->with(core::apart_as_one_answer(limits));
    BRAID_TRY(const auto found, apart->fetch(scope, ids, false));
    const std::optional<Chunk>& maybe = found.front();
    if (!maybe) return fail(ErrorCode::NotFound, "there is no chunk \"" + chunk_id + "\"");
    const Chunk& chunk = *maybe;
    if (!chunk.chunk_index) return std::vector<Chunk>{chunk};
    const NeighborRange range{chunk.document_id, *chunk.chunk_index, count, count};
    BRAID_TRY(auto around, snapshot->neighbors(scope, std::span(&range, 1)));
    return std::move(around.front());
}

Result<std::uint64_t> Database::count(const ReadScope& scope, const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    return snapshot->count(scope);
}

Result<std::vector<FacetCount>> Database::facets(const ReadScope& scope, const std::string& field,
                                                 std::size_t limit,
                                                 const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    return snapshot->facets(scope, field, limit);
}

Result<CollectionStats> Database::stats(const ReadScope& scope, const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    return snapshot->stats(scope);
}

Result<std::optional<LegProbes>> Database::probe(const ReadScope& scope, const CallLimits& limits) {
    if (!scope.principal.sees_everything()) {
        return fail(ErrorCode::PermissionDenied,
                    "probing a namespace needs a principal that sees all of it");
    }
    return impl_->probe({.collection = scope.collection, .namespace_ = scope.namespace_}, limits);
}

Result<std::optional<TokenCounter>> Database::token_counter(const std::string& collection) const {
    BRAID_TRY(const Schema schema, impl_->schema(collection, {}));
    return impl_->registry->token_counter(schema, {});
}

Result<std::vector<Chunk>> Database::scan(const ReadScope& scope, const std::string& after,
                                          std::size_t limit, bool with_vectors,
                                          const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    return snapshot->scan(scope, after, limit, with_vectors);
}

BackendHealth Database::health() const {
    return impl_->backend->health();
}

Result<CheckReport> Database::check(const CallLimits& limits) const {
    return impl_->backend->check(limits);
}

Result<CheckReport> Database::backup(const std::filesystem::path& path,
                                     const CallLimits& limits) const {
    return impl_->backend->backup(path, limits);
}

}  // namespace braid
