#include "braid/remote/document.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <utility>

#include "braid/core/base64.hpp"
#include "braid/core/sha256.hpp"
#include "braid/docs/chunk_codec.hpp"
#include "braid/exact/labels.hpp"
#include "braid/index/prepared.hpp"
#include "braid/json/writer.hpp"
#include "braid/remote/answer_parts.hpp"
#include "braid/remote/facts.hpp"
#include "braid/remote/index_layout.hpp"
#include "braid/store/bytes.hpp"
#include "braid/vector_similarity.hpp"

namespace braid::remote {
namespace {

/// Each term once, with how often it counts: its number in each field times the field's weight.
std::string counted_terms(const index::PreparedText& text, const WholeWeights& weights) {
    std::map<std::string_view, std::uint64_t> counts;
    for (const auto& term : text.terms) {
        counts[term.term] +=
            std::uint64_t{term.count} * static_cast<std::uint64_t>(weights.weights[term.field]);
    }
    constexpr std::uint64_t kMost = 1'000'000'000;  // a cluster counts in 31 bits
    std::string out;
    for (const auto& [term, count] : counts) {
        out += term;
        out += '|' + std::to_string(std::min(count, kMost)) + ' ';
    }
    return out;
}

/// The terms of all text fields, position by position.
std::string placed_terms(const index::PreparedText& text, std::size_t fields) {
    std::vector<std::vector<std::string>> cells(fields);
    std::size_t at = 0;
    for (const auto& term : text.terms) {
        auto& of_field = cells[term.field];
        for (std::uint32_t i = 0; i < term.count; ++i) {
            const std::size_t position = text.positions[at++];
            // One that is there twice stands there once.
            if (i > 0 && position == text.positions[at - 2]) continue;
            if (of_field.size() <= position) of_field.resize(position + 1);
            std::string& cell = of_field[position];
            if (!cell.empty()) cell += kBesides;
            cell += placed_term(term.field, term.term);
        }
    }
    std::string out;
    for (const auto& of_field : cells) {
        for (const std::string& cell : of_field) {
            out += cell.empty() ? kGap : std::string_view(cell);
            out += ' ';
        }
    }
    return out;
}

std::vector<std::string> terms_of(const index::PreparedText& text) {
    std::vector<std::string> words;
    for (const auto& term : text.terms) {
        if (words.empty() || words.back() != term.term) words.push_back(term.term);
    }
    return words;
}

void write_texts(json::Writer& out, const std::vector<std::string>& texts) {
    out.begin_array();
    for (const std::string& text : texts) out.value(text);
    out.end_array();
}

}  // namespace

std::string document_key(std::string_view namespace_, std::string_view chunk_id) {
    std::string both(namespace_);
    both += '\0';
    both += chunk_id;
    return core::sha256_hex(std::as_bytes(std::span(both))).substr(0, 40);
}

std::vector<float> indexed_vector(std::span<const float> vector, Metric metric) {
    if (metric == Metric::Cosine) return normalize(vector);
    std::vector<float> bounded(vector.begin(), vector.end());
    constexpr float kMost = 1e15F;
    for (float& x : bounded) x = std::clamp(x, -kMost, kMost);
    return bounded;
}

void append_numbers(std::string& out, std::span<const float> vector) {
    out += '[';
    std::array<char, 32> digits{};
    for (std::size_t i = 0; i < vector.size(); ++i) {
        if (i > 0) out += ',';
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), vector[i]).ptr;
        out.append(digits.data(), end);
    }
    out += ']';
}

void append_document(std::string& out, const std::string& namespace_, const Chunk& chunk,
                     const DocumentForm& form) {
    const exact::Label label = exact::label_of(chunk, form.schema);
    const Facts facts = facts_of(chunk, form.schema);
    Schema with_positions = form.schema;
    with_positions.positions = true;
    const auto text = index::count_terms(chunk, with_positions, form.analyzer);
    store::ByteWriter bytes;
    Chunk without_vector = chunk;
    without_vector.vector.clear();
    docs::write_chunk(bytes, without_vector);

    json::Writer writer(out);
    writer.begin_object();
    writer.member("ns", namespace_);
    writer.member("id", chunk.chunk_id);
    writer.member("doc", chunk.document_id);
    if (chunk.chunk_index) writer.member("index", *chunk.chunk_index);
    writer.member("level", label.level);
    writer.name("scope");
    write_texts(writer, label.scopes.empty() ? std::vector<std::string>{""} : label.scopes);
    writer.name("facts");
    write_texts(writer, facts.words);
    writer.name("texts");
    write_texts(writer, facts.texts);
    writer.member("length", index::weighted_length(form.schema, text.field_lengths));
    writer.member("terms", counted_terms(text, form.weights));
    writer.member("places", placed_terms(text, form.schema.text_fields.size()));
    writer.name("words");
    write_texts(writer, terms_of(text));
    if (chunk.expires_at) writer.member("expires", chunk.expires_at->micros);
    writer.member("version", chunk.version);
    writer.member("chunk", core::encode_base64(bytes.view()));
    if (!chunk.vector.empty()) {
        writer.member("floats", core::floats_to_base64(chunk.vector));
        writer.name("vector");
        append_numbers(out, indexed_vector(chunk.vector, form.schema.vectors.metric));
    }
    writer.end_object();
    out += '\n';
}

void append_removal(std::string& out, Version version) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    json::Writer writer(out);
    writer.begin_object();
    writer.member("removed",
                  std::int64_t{std::chrono::duration_cast<std::chrono::milliseconds>(now).count()});
    writer.member("version", version);
    writer.end_object();
    out += '\n';
}

Result<std::vector<float>> read_vector(const Value& source) {
    const std::string* const floats = text_in(source, {"floats"});
    if (floats == nullptr) return std::vector<float>();
    auto decoded = core::floats_from_base64(*floats);
    if (!decoded) return fail(ErrorCode::Corruption, "a document's vector cannot be read");
    return *std::move(decoded);
}

Result<Chunk> read_document(const Value& source) {
    const std::string* const encoded = text_in(source, {"chunk"});
    const Value* const version = source.find("version");
    const auto bytes = encoded != nullptr ? core::decode_base64(*encoded) : std::nullopt;
    if (!bytes || version == nullptr || !version->is_int()) {
        return fail(ErrorCode::Corruption, "a document of the cluster is not a chunk");
    }
    store::ByteReader in(*bytes, "a document of the cluster");
    BRAID_TRY(Chunk chunk, docs::read_chunk(in));
    chunk.version = static_cast<Version>(version->as_int());
    BRAID_TRY(chunk.vector, read_vector(source));
    return chunk;
}

Result<StoredVersion> read_stored_version(const Value& document) {
    StoredVersion stored;
    const Value* const found = document.find("found");
    const Value* const source = document.find("_source");
    if (found == nullptr || !found->is_bool() || !found->as_bool() || source == nullptr) {
        return stored;
    }
    const Value* const sequence = document.find("_seq_no");
    const Value* const term = document.find("_primary_term");
    const Value* const version = source->find("version");
    if (sequence == nullptr || !sequence->is_int() || term == nullptr || !term->is_int() ||
        version == nullptr || !version->is_int()) {
        return fail(ErrorCode::Corruption, "a document of the cluster does not say its version");
    }
    stored.version = static_cast<Version>(version->as_int());
    stored.dependency = {.absent = false, .sequence = sequence->as_int(), .term = term->as_int()};
    return stored;
}

Result<StoredChunk> read_stored(const Value& document, Timestamp now) {
    StoredChunk stored;
    BRAID_TRY(static_cast<StoredVersion&>(stored), read_stored_version(document));
    const Value* const source = document.find("_source");
    if (stored.dependency.absent || source->find("removed") != nullptr) return stored;
    BRAID_TRY(stored.chunk, read_document(*source));
    if (stored.chunk->expires_at && *stored.chunk->expires_at <= now) stored.chunk.reset();
    return stored;
}

}  // namespace braid::remote
