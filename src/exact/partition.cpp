#include "braid/exact/partition.hpp"

#include <utility>

#include "braid/docs/chunk_codec.hpp"

namespace braid::exact {

Partition::Partition(const Schema& schema)
    : schema_(&schema),
      field_lengths_(schema.text_fields.size()),
      columns_([this](std::size_t row) -> const Chunk& { return *chunks_[row]; },
               schema.levels.default_level) {
    for (const TextField& field : schema.text_fields) weights_.push_back(field.weight);
}

bool Partition::upsert(PreparedChunk prepared, Sequence sequence) {
    const bool replaced = remove(prepared.chunk.chunk_id, sequence);
    const Row row = row_at(facts_.size());
    const PreparedText& text = prepared.text;
    RowFacts facts;
    facts.born = sequence;
    facts.length = index::weighted_length(*schema_, text.field_lengths);
    facts.label = labels_.intern(label_of(prepared.chunk, *schema_));
    if (prepared.chunk.expires_at) facts.expires = *prepared.chunk.expires_at;
    facts.vector = add_vector(std::exchange(prepared.chunk.vector, {}), row);
    postings_.add(static_cast<std::uint32_t>(row), text.terms);
    publish(facts, std::make_shared<const Chunk>(std::move(prepared.chunk)), text.field_lengths,
            shared_positions(text));
    live_bytes_ += stored_bytes(row);
    return replaced;
}

void Partition::update(Row row, Chunk chunk, const PreparedText* text, Sequence sequence) {
    remove(chunk.chunk_id, sequence);
    const Row fresh = row_at(facts_.size());
    RowFacts facts = this->facts(row);
    facts.born = sequence;
    facts.died.store(kAlive, std::memory_order_relaxed);
    facts.label = labels_.intern(label_of(chunk, *schema_));
    if (chunk.expires_at) facts.expires = *chunk.expires_at;
    if (facts.vector != kNoVector) {
        facts.vector = add_vector(vectors()->row(index_of(facts.vector)), fresh);
    }
    const auto before = field_lengths(row);
    std::vector<std::uint32_t> lengths(before.begin(), before.end());
    Positions positions = schema_->positions ? positions_[index_of(row)] : nullptr;
    if (text != nullptr) {
        lengths = text->field_lengths;
        facts.length = index::weighted_length(*schema_, lengths);
        positions = shared_positions(*text);
        postings_.add(static_cast<std::uint32_t>(fresh), text->terms);
    } else {
        postings_.add_copy(static_cast<std::uint32_t>(fresh), static_cast<std::uint32_t>(row));
    }
    publish(facts, std::make_shared<const Chunk>(std::move(chunk)), lengths, std::move(positions));
    live_bytes_ += stored_bytes(fresh);
}

Partition::Positions Partition::shared_positions(const PreparedText& text) const {
    if (!schema_->positions) return nullptr;
    return std::make_shared<const std::vector<std::uint32_t>>(text.positions);
}

VectorRow Partition::add_vector(std::span<const float> vector, Row row) {
    if (vector.empty()) return kNoVector;
    if (!vectors_owner_) {
        vectors_owner_ = std::make_unique<dense::ExactRows>(vector.size(), schema_->vectors.metric);
        vectors_.store(vectors_owner_.get(), std::memory_order_release);
    }
    const auto number = static_cast<VectorRow>(vector_owners_.size());
    vector_owners_.push_back(row);  // before the vector: whoever sees that looks for its owner
    vectors_owner_->add(vector);
    return number;
}

void Partition::publish(const RowFacts& facts, std::shared_ptr<const Chunk> chunk,
                        std::span<const std::uint32_t> lengths, Positions positions) {
    const Row row = row_at(facts_.size());
    const Chunk& kept = *chunk;
    const auto before = latest_.find(kept.chunk_id);
    previous_.push_back(before == latest_.end() ? kNoRow : before->second);
    field_lengths_.push_row(lengths);
    if (schema_->positions) positions_.push_back(std::move(positions));
    chunks_.push_back(std::move(chunk));
    facts_.push_back(facts);
    const std::scoped_lock lock(maps_mutex_);
    latest_.insert_or_assign(kept.chunk_id, row);
    documents_[kept.document_id].push_back(row);
}

bool Partition::remove(const std::string& chunk_id, Sequence sequence) {
    const auto found = latest_.find(chunk_id);
    if (found == latest_.end()) return false;
    std::atomic<Sequence>& died = facts_[index_of(found->second)].died;
    if (died.load(std::memory_order_relaxed) != kAlive) return false;
    died.store(sequence, std::memory_order_relaxed);
    live_bytes_ -= stored_bytes(found->second);
    ++dead_;
    return true;
}

std::uint64_t Partition::remove_all(Sequence sequence) {
    std::uint64_t removed = 0;
    for (const auto& [id, row] : latest_) {
        if (remove(id, sequence)) ++removed;
    }
    return removed;
}

std::uint64_t Partition::stored_bytes(Row row) const {
    const bool has_vector = facts(row).vector != kNoVector;
    return docs::chunk_bytes(chunk(row)) + (has_vector ? vectors()->dimension() * 4 : 0);
}

Chunk Partition::chunk_with_vector(Row row) const {
    Chunk copy = chunk(row);
    if (facts(row).vector != kNoVector) {
        const auto vector = vectors()->row(index_of(facts(row).vector));
        copy.vector.assign(vector.begin(), vector.end());
    }
    return copy;
}

Row Partition::find(const std::string& chunk_id, Sequence at) const {
    Row row = kNoRow;
    {
        const std::scoped_lock lock(maps_mutex_);
        const auto found = latest_.find(chunk_id);
        if (found != latest_.end()) row = found->second;
    }
    while (row != kNoRow && facts(row).born > at) row = previous_[index_of(row)];
    return row != kNoRow && facts(row).visible(at) ? row : kNoRow;
}

std::vector<Row> Partition::rows_of_document(const std::string& document_id) const {
    const std::scoped_lock lock(maps_mutex_);
    const auto found = documents_.find(document_id);
    return found == documents_.end() ? std::vector<Row>() : found->second;
}

std::shared_ptr<Partition> Partition::without_dead(Sequence oldest) const {
    auto kept = std::make_shared<Partition>(*schema_);
    std::vector<std::uint32_t> renumbered(rows(), static_cast<std::uint32_t>(kNoRow));
    for (std::size_t i = 0; i < renumbered.size(); ++i) {
        const Row row = row_at(i);
        RowFacts copy = facts(row);
        const Sequence died = copy.died.load(std::memory_order_relaxed);
        if (died <= oldest) continue;
        const Row fresh = row_at(kept->rows());
        renumbered[i] = static_cast<std::uint32_t>(fresh);
        if (died != kAlive) ++kept->dead_;
        copy.label = kept->labels_.intern(labels_[copy.label]);
        if (copy.vector != kNoVector) {
            copy.vector = kept->add_vector(vectors()->row(index_of(copy.vector)), fresh);
        }
        kept->publish(copy, chunks_[i], field_lengths(row),
                      schema_->positions ? positions_[i] : nullptr);
    }
    kept->live_bytes_ = live_bytes_;
    kept->dead_kept_ = kept->dead_;
    kept->postings_.add_renumbered(postings_, renumbered);
    return kept;
}

}  // namespace braid::exact
