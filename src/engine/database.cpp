#include "braid/database.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "braid/backend.hpp"
#include "braid/engine/database_impl.hpp"
#include "braid/engine/embedder_settings.hpp"
#include "braid/engine/leg_probes.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/remote/backend.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/memory_directory.hpp"
#include "braid/store/posix_directory.hpp"

namespace braid {
namespace {

using RegistryPtr = std::shared_ptr<engine::EmbedderRegistry>;

local::Engine engine_of(const OpenOptions& options) {
    return options.exact_engine ? local::Engine::Exact : local::Engine::Segment;
}

/// Shared, because a program that exits in a hurry may leave one of these still working.
retrieval::QueryEmbedder embedder_of(const RegistryPtr& registry, TextRole role) {
    return [registry, role](const Schema& schema, std::string_view text, const CallLimits& limits) {
        return registry->embed_query(schema, text, role, limits);
    };
}

retrieval::RetrieverOptions retriever_options(const OpenOptions& options,
                                              const core::VocabularyPtr& vocabulary,
                                              const RegistryPtr& registry) {
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

}  // namespace

Database::Impl::Impl(std::unique_ptr<Backend> opened, std::vector<std::string> notes,
                     const OpenOptions& options)
    : report{std::move(notes)},
      vocabulary(options.vocabulary ? options.vocabulary
                                    : std::make_shared<const core::Vocabulary>()),
      backend(std::move(opened)),
      registry(std::make_shared<engine::EmbedderRegistry>(
          options.embedders ? options.embedders : engine::make_embedder_factory({}))),
      retriever(*backend, embedder_of(registry, TextRole::Query),
                retriever_options(options, vocabulary, registry)) {
    if (options.read_only || options.probe_after_ms == 0) return;
    prober.emplace([this](const auto& place, const auto& stop) { probe_if_due(place, stop); },
                   std::chrono::milliseconds(options.probe_after_ms));
}

Result<std::optional<LegProbes>> Database::Impl::probe(const ReadScope& scope,
                                                       const CallLimits& limits) const {
    BRAID_TRY(const auto now, snapshot(scope.collection, limits));
    BRAID_TRY(auto probes, engine::probe_legs(*now, scope, *registry, limits));
    if (!probes) return probes;
    BRAID_CHECK(backend->set_probes(scope.collection, scope.namespace_, *probes));
    return probes;
}

void Database::Impl::probe_if_due(const engine::Prober::Place& place,
                                  const std::stop_token& stop) const {
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
                                        {.engine = engine_of(options),
                                         .write_memory_bytes = options.write_memory_mb << 20,
                                         .read_only = options.read_only,
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
    BRAID_TRY(auto opened,
              local::open_local_backend(store::make_memory_directory(),
                                        {.engine = engine_of(options),
                                         .write_memory_bytes = options.write_memory_mb << 20,
                                         .clock = options.clock,
                                         .log = options.log}));
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
    if (backend == nullptr) return invalid_argument("a database needs a backend, but got none");
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
