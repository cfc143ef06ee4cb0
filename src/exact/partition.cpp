#include "braid/exact/partition.hpp"

#include <utility>

#include "braid/docs/chunk_codec.hpp"

namespace braid::exact {

std::string_view field_text(const Chunk& chunk, const std::string& field) {
    if (field == "content") return chunk.content;
    if (field == "title") return chunk.title ? std::string_view(*chunk.title) : "";
    if (field == "section_title") {
        return chunk.section_title ? std::string_view(*chunk.section_title) : "";
    }
    const Value* value = find_path(chunk.metadata, std::string_view(field).substr(9));
    return value != nullptr && value->is_string() ? std::string_view(value->as_string()) : "";
}

bool Partition::upsert(PreparedChunk prepared, Sequence sequence) {
    const bool replaced = remove(prepared.chunk.chunk_id, sequence);
    const auto row = static_cast<Row>(facts_.size());
    RowFacts facts;
    facts.born = sequence;
    facts.length = weighted_length(prepared.field_lengths);
    facts.label = labels_.intern(label_of(prepared.chunk, *schema_));
    if (const std::vector<float> vector = std::exchange(prepared.chunk.vector, {});
        !vector.empty()) {
        facts.vector = static_cast<Row>(vector_owners_.size());
        add_vector(vector, row);
    }
    postings_.add(row, prepared.frequencies);
    publish(facts, std::make_shared<const Chunk>(std::move(prepared.chunk)),
            prepared.field_lengths);
    live_bytes_ += stored_bytes(row);
    return replaced;
}

void Partition::add_vector(std::span<const float> vector, Row row) {
    if (!vectors_owner_) {
        vectors_owner_ = std::make_unique<dense::ExactRows>(vector.size(), schema_->vectors.metric);
        vectors_.store(vectors_owner_.get(), std::memory_order_release);
    }
    vector_owners_.push_back(row);  // before the vector: who sees that looks for its owner
    vectors_owner_->add(vector);
}

void Partition::publish(const RowFacts& facts, std::shared_ptr<const Chunk> chunk,
                        std::span<const std::uint32_t> lengths) {
    const auto row = static_cast<Row>(facts_.size());
    const Chunk& kept = *chunk;
    const auto before = latest_.find(kept.chunk_id);
    previous_.push_back(before == latest_.end() ? kNoRow : before->second);
    field_lengths_.push_row(lengths);
    chunks_.push_back(std::move(chunk));
    facts_.push_back(facts);
    const std::scoped_lock lock(maps_mutex_);
    latest_.insert_or_assign(kept.chunk_id, row);
    documents_[kept.document_id].push_back(row);
}

bool Partition::remove(const std::string& chunk_id, Sequence sequence) {
    const auto found = latest_.find(chunk_id);
    if (found == latest_.end()) return false;
    std::atomic<Sequence>& died = facts_[found->second].died;
    if (died.load(std::memory_order_relaxed) != kAlive) return false;
    died.store(sequence, std::memory_order_relaxed);
    live_bytes_ -= stored_bytes(found->second);
    ++dead_;
    return true;
}

std::uint64_t Partition::stored_bytes(Row row) const {
    const bool has_vector = facts_[row].vector != kNoRow;
    return docs::chunk_bytes(*chunks_[row]) + (has_vector ? vectors()->dimension() * 4 : 0);
}

double Partition::weighted_length(std::span<const std::uint32_t> lengths) const noexcept {
    double length = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        length += schema_->text_fields[i].weight * static_cast<double>(lengths[i]);
    }
    return length;
}

Chunk Partition::chunk_with_vector(Row row) const {
    Chunk chunk = *chunks_[row];
    if (facts_[row].vector != kNoRow) {
        const auto vector = vectors()->row(facts_[row].vector);
        chunk.vector.assign(vector.begin(), vector.end());
    }
    return chunk;
}

Row Partition::find(const std::string& chunk_id, Sequence at) const {
    Row row = kNoRow;
    {
        const std::scoped_lock lock(maps_mutex_);
        const auto found = latest_.find(chunk_id);
        if (found != latest_.end()) row = found->second;
    }
    while (row != kNoRow && facts_[row].born > at) row = previous_[row];
    return row != kNoRow && facts_[row].visible(at) ? row : kNoRow;
}

std::vector<Row> Partition::rows_of_document(const std::string& document_id) const {
    const std::scoped_lock lock(maps_mutex_);
    const auto found = documents_.find(document_id);
    return found == documents_.end() ? std::vector<Row>() : found->second;
}

std::shared_ptr<Partition> Partition::compacted(Sequence oldest) const {
    auto kept = std::make_shared<Partition>(*schema_);
    std::vector<Row> renumbered(rows(), kNoRow);
    for (Row row = 0; row < renumbered.size(); ++row) {
        RowFacts facts = facts_[row];
        const Sequence died = facts.died.load(std::memory_order_relaxed);
        if (died <= oldest) continue;
        const auto fresh = static_cast<Row>(kept->rows());
        renumbered[row] = fresh;
        if (died != kAlive) ++kept->dead_;
        facts.label = kept->labels_.intern(labels_[facts.label]);
        if (facts.vector != kNoRow) {
            const auto vector = vectors()->row(facts.vector);
            facts.vector = static_cast<Row>(kept->vector_owners_.size());
            kept->add_vector(vector, fresh);
        }
        kept->publish(facts, chunks_[row], field_lengths(row));
    }
    kept->live_bytes_ = live_bytes_;
    kept->dead_kept_ = kept->dead_;
    kept->postings_.add_renumbered(postings_, renumbered);
    return kept;
}

}  // namespace braid::exact
