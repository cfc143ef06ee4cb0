#include "backend/local_backends.hpp"

#include "braid/forwarding.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/store/memory_directory.hpp"
#include "braid/store/posix_directory.hpp"
#include "core/temporary_folder.hpp"

namespace braid::testing {
namespace {

std::unique_ptr<Backend> open(std::unique_ptr<store::Directory> directory) {
    auto opened = must(local::open_local_backend(std::move(directory), {}));
    EXPECT_TRUE(opened.notes.empty());
    return std::move(opened.backend);
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
                           .snapshots = true,
                           .read_your_writes = true,
                           .atomic_batches = true};
    const auto on_disk = [folder = std::make_shared<TemporaryFolder>(),
                          used = std::make_shared<int>(0)] {
        const std::string path = *folder / std::to_string(++*used);
        return open(must(store::open_posix_directory(path, store::OpenMode::CreateIfMissing)));
    };
    const auto in_memory = [] { return open(store::make_memory_directory()); };
    return {{"LocalPosix", on_disk, all}, {"LocalMemory", in_memory, all}};
}

BackendUnderTest modest_backend() {
    const auto make = [] {
        return std::make_unique<ModestBackend>(open(store::make_memory_directory()));
    };
    return {"Modest", make, make()->capabilities()};
}

}  // namespace braid::testing
