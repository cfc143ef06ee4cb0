#include "braid/local/partition.hpp"

#include <algorithm>

#include "braid/docs/chunk_codec.hpp"

namespace braid::local {

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
    RowFacts facts{.born = sequence, .length = weighted_length(prepared.field_lengths)};
    facts.label = intern_label(prepared.chunk);
    std::vector<float>& vector = prepared.chunk.vector;
    if (!vector.empty()) {
        if (!vectors_) {
            vectors_ = std::make_unique<dense::ExactRows>(vector.size(), schema_->vectors.metric);
        }
        facts.vector = static_cast<Row>(vectors_->size());
        vectors_->add(vector);
        vector_owners_.push_back(row);
        vector = {};
    }
    postings_.add(row, prepared.frequencies);
    field_lengths_.insert(field_lengths_.end(), prepared.field_lengths.begin(),
                          prepared.field_lengths.end());
    facts_.push_back(facts);
    chunks_.push_back(std::move(prepared.chunk));
    link(row);
    live_bytes_ += stored_bytes(row);
    return replaced;
}

bool Partition::remove(const std::string& chunk_id, Sequence sequence) {
    const auto found = latest_.find(chunk_id);
    if (found == latest_.end() || facts_[found->second].died != kAlive) return false;
    facts_[found->second].died = sequence;
    live_bytes_ -= stored_bytes(found->second);
    ++dead_;
    return true;
}

std::uint64_t Partition::stored_bytes(Row row) const {
    const bool has_vector = facts_[row].vector != kNoRow;
    return docs::chunk_bytes(chunks_[row]) + (has_vector ? vectors_->dimension() * 4 : 0);
}

double Partition::weighted_length(std::span<const std::uint32_t> lengths) const noexcept {
    double length = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        length += schema_->text_fields[i].weight * static_cast<double>(lengths[i]);
    }
    return length;
}

void Partition::link(Row row) {
    const Chunk& chunk = chunks_[row];
    const auto [found, inserted] = latest_.try_emplace(chunk.chunk_id, row);
    previous_.push_back(inserted ? kNoRow : std::exchange(found->second, row));
    documents_[chunk.document_id].push_back(row);
}

Label label_of(const Chunk& chunk, const Schema& schema) {
    const auto& names = schema.levels.names;
    const std::string& level = chunk.sensitivity ? *chunk.sensitivity : schema.levels.default_level;
    Label label;
    label.level = static_cast<std::size_t>(std::ranges::find(names, level) - names.begin());
    label.scopes = chunk.visibility_scope;
    std::ranges::sort(label.scopes);
    const auto repeated = std::ranges::unique(label.scopes);
    label.scopes.erase(repeated.begin(), repeated.end());
    return label;
}

std::uint32_t Partition::intern_label(const Chunk& chunk) {
    Label label = label_of(chunk, *schema_);
    const auto found = std::ranges::find(labels_, label);
    const auto index = static_cast<std::uint32_t>(found - labels_.begin());
    if (found == labels_.end()) labels_.push_back(std::move(label));
    return index;
}

Chunk Partition::chunk_with_vector(Row row) const {
    Chunk chunk = chunks_[row];
    if (facts_[row].vector != kNoRow) {
        const auto vector = vectors_->row(facts_[row].vector);
        chunk.vector.assign(vector.begin(), vector.end());
    }
    return chunk;
}

Row Partition::find(const std::string& chunk_id, Sequence at) const noexcept {
    const auto found = latest_.find(chunk_id);
    if (found == latest_.end()) return kNoRow;
    Row row = found->second;
    while (row != kNoRow && facts_[row].born > at) row = previous_[row];
    return row != kNoRow && facts_[row].visible(at) ? row : kNoRow;
}

const std::vector<Row>& Partition::rows_of_document(const std::string& document_id) const noexcept {
    static const std::vector<Row> kNone;
    const auto found = documents_.find(document_id);
    return found == documents_.end() ? kNone : found->second;
}

void Partition::compact(Sequence oldest) {
    Partition kept(*schema_);
    std::vector<Row> renumbered(rows(), kNoRow);
    for (Row row = 0; row < rows(); ++row) {
        RowFacts facts = facts_[row];
        if (facts.died <= oldest) continue;
        const auto fresh = static_cast<Row>(kept.rows());
        renumbered[row] = fresh;
        if (facts.died != kAlive) ++kept.dead_;
        if (facts.vector != kNoRow) {
            if (!kept.vectors_) {
                kept.vectors_ = std::make_unique<dense::ExactRows>(vectors_->dimension(),
                                                                   schema_->vectors.metric);
            }
            const auto vector = vectors_->row(facts.vector);
            facts.vector = static_cast<Row>(kept.vectors_->size());
            kept.vectors_->add(vector);
            kept.vector_owners_.push_back(fresh);
        }
        kept.facts_.push_back(facts);
        const auto lengths = field_lengths(row);
        kept.field_lengths_.insert(kept.field_lengths_.end(), lengths.begin(), lengths.end());
        kept.chunks_.push_back(std::move(chunks_[row]));
        kept.link(fresh);
    }
    kept.live_bytes_ = live_bytes_;
    kept.dead_kept_ = kept.dead_;
    kept.labels_ = std::move(labels_);
    kept.postings_ = std::move(postings_);
    kept.postings_.renumber(renumbered);
    *this = std::move(kept);
}

}  // namespace braid::local
