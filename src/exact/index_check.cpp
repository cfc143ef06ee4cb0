#include "braid/exact/index_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "braid/core/limits.hpp"

namespace braid::exact {
namespace {

/// What a vector scores with itself, compared on its own.
double self_score(const dense::ExactRows& rows, std::size_t index, const std::vector<float>& vector,
                  Metric metric) {
    std::array<double, 1> score{};
    rows.score(vector, metric == Metric::Cosine ? dense::norm(vector) : 0, index, score);
    return score.front();
}

/// Whether the list has the count of that field, exactly once.
bool holds(const sparse::PostingList& list, Row row, const sparse::TermCount& count) {
    const auto number = static_cast<std::uint32_t>(row);
    std::size_t found = 0;
    for (auto posting = list.find(number);
         posting != sparse::PostingList::end() && posting->row == number; ++posting) {
        if (posting->field != count.field) continue;
        if (posting->count != count.count) return false;
        ++found;
    }
    return found == 1;
}

}  // namespace

IndexCheck::IndexCheck(const Schema& schema, std::size_t dimension, std::string namespace_,
                       Sequence at, core::Findings& findings)
    : schema_(schema),
      dimension_(dimension),
      space_(std::move(namespace_)),
      at_(at),
      findings_(findings) {}

void IndexCheck::Totals::add(const Chunk& chunk, const Label& label,
                             std::span<const std::uint32_t> field_lengths) {
    ++chunks;
    documents.insert(chunk.document_id);
    LabelTotals& totals = labels[{label.level, label.scopes}];
    ++totals.chunks;
    totals.terms.resize(field_lengths.size());
    for (std::size_t i = 0; i < field_lengths.size(); ++i) totals.terms[i] += field_lengths[i];
}

void IndexCheck::problem(const Chunk& chunk, const std::string& message) {
    findings_.problem("namespace \"" + space_ + "\", chunk \"" + chunk.chunk_id + "\": " + message);
}

void IndexCheck::compare(const Partition& partition, const PreparedChunk& expected) {
    const Chunk& chunk = expected.chunk;
    const Label label = label_of(chunk, schema_);
    if (label.level >= schema_.levels.names.size()) {
        problem(chunk, "its level \"" + chunk.sensitivity.value_or("") +
                           "\" is not one of the collection's");
    }
    check_vector(chunk);
    expected_.add(chunk, label, expected.text.field_lengths);
    expected_.postings += expected.text.terms.size();
    if (!chunk.vector.empty()) ++expected_.vectors;

    const Row row = partition.find(chunk.chunk_id, at_);
    if (row == kNoRow) {
        problem(chunk, "it is in the log but not in the index");
        return;
    }
    const RowFacts& facts = partition.facts(row);
    if (facts.label >= partition.labels().size() || partition.labels()[facts.label] != label) {
        problem(chunk, "the index and the log differ in its access label");
    }
    if (std::ranges::count(partition.rows_of_document(chunk.document_id), row) != 1) {
        problem(chunk, "the index does not list it under its document");
    }
    compare_words(partition, expected, row);
    compare_vector(partition, chunk, row);
}

void IndexCheck::compare_words(const Partition& partition, const PreparedChunk& expected, Row row) {
    const auto& lengths = expected.text.field_lengths;
    if (!std::ranges::equal(partition.field_lengths(row), lengths) ||
        partition.facts(row).length != index::weighted_length(schema_, lengths)) {
        problem(expected.chunk, "the index has the wrong length for its text");
    }
    for (const sparse::TermCount& one : expected.text.terms) {
        if (holds(partition.postings().find(one.term), row, one)) continue;
        problem(expected.chunk,
                "the index of words does not match its text, first at \"" + one.term + "\"");
        return;
    }
}

void IndexCheck::check_vector(const Chunk& chunk) {
    const std::vector<float>& vector = chunk.vector;
    if (vector.empty() == schema_.vectors.has_vectors()) {
        problem(chunk, vector.empty() ? "it has no vector" : "it has a vector but should not");
        return;
    }
    if (vector.empty()) return;
    if (vector.size() != dimension_) {
        problem(chunk, "its vector has " + std::to_string(vector.size()) +
                           " dimensions, but the collection has " + std::to_string(dimension_));
    }
    if (!std::ranges::all_of(vector, [](float x) { return std::isfinite(x); })) {
        problem(chunk, "its vector holds a value that is not a finite number");
    }
}

void IndexCheck::compare_vector(const Partition& partition, const Chunk& chunk, Row row) {
    const VectorRow held = partition.facts(row).vector;
    const dense::ExactRows* const vectors = partition.vectors();
    if ((held == kNoVector) != chunk.vector.empty()) {
        problem(chunk, held == kNoVector ? "the index of vectors does not hold it"
                                         : "the index has a vector for it, but the log has none");
        return;
    }
    if (held != kNoVector && (vectors == nullptr || index_of(held) >= vectors->size() ||
                              partition.row_of_vector(index_of(held)) != row)) {
        problem(chunk, "the index of vectors does not lead back to it");
        return;
    }
    if (partition.chunk_with_vector(row) != chunk) {
        problem(chunk, "it differs between memory and the log");
        return;
    }
    if (held == kNoVector) return;
    dense::ExactRows alone(chunk.vector.size(), schema_.vectors.metric);
    alone.add(chunk.vector);
    const double expected = self_score(alone, 0, chunk.vector, schema_.vectors.metric);
    if (self_score(*vectors, index_of(held), chunk.vector, schema_.vectors.metric) != expected) {
        problem(chunk, "the index of vectors scores it wrongly");
    }
}

Result<IndexCheck::Totals> IndexCheck::totals_of(const Partition& partition,
                                                 const CallLimits& limits) {
    Totals totals;
    core::StepCounter steps;
    for (std::size_t i = 0; i < partition.rows(); ++i) {
        if (steps.due()) BRAID_CHECK(core::check_limits(limits));
        const Row row = row_at(i);
        const RowFacts& facts = partition.facts(row);
        if (!facts.visible(at_)) continue;
        const Label label =
            facts.label < partition.labels().size() ? partition.labels()[facts.label] : Label{};
        totals.add(partition.chunk(row), label, partition.field_lengths(row));
    }
    const std::size_t vectors = partition.vectors() != nullptr ? partition.vectors()->size() : 0;
    for (std::size_t i = 0; i < vectors; ++i) {
        const Row owner = partition.row_of_vector(i);
        if (index_of(owner) < partition.rows() && partition.facts(owner).visible(at_))
            ++totals.vectors;
    }
    for (const auto& [term, list] : partition.postings()) {
        const sparse::Posting* before = nullptr;
        for (const sparse::Posting& posting : list) {
            if (steps.due()) BRAID_CHECK(core::check_limits(limits));
            const bool in_order = before == nullptr || std::tie(before->row, before->field) <
                                                           std::tie(posting.row, posting.field);
            const std::size_t rows = partition.rows();  // one more may be in the making
            if (!in_order || posting.row > rows) {
                findings_.problem("namespace \"" + space_ +
                                  "\": the index of words is out of order at \"" + term + "\"");
                break;
            }
            before = &posting;
            if (posting.row < rows && partition.facts(Row{posting.row}).visible(at_)) {
                ++totals.postings;
            }
        }
    }
    return totals;
}

void IndexCheck::compare_totals(const Totals& kept) {
    const auto differ = [&](std::string_view what, std::uint64_t in_index, std::uint64_t in_log) {
        if (in_index == in_log) return;
        findings_.problem("namespace \"" + space_ + "\": the index holds " +
                          std::to_string(in_index) + " " + std::string(what) +
                          ", but the log says " + std::to_string(in_log));
    };
    differ("chunks", kept.chunks, expected_.chunks);
    differ("documents", kept.documents.size(), expected_.documents.size());
    differ("vectors", kept.vectors, expected_.vectors);
    differ("postings", kept.postings, expected_.postings);
    if (kept.labels != expected_.labels) {
        findings_.problem("namespace \"" + space_ +
                          "\": the statistics per access label are not those of the log");
    }
}

Result<> IndexCheck::finish(const Partition& partition, const CallLimits& limits) {
    BRAID_TRY(const Totals kept, totals_of(partition, limits));
    compare_totals(kept);
    return {};
}

}  // namespace braid::exact
