#include "backend/local_backends.hpp"

#include "braid/forwarding.hpp"
#include "braid/local/backend.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/store/memory_directory.hpp"
#include "braid/store/posix_directory.hpp"
#include "core/temporary_folder.hpp"

namespace braid::testing {
namespace {

std::unique_ptr<Backend> open(std::unique_ptr<store::Directory> directory,
                              const local::LocalOptions& options = {}) {
    auto opened = must(local::open_local_backend(std::move(directory), options));
    EXPECT_TRUE(opened.notes.empty());
    return std::move(opened.backend);
}

/// Flushes after every few writes, and merges whenever that is due, before the next call.
class FlushingBackend final : public ForwardingBackend {
public:
    explicit FlushingBackend(std::unique_ptr<Backend> inner)
        : ForwardingBackend(std::move(inner)),
          local_(dynamic_cast<local::LocalBackend&>(this->inner())) {}

    Result<WriteReport> upsert(const std::string& collection, const std::string& namespace_,
                               std::vector<Chunk> chunks, const WriteOptions& options) override {
        return flushed(inner().upsert(collection, namespace_, std::move(chunks), options));
    }
    Result<WriteReport> update(const std::string& collection, const std::string& namespace_,
                               std::vector<MetadataUpdate> updates,
                               const WriteOptions& options) override {
        return flushed(inner().update(collection, namespace_, std::move(updates), options));
    }
    Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                               const WriteOptions& options) override {
        return flushed(inner().remove(scope, selector, options));
    }

private:
    Result<WriteReport> flushed(Result<WriteReport> report) {
        local_.run_due_compactions();
        return report;
    }

    local::LocalBackend& local_;
};

std::unique_ptr<Backend> open_flushing(std::uint64_t rows) {
    local::LocalOptions options;
    options.flush_rows = rows;
    options.compaction.background = false;
    return std::make_unique<FlushingBackend>(open(store::make_memory_directory(), options));
}

/// Reads that count no further than they list, and know no whole rankings.
class ModestReader final : public ForwardingReader {
public:
    using ForwardingReader::ForwardingReader;

    std::vector<Result<LegResult>> search(std::span<const Leg> legs) const override {
        auto results = inner().search(legs);
        for (auto& result : results) {
            if (!result || result->exhausted) continue;
            result->matched = {result->hits.size(), MatchCount::Relation::AtLeast};
        }
        return results;
    }
    Result<std::vector<std::optional<std::uint64_t>>> rank_of(
        const Leg& leg, std::span<const std::string> chunk_ids) const override {
        return Reader::rank_of(leg, chunk_ids);
    }

private:
    ReaderPtr wrap(ReaderPtr inner) const override {
        return std::make_shared<ModestReader>(std::move(inner));
    }
};

class ModestBackend final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;

    Capabilities capabilities() const override {
        Capabilities can = inner().capabilities();
        can.whole_ranking = false;
        return can;
    }
    Result<ReaderPtr> snapshot(std::span<const std::string> collections,
                               const CallLimits& limits) const override {
        BRAID_TRY(ReaderPtr found, inner().snapshot(collections, limits));
        return ReaderPtr(std::make_shared<ModestReader>(std::move(found)));
    }
};

}  // namespace

std::vector<BackendUnderTest> local_backends() {
    const Capabilities all{.exact_lengths = true,
                           .scoped_statistics = true,
                           .live_df = true,
                           .exact_dense = true,
                           .whole_ranking = true,
                           .query_language = true,
                           .bm25_choice = true,
                           .snapshots = true,
                           .read_your_writes = true,
                           .atomic_batches = true,
                           .expiry = true,
                           .skips_unchanged = true};
    const auto on_disk = [folder = std::make_shared<TemporaryFolder>(),
                          used = std::make_shared<int>(0)] {
        const std::string path = *folder / std::to_string(++*used);
        return open(must(store::open_posix_directory(path, store::OpenMode::CreateIfMissing)));
    };
    const auto in_memory = [] { return open(store::make_memory_directory()); };
    const auto exact = [] {
        local::LocalOptions options;
        options.engine = local::Engine::Exact;
        return open(store::make_memory_directory(), options);
    };
    const auto busy = [] {
        local::LocalOptions options;
        options.flush_rows = 1;  // in the background, while the test goes on
        return open(store::make_memory_directory(), options);
    };
    return {{"LocalPosix", on_disk, all},
            {"LocalMemory", in_memory, all},
            {"Exact", exact, all},
            {"FlushedAtOnce", [] { return open_flushing(1); }, all},
            {"FlushedInThrees", [] { return open_flushing(3); }, all},
            {"FlushedMeanwhile", busy, all}};
}

BackendUnderTest modest_backend() {
    const auto make = [] {
        return std::make_unique<ModestBackend>(open(store::make_memory_directory()));
    };
    return {"Modest", make, make()->capabilities()};
}

}  // namespace braid::testing
