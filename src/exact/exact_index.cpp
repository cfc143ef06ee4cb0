#include "braid/exact/exact_index.hpp"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "braid/exact/exact_view.hpp"
#include "braid/exact/index_check.hpp"

namespace braid::exact {

ExactIndex::ExactIndex(Schema schema, text::Analyzer analyzer)
    : schema_(std::move(schema)),
      analyzer_(std::move(analyzer)),
      searches_metadata_(index::searches_metadata(schema_)),
      empty_(std::make_shared<const Partition>(schema_)) {}

template <class Change>
std::uint64_t ExactIndex::write(const std::string& namespace_, const Change& change) {
    auto found = partitions_.find(namespace_);
    if (found == partitions_.end()) {
        auto fresh = std::make_shared<Partition>(schema_);
        const std::unique_lock lock(mutex_);
        found = partitions_.emplace(namespace_, std::move(fresh)).first;
    }
    Partition& partition = *found->second;
    const std::uint64_t before = partition.live_bytes();
    const std::uint64_t changed = change(partition);
    live_bytes_ += partition.live_bytes() - before;
    if (std::ranges::find(changed_, namespace_) == changed_.end()) changed_.push_back(namespace_);
    return changed;
}

Result<std::uint64_t> ExactIndex::upsert(const std::string& namespace_,
                                         std::vector<PreparedChunk> chunks, Sequence sequence,
                                         Timestamp now) {
    return write(namespace_, [&](Partition& partition) {
        std::uint64_t replaced = 0;
        for (PreparedChunk& chunk : chunks) {
            const Row before = partition.find(chunk.chunk.chunk_id, sequence);
            if (before != kNoRow && now < partition.facts(before).expires) ++replaced;
            partition.upsert(std::move(chunk), sequence);
        }
        return replaced;
    });
}

Result<std::uint64_t> ExactIndex::update(const std::string& namespace_,
                                         std::span<const MetadataUpdate> updates, Version version,
                                         Sequence sequence) {
    return write(namespace_, [&](Partition& partition) {
        std::uint64_t written = 0;
        for (const MetadataUpdate& update : updates) {
            const Row row = partition.find(update.chunk_id, sequence);
            if (row == kNoRow) continue;
            Chunk chunk = partition.chunk(row);
            index::apply_update(update, chunk);
            chunk.version = version;
            if (searches_metadata_) {
                const PreparedText text = index::count_terms(chunk, schema_, analyzer_);
                partition.update(row, std::move(chunk), &text, sequence);
            } else {
                partition.update(row, std::move(chunk), nullptr, sequence);
            }
            ++written;
        }
        return written;
    });
}

Result<std::uint64_t> ExactIndex::remove(const std::string& namespace_,
                                         std::span<const std::string> ids, Sequence sequence) {
    return write(namespace_, [&](Partition& partition) {
        std::uint64_t removed = 0;
        for (const std::string& id : ids) {
            if (partition.remove(id, sequence)) ++removed;
        }
        return removed;
    });
}

Result<std::uint64_t> ExactIndex::drop(const std::string& namespace_, Sequence sequence) {
    return write(namespace_, [&](Partition& partition) { return partition.remove_all(sequence); });
}

void ExactIndex::settle(Sequence oldest) {
    constexpr std::size_t few_rows = 1024;
    for (const std::string& namespace_ : changed_) {
        std::shared_ptr<Partition>& partition = partitions_.find(namespace_)->second;
        // Only newly dead ones: those that a snapshot keeps alive must not make every write copy
        // the rows again.
        const std::size_t dead = partition->newly_dead();
        if (dead < few_rows || dead * 2 < partition->rows()) continue;
        auto smaller = partition->without_dead(oldest);
        const std::unique_lock lock(mutex_);
        partition.swap(smaller);
    }
    changed_.clear();
}

std::shared_ptr<const Partition> ExactIndex::partition(const std::string& namespace_) const {
    const std::shared_lock lock(mutex_);
    const auto found = partitions_.find(namespace_);
    return found == partitions_.end() ? empty_ : found->second;
}

Result<std::unique_ptr<index::View>> ExactIndex::view(const index::ViewOf& of) const {
    return ExactView::create(partition(of.namespace_), analyzer_, of);
}

std::vector<std::string> ExactIndex::namespaces() const {
    const std::shared_lock lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, partition] : partitions_) names.push_back(name);
    return names;
}

std::unique_ptr<index::Check> ExactIndex::check(const std::string& namespace_, Sequence at,
                                                std::size_t dimension,
                                                core::Findings& findings) const {
    /// Looks the partition up each time: another may have replaced it.
    class Checking final : public index::Check {
    public:
        Checking(const ExactIndex& of, const std::string& name, Sequence sequence,
                 std::size_t vector_dimension, core::Findings& into)
            : index_(of),
              namespace_name_(name),
              check_(of.schema_, vector_dimension, name, sequence, into) {}
        void compare(const PreparedChunk& expected) override {
            check_.compare(*index_.partition(namespace_name_), expected);
        }
        Result<> finish(const CallLimits& limits) override {
            return check_.finish(*index_.partition(namespace_name_), limits);
        }

    private:
        const ExactIndex& index_;
        std::string namespace_name_;
        IndexCheck check_;
    };
    return std::make_unique<Checking>(*this, namespace_, at, dimension, findings);
}

}  // namespace braid::exact
