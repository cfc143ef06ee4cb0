#include "braid/segment/segment_writer.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "braid/dense/vectors_merge.hpp"
#include "braid/docs/columns_builder.hpp"
#include "braid/docs/columns_merge.hpp"
#include "braid/docs/documents_builder.hpp"
#include "braid/docs/documents_merge.hpp"
#include "braid/docs/merge_order.hpp"
#include "braid/docs/packed_ints.hpp"
#include "braid/sparse/index_merge.hpp"
#include "braid/sparse/memory_index.hpp"
#include "braid/store/nested_sections.hpp"

namespace braid::segment {

static_assert(docs::kLeftOut == sparse::kDroppedRow && docs::kLeftOut == dense::kDroppedRow);

namespace {

/// Fewer vectors than this are searched exactly in no time; with a transform at hand, codes cost
/// little.
constexpr std::uint64_t kCodesFrom = 4096;
constexpr std::uint64_t kCodesFromWithTransform = 512;
/// Longer vectors are searched exactly: their transform would be larger than the vectors it speeds
/// up.
constexpr std::size_t kMaxCodedDimension = 4096;

Result<> go_on(const std::stop_token& stop) {
    if (!stop.stop_requested()) return {};
    return fail(ErrorCode::Cancelled, "writing a segment was stopped");
}

/// `coded`: a transform for the codes exists already.
dense::VectorsOptions vectors_options(const WriteSettings& settings, std::size_t dimension,
                                      bool coded) {
    dense::VectorsOptions options;
    options.dimension = dimension;
    options.metric = settings.schema.vectors.metric;
    options.precision = settings.schema.vectors.precision;
    options.codes_from = coded ? kCodesFromWithTransform : kCodesFrom;
    if (dimension > kMaxCodedDimension) options.codes_from = dense::kMaxVectors;
    return options;
}

sparse::WriteOptions words_options(const WriteSettings& settings) {
    sparse::WriteOptions options;
    options.column_bytes = std::min(options.column_bytes, settings.memory_bytes);
    options.sort_bytes = settings.memory_bytes;
    return options;
}

/// Documents, columns and vectors, row by row.
class RowsWriter {
public:
    RowsWriter(const WriteSettings& settings, store::SectionSink& sink,
               docs::DocumentsOptions documents)
        : settings_(settings), sink_(sink), documents_(sink, "", std::move(documents)) {}

    Result<> add(Chunk chunk, std::uint32_t label, std::uint32_t length,
                 std::span<const float> vector) {
        if (documents_.rows() % 256 == 0) BRAID_CHECK(go_on(settings_.stop));
        if (!vector.empty()) {
            if (!vectors_) BRAID_CHECK(begin_vectors(vector.size()));
            BRAID_CHECK(vectors_->add(vector));
            vector_rows_.push_back(documents_.rows());
        }
        labels_.insert(label);
        columns_.add(chunk);
        return documents_.add(std::move(chunk), label, length);
    }

    /// Everything but the words, and vectors that did not come with the rows. Fills in the meta.
    Result<> finish(const std::shared_ptr<const dense::Transform>& transform, PartMeta& meta,
                    SegmentMeta& segment) {
        meta.rows = documents_.rows();
        meta.vectors = vectors_ ? vectors_->size() : 0;
        meta.expires = documents_.expires();
        BRAID_CHECK(documents_.finish());
        BRAID_CHECK(columns_.finish(sink_, ""));
        if (!vectors_) return {};
        segment.dimension = dimension_;
        if (meta.vectors != meta.rows) {
            BRAID_CHECK(docs::write_packed(sink_, kVectorRowsSection, vector_rows_));
        }
        if (transform && dimension_ <= kMaxCodedDimension) BRAID_CHECK(vectors_->use(transform));
        return vectors_->write(sink_, {.stop = settings_.stop, .progress = {}});
    }

    /// Has to be decided before the first vector comes.
    void expect_transform(bool there) { has_transform_ = there; }
    const std::set<std::uint32_t>& labels() const noexcept { return labels_; }

private:
    Result<> begin_vectors(std::size_t dimension) {
        dimension_ = dimension;
        BRAID_TRY(vectors_, dense::VectorsBuilder::create(
                                vectors_options(settings_, dimension, has_transform_)));
        return {};
    }

    const WriteSettings& settings_;
    store::SectionSink& sink_;
    docs::DocumentsBuilder documents_;
    docs::ColumnsBuilder columns_;
    std::optional<dense::VectorsBuilder> vectors_;
    std::vector<std::uint64_t> vector_rows_;
    std::set<std::uint32_t> labels_;
    std::size_t dimension_ = 0;
    bool has_transform_ = false;
};

std::uint32_t total_of(std::span<const std::uint32_t> lengths) {
    return std::accumulate(lengths.begin(), lengths.end(), std::uint32_t{0});
}

Result<> write_part(const PartitionRows& from, const WriteSettings& settings,
                    const std::function<std::uint32_t(exact::Label)>& label_number,
                    store::SectionSink& outer, PartMeta& meta, SegmentMeta& segment,
                    std::set<std::uint32_t>& labels) {
    store::NestedSink sink(outer);
    // This segment is soon merged: learning a dictionary takes longer than compressing without one,
    // and without one higher levels gain nothing on such small blocks.
    RowsWriter rows(settings, sink, {.level = 1, .sample_bytes = 0});
    rows.expect_transform(from.transform != nullptr);
    std::vector<sparse::MemoryRow> words;
    const exact::Partition& partition = *from.partition;
    std::map<std::uint32_t, std::uint32_t> numbers;  // of labels: here, in all segments
    for (const exact::Row row : from.rows) {
        const exact::RowFacts& facts = partition.facts(row);
        const auto [known, is_new] = numbers.try_emplace(facts.label, 0);
        if (is_new) known->second = label_number(partition.labels()[facts.label]);
        const auto lengths = partition.field_lengths(row);
        auto& word_row = words.emplace_back();
        word_row.row = static_cast<std::uint32_t>(row);
        word_row.label = known->second;
        std::ranges::copy(lengths, word_row.lengths.begin());
        word_row.positions = partition.positions(row);
        std::span<const float> vector;
        if (facts.vector != exact::kNoVector) {
            vector = partition.vectors()->row(exact::index_of(facts.vector));
        }
        BRAID_CHECK(rows.add(partition.chunk(row), known->second, total_of(lengths), vector));
    }
    BRAID_CHECK(rows.finish(from.transform, meta, segment));
    const auto fields = static_cast<std::uint32_t>(settings.schema.text_fields.size());
    BRAID_CHECK(sparse::write_memory_index(partition.postings(), words, fields,
                                           settings.schema.positions, words_options(settings),
                                           sink));
    labels.insert(rows.labels().begin(), rows.labels().end());
    return sink.finish();
}

/// One input of a merged namespace.
struct Input {
    const Segment::Space* space = nullptr;
    std::shared_ptr<const Part> part;
    BitsPtr live;
    std::vector<std::uint32_t>* numbers = nullptr;
};

/// The vectors of the rows that stay, in row order. A vector's number is its row's, unless some
/// rows have none.
Result<> merge_vectors(const std::vector<Input>& inputs, const WriteSettings& settings,
                       store::SectionSink& sink, PartMeta& meta, SegmentMeta& segment) {
    std::vector<dense::VectorsInput> readers;
    std::vector<std::vector<std::uint32_t>> numbers;  // by input: new rows, then new vectors
    std::vector<std::uint64_t> rows;                  // those with a vector, by their new numbers
    bool coded = false;
    for (const Input& input : inputs) {
        const dense::VectorsReader* const vectors = input.part->vectors();
        if (vectors == nullptr) continue;
        readers.push_back({vectors, {}});
        auto& of_input = numbers.emplace_back();
        for (std::uint32_t v = 0; v < vectors->size(); ++v) {
            of_input.push_back((*input.numbers)[input.part->row_of_vector(v)]);
            if (of_input.back() != sparse::kDroppedRow) rows.push_back(of_input.back());
        }
        segment.dimension = vectors->meta().dimension;
        coded = coded || vectors->transform() != nullptr;
    }
    meta.vectors = rows.size();
    if (rows.empty()) return {};
    if (meta.vectors != meta.rows) {
        std::ranges::sort(rows);
        for (auto& of_input : numbers) {
            for (std::uint32_t& number : of_input) {
                if (number == sparse::kDroppedRow) continue;
                const auto place = std::ranges::lower_bound(rows, std::uint64_t{number});
                number = static_cast<std::uint32_t>(place - rows.begin());
            }
        }
        BRAID_CHECK(docs::write_packed(sink, kVectorRowsSection, rows));
    }
    for (std::size_t i = 0; i < readers.size(); ++i) readers[i].numbers = numbers[i];
    return dense::merge_vectors(readers, vectors_options(settings, segment.dimension, coded), sink,
                                {.stop = settings.stop, .progress = {}});
}

/// The dictionary of the largest input that has one: learning another takes longer than
/// compressing.
Result<docs::Bytes> learnt_dictionary(const std::vector<Input>& inputs) {
    std::uint64_t rows = 0;
    std::span<const std::byte> found;
    for (const Input& input : inputs) {
        BRAID_TRY(const auto dictionary, input.part->documents().dictionary());
        if (dictionary.empty() || input.part->rows() <= rows) continue;
        rows = input.part->rows();
        found = dictionary;
    }
    return docs::Bytes(found.begin(), found.end());
}

Result<> merge_part(std::vector<Input>& inputs, const WriteSettings& settings,
                    store::SectionSink& outer, PartMeta& meta, SegmentMeta& segment,
                    std::set<std::uint32_t>& labels) {
    store::NestedSink sink(outer);
    docs::DocumentsOptions documents;
    BRAID_TRY(documents.dictionary, learnt_dictionary(inputs));
    std::vector<docs::MergeInput> stored;
    for (const Input& input : inputs) {
        stored.push_back({&input.part->documents(), &input.part->columns(), input.live.get()});
    }
    {
        BRAID_TRY(docs::MergeOrder order, docs::MergeOrder::create(stored));
        meta.rows = order.rows();
        BRAID_TRY(const auto merged,
                  docs::merge_documents(stored, order, documents, sink, "", settings.stop));
        meta.expires = merged.expires;
        labels.insert(merged.labels.begin(), merged.labels.end());
        BRAID_CHECK(docs::merge_columns(stored, order, sink, "", settings.stop));
        for (std::size_t i = 0; i < inputs.size(); ++i) *inputs[i].numbers = order.take_numbers(i);
    }
    BRAID_CHECK(merge_vectors(inputs, settings, sink, meta, segment));
    std::vector<sparse::MergeInput> words;
    for (const Input& input : inputs) words.push_back({&input.part->words(), *input.numbers});
    BRAID_CHECK(sparse::merge_indexes(words, words_options(settings), sink));
    for (const Input& input : inputs) BRAID_CHECK(input.part->intact());
    return sink.finish();
}

}  // namespace

PartitionRows rows_at(const exact::Partition& partition, Sequence at) {
    PartitionRows found{.partition = &partition, .rows = {}};
    for (std::size_t i = 0; i < partition.rows(); ++i) {
        const exact::Row row = exact::row_at(i);
        if (partition.facts(row).visible(at)) found.rows.push_back(row);
    }
    std::ranges::sort(found.rows, {}, [&](exact::Row row) -> const std::string& {
        return partition.chunk(row).chunk_id;
    });
    return found;
}

Result<SegmentMeta> write_segment(const std::map<std::string, PartitionRows>& namespaces,
                                  const WriteSettings& settings,
                                  const std::function<std::uint32_t(exact::Label)>& label_number,
                                  store::SectionSink& sink) {
    SegmentMeta meta;
    std::map<std::uint32_t, exact::Label> named;
    const auto number = [&](exact::Label label) {
        const std::uint32_t known = label_number(label);
        named.emplace(known, std::move(label));
        return known;
    };
    std::set<std::uint32_t> labels;
    for (const auto& [name, rows] : namespaces) {
        if (rows.rows.empty()) continue;
        BRAID_CHECK(sink.begin(part_section(meta.parts.size())));
        PartMeta& part = meta.parts.emplace_back();
        part.namespace_ = name;
        BRAID_CHECK(write_part(rows, settings, number, sink, part, meta, labels));
    }
    for (auto& [known, label] : named) meta.labels.emplace_back(known, std::move(label));
    BRAID_CHECK(write_meta(meta, sink));
    return meta;
}

Result<Merged> merge_segments(std::span<const std::shared_ptr<Segment>> segments,
                              const std::set<std::string>& names, Sequence at, Timestamp now,
                              const WriteSettings& settings, store::SectionSink& sink) {
    Merged merged;
    std::map<std::string, std::vector<Input>> namespaces;
    std::map<std::uint32_t, exact::Label> known;
    for (const auto& segment : segments) {
        known.insert(segment->meta().labels.begin(), segment->meta().labels.end());
        for (const auto& space : segment->spaces()) {
            if (!names.contains(space->meta().namespace_)) continue;
            auto& numbers = merged.numbers[space.get()];
            numbers.assign(space->meta().rows, sparse::kDroppedRow);
            BRAID_TRY(const std::uint64_t dropped, space->dropped(at, now));
            if (dropped == space->meta().rows) continue;
            Input& input = namespaces[space->meta().namespace_].emplace_back();
            input.space = space.get();
            BRAID_TRY(input.part, space->part());
            BRAID_TRY(input.live, space->kept(at, now));
            input.numbers = &numbers;
        }
    }
    std::set<std::uint32_t> labels;
    for (auto& [name, inputs] : namespaces) {
        BRAID_CHECK(sink.begin(part_section(merged.meta.parts.size())));
        PartMeta& part = merged.meta.parts.emplace_back();
        part.namespace_ = name;
        BRAID_CHECK(merge_part(inputs, settings, sink, part, merged.meta, labels));
    }
    for (const std::uint32_t label : labels) {
        merged.meta.labels.emplace_back(label, std::move(known[label]));
    }
    BRAID_CHECK(write_meta(merged.meta, sink));
    return merged;
}

}  // namespace braid::segment
