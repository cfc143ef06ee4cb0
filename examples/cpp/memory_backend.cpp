#include "memory_backend.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include <braid/vector_similarity.hpp>

using braid::Chunk;
using braid::ErrorCode;
using braid::fail;
using braid::Leg;
using braid::LegHit;
using braid::LegKind;
using braid::LegResult;
using braid::NeighborRange;
using braid::ReadScope;
using braid::Result;

namespace {

std::vector<std::string> words_of(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    std::istringstream words(lower);
    return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

Result<> check(const braid::CallLimits& limits) {
    if (limits.stopped()) return fail(ErrorCode::Cancelled, "the caller cancelled the call");
    if (limits.expired()) return fail(ErrorCode::DeadlineExceeded, "the deadline passed");
    return {};
}

class MemoryReader final : public braid::Reader {
public:
    using Chunks = std::map<std::string, Chunk>;

    MemoryReader(MemoryBackend::Shelves shelves, braid::CallLimits limits)
        : shelves_(std::move(shelves)), limits_(std::move(limits)) {}

    braid::ReaderPtr with(const braid::CallLimits& limits) const override {
        return std::make_shared<MemoryReader>(shelves_, limits);
    }
    Result<braid::Schema> schema(const std::string& collection) const override {
        const auto found = shelves_.find(collection);
        if (found == shelves_.end()) return fail(ErrorCode::NotFound, "no \"" + collection + "\"");
        return found->second->schema;
    }
    Result<std::vector<std::string>> analyze(const std::string&,
                                             std::string_view text) const override {
        return words_of(text);
    }

    std::vector<Result<LegResult>> search(std::span<const Leg> legs) const override {
        return braid::search_each(legs, [this](const Leg& leg) { return search_one(leg); });
    }
    Result<std::vector<std::optional<double>>> score(
        const Leg& leg, std::span<const std::string> chunk_ids) const override {
        BRAID_TRY(const Chunks* const chunks, open(leg.scope));
        std::vector<std::optional<double>> scores(chunk_ids.size());
        for (std::size_t i = 0; i < chunk_ids.size(); ++i) {
            const auto found = chunks->find(chunk_ids[i]);
            if (found != chunks->end()) scores[i] = score_of(leg, found->second);
        }
        return scores;
    }
    Result<std::vector<std::optional<Chunk>>> fetch(const ReadScope& scope,
                                                    std::span<const std::string> chunk_ids,
                                                    bool with_vectors) const override {
        BRAID_TRY(const Chunks* const chunks, open(scope));
        std::vector<std::optional<Chunk>> out(chunk_ids.size());
        for (std::size_t i = 0; i < chunk_ids.size(); ++i) {
            const auto found = chunks->find(chunk_ids[i]);
            if (found == chunks->end()) continue;
            out[i] = found->second;
            if (!with_vectors) out[i]->vector.clear();
        }
        return out;
    }
    Result<std::vector<std::vector<Chunk>>> neighbors(
        const ReadScope& scope, std::span<const NeighborRange> ranges) const override {
        BRAID_TRY(const Chunks* const chunks, open(scope));
        std::vector<std::vector<Chunk>> out(ranges.size());
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            for (const auto& [id, chunk] : *chunks) {
                if (near(ranges[i], chunk)) out[i].push_back(chunk);
            }
            std::ranges::sort(out[i], {}, &Chunk::chunk_index);
        }
        return out;
    }
    Result<std::uint64_t> count(const ReadScope& scope) const override {
        BRAID_TRY(const Chunks* const chunks, open(scope));
        return chunks->size();
    }
    Result<std::vector<braid::FacetCount>> facets(const ReadScope&, const std::string&,
                                                  std::size_t) const override {
        return fail(ErrorCode::Unsupported, "this database counts no facets");
    }
    Result<braid::CollectionStats> stats(const ReadScope& scope) const override {
        BRAID_TRY(const Chunks* const chunks, open(scope));
        braid::CollectionStats stats;
        stats.chunks = chunks->size();
        return stats;
    }
    Result<std::vector<Chunk>> scan(const ReadScope& scope, const std::string& after,
                                    std::size_t limit, bool with_vectors) const override {
        BRAID_TRY(const Chunks* const chunks, open(scope));
        std::vector<Chunk> out;
        for (auto at = chunks->upper_bound(after); at != chunks->end() && out.size() < limit;
             ++at) {
            out.push_back(at->second);
            if (!with_vectors) out.back().vector.clear();
        }
        return out;
    }

private:
    /// The chunks of a namespace, once the call has been found to have time.
    Result<const Chunks*> open(const ReadScope& scope) const {
        BRAID_CHECK(check(limits_));
        if (scope.filter) return fail(ErrorCode::Unsupported, "this database has no filters");
        const auto found = shelves_.find(scope.collection);
        if (found == shelves_.end()) {
            return fail(ErrorCode::NotFound, "no \"" + scope.collection + "\"");
        }
        static const Chunks kNone;
        const auto space = found->second->namespaces.find(scope.namespace_);
        return space == found->second->namespaces.end() ? &kNone : &space->second;
    }
    static bool near(const NeighborRange& range, const Chunk& chunk) {
        if (chunk.document_id != range.document_id || !chunk.chunk_index) return false;
        const std::int64_t away = *chunk.chunk_index - range.index;
        return away < 0 ? static_cast<std::size_t>(-away) <= range.before
                        : static_cast<std::size_t>(away) <= range.after;
    }
    /// By words: how many of the query's the chunk holds, in the phrasing that suits it best.
    static std::optional<double> score_of(const Leg& leg, const Chunk& chunk) {
        if (leg.kind == LegKind::Dense) {
            if (chunk.vector.empty()) return std::nullopt;
            const auto cosine = braid::cosine_similarity(leg.vector, chunk.vector);
            return cosine ? std::optional(*cosine) : std::nullopt;
        }
        const std::vector<std::string> words = words_of(chunk.content);
        std::ptrdiff_t best = 0;
        for (const auto& terms : leg.phrasings) {
            best = std::max(best, std::ranges::count_if(terms, [&](const std::string& term) {
                                return std::ranges::find(words, term) != words.end();
                            }));
        }
        return static_cast<double>(best);
    }
    Result<LegResult> search_one(const Leg& leg) const {
        BRAID_TRY(const Chunks* const chunks, open(leg.scope));
        const auto before = [](const LegHit& a, const LegHit& b) {
            return a.score != b.score ? a.score > b.score : a.chunk_id < b.chunk_id;
        };
        LegResult result;
        result.method = "counting";
        for (const auto& [id, chunk] : *chunks) {
            const auto score = score_of(leg, chunk);
            if (!score || (leg.kind == LegKind::Sparse && *score == 0)) continue;
            ++result.matched.count;
            const LegHit hit{id, *score};
            if (!leg.after || before(*leg.after, hit)) result.hits.push_back(hit);
        }
        std::ranges::sort(result.hits, before);
        result.exhausted = result.hits.size() <= leg.depth;
        if (!result.exhausted) result.hits.resize(leg.depth);
        return result;
    }

    MemoryBackend::Shelves shelves_;
    braid::CallLimits limits_;
};

}  // namespace

braid::Capabilities MemoryBackend::capabilities() const {
    return {
        .exact_dense = true, .snapshots = true, .read_your_writes = true, .atomic_batches = true};
}

Result<std::shared_ptr<const MemoryBackend::Shelf>> MemoryBackend::find(
    const std::string& name) const {
    const auto found = shelves_.find(name);
    if (found == shelves_.end()) return fail(ErrorCode::NotFound, "no \"" + name + "\"");
    return found->second;
}

Result<> MemoryBackend::create_collection(const std::string& name, const braid::Schema& schema) {
    const std::scoped_lock lock(mutex_);
    const auto shelf = std::make_shared<const Shelf>(Shelf{schema, {}});
    if (shelves_.emplace(name, shelf).second) return {};
    return fail(ErrorCode::AlreadyExists, "there is a \"" + name + "\"");
}

Result<> MemoryBackend::drop_collection(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    if (shelves_.erase(name) == 1) return {};
    return fail(ErrorCode::NotFound, "no \"" + name + "\"");
}

Result<std::vector<braid::CollectionInfo>> MemoryBackend::collections(
    const braid::Principal& principal) const {
    std::vector<std::string> names;
    {
        const std::scoped_lock lock(mutex_);
        for (const auto& [name, shelf] : shelves_) names.push_back(name);
    }
    std::vector<braid::CollectionInfo> infos;
    for (const std::string& name : names) {
        if (auto info = describe(name, principal)) infos.push_back(*std::move(info));
    }
    return infos;
}

Result<braid::CollectionInfo> MemoryBackend::describe(const std::string& name,
                                                      const braid::Principal&) const {
    const std::scoped_lock lock(mutex_);
    BRAID_TRY(const auto shelf, find(name));
    braid::CollectionInfo info;
    info.name = name;
    info.schema = shelf->schema;
    for (const auto& [space, chunks] : shelf->namespaces) {
        info.namespaces.push_back(space);
        info.chunks += chunks.size();
    }
    return info;
}

Result<braid::ReaderPtr> MemoryBackend::snapshot(std::span<const std::string> names,
                                                 const braid::CallLimits& limits) const {
    const std::scoped_lock lock(mutex_);
    Shelves held;
    for (const std::string& name : names) {
        BRAID_TRY(held[name], find(name));
    }
    return braid::ReaderPtr(std::make_shared<MemoryReader>(std::move(held), limits));
}

Result<braid::WriteReport> MemoryBackend::upsert(const std::string& collection,
                                                 const std::string& namespace_,
                                                 std::vector<Chunk> chunks,
                                                 const braid::WriteOptions&) {
    const std::scoped_lock lock(mutex_);
    BRAID_TRY(const auto shelf, find(collection));
    Shelf next = *shelf;
    braid::WriteReport report;
    report.version = ++version_;
    for (Chunk& chunk : chunks) {
        chunk.version = version_;
        if (chunk.document_id.empty()) chunk.document_id = chunk.chunk_id;
        const std::string id = chunk.chunk_id;
        const bool is_new =
            next.namespaces[namespace_].insert_or_assign(id, std::move(chunk)).second;
        report.replaced += is_new ? 0 : 1;
        ++report.written;
    }
    shelves_[collection] = std::make_shared<const Shelf>(std::move(next));
    return report;
}

Result<braid::WriteReport> MemoryBackend::update(const std::string&, const std::string&,
                                                 std::vector<braid::MetadataUpdate>,
                                                 const braid::WriteOptions&) {
    return fail(ErrorCode::Unsupported, "this database updates no metadata");
}

Result<braid::WriteReport> MemoryBackend::remove(const ReadScope& scope,
                                                 const braid::DeleteSelector& selector,
                                                 const braid::WriteOptions&) {
    if (selector.filter) return fail(ErrorCode::Unsupported, "this database has no filters");
    const std::scoped_lock lock(mutex_);
    BRAID_TRY(const auto shelf, find(scope.collection));
    Shelf next = *shelf;
    braid::WriteReport report;
    report.written = std::erase_if(next.namespaces[scope.namespace_], [&](const auto& entry) {
        const Chunk& chunk = entry.second;
        return std::ranges::find(selector.chunk_ids, chunk.chunk_id) != selector.chunk_ids.end() ||
               std::ranges::find(selector.document_ids, chunk.document_id) !=
                   selector.document_ids.end();
    });
    shelves_[scope.collection] = std::make_shared<const Shelf>(std::move(next));
    return report;
}
