#include <algorithm>
#include <array>
#include <functional>

#include "braid/core/limits.hpp"
#include "braid/segment/distinct.hpp"
#include "braid/segment/segment_view.hpp"

namespace braid::segment {
namespace {

/// The documents of a part with at least one row that counts.
class PartDocuments final : public Ascending {
public:
    static Result<AscendingPtr> create(const PartView& view, const BitsPtr& rows) {
        auto list = std::make_unique<PartDocuments>(view.part().documents());
        if (!rows) return list;
        list->shown_.assign(list->documents_->documents(), false);
        BRAID_CHECK(view.for_each(rows, [&](std::uint32_t row) -> Result<> {
            BRAID_TRY(const std::uint64_t document, list->documents_->document_of().at(row));
            if (document < list->shown_.size()) list->shown_[document] = true;
            return {};
        }));
        return list;
    }
    explicit PartDocuments(const docs::DocumentsReader& documents)
        : documents_(&documents), names_(documents.document_ids()) {}

    Result<bool> next() override {
        for (;;) {
            BRAID_TRY(const bool more, names_.next());
            if (!more || shown_.empty() || shown_[names_.number()]) return more;
        }
    }
    std::string_view text() const noexcept override { return names_.text(); }
    std::optional<std::uint64_t> size() const noexcept override {
        if (shown_.empty()) return documents_->documents();
        return static_cast<std::uint64_t>(std::ranges::count(shown_, true));
    }

private:
    const docs::DocumentsReader* documents_;
    docs::StringStream names_;
    std::vector<bool> shown_;  // empty: all
};

/// The terms of a part held by at least one row that counts.
class PartTerms final : public Ascending {
public:
    using Held = std::function<Result<bool>(const sparse::TermEntry&)>;
    /// `held` may be empty: all are held.
    PartTerms(const sparse::TermDictionary& dictionary, Held held)
        : dictionary_(&dictionary), terms_(dictionary), held_(std::move(held)) {}

    Result<bool> next() override {
        for (;;) {
            BRAID_TRY(const bool more, terms_.next());
            if (!more || !held_) return more;
            BRAID_TRY(const bool held, held_(terms_.entry()));
            if (held) return true;
        }
    }
    std::string_view text() const noexcept override { return terms_.term(); }
    std::optional<std::uint64_t> size() const noexcept override {
        return held_ ? std::nullopt : std::optional<std::uint64_t>(dictionary_->terms());
    }

private:
    const sparse::TermDictionary* dictionary_;
    sparse::TermStream terms_;
    Held held_;
};

/// By term number: whether one of the rows holds it.
Result<std::vector<bool>> terms_among(const PartView& view, const BitsPtr& rows) {
    const sparse::IndexReader& words = view.part().words();
    BRAID_TRY(const sparse::RowFacts facts, words.row_facts());
    std::vector<bool> held(words.dictionary().terms(), false);
    if (!facts.has_forward()) {
        sparse::TermStream terms(words.dictionary());
        for (;;) {
            BRAID_CHECK(view.check_limits());
            BRAID_TRY(const bool more, terms.next());
            if (!more) return held;
            BRAID_TRY(const sparse::ListView list, words.list(terms.entry()));
            for (sparse::ListCursor cursor(list, words.rows());
                 cursor.row() != sparse::ListCursor::kEnd && !held[terms.entry().id];
                 cursor.next()) {
                held[terms.entry().id] = !rows || docs::has_bit(*rows, cursor.row());
            }
        }
    }
    BRAID_CHECK(view.for_each(rows, [&](std::uint32_t row) -> Result<> {
        BRAID_TRY(sparse::ForwardCursor cursor, facts.terms(row));
        while (cursor.next()) {
            if (cursor.term() < held.size()) held[cursor.term()] = true;
        }
        return {};
    }));
    return held;
}

/// Terms of a buffer held by a row that counts. Borrowed.
Result<std::vector<std::string_view>> terms_among(const exact::Partition& partition,
                                                  const std::vector<bool>& rows,
                                                  const CallLimits& limits) {
    std::vector<std::string_view> terms;
    core::StepCounter steps;
    for (const auto& [term, list] : partition.postings()) {
        if (steps.due(list.size())) BRAID_CHECK(core::check_limits(limits));
        const bool held = std::ranges::any_of(list, [&](const sparse::Posting& posting) {
            return posting.row < rows.size() && rows[posting.row];
        });
        if (held) terms.push_back(term);
    }
    return terms;
}

}  // namespace

Result<index::View::Extent> SegmentView::extent_of(bool filtered) const {
    Extent extent;
    std::vector<AscendingPtr> documents;
    for (const BufferView& buffer : buffers_) {
        std::vector<std::string_view> names;
        exact::RowFilter filter(buffer.rows, filtered ? matcher_ : nullptr, limits_);
        BRAID_CHECK(filter.for_each([&](exact::Row row) {
            ++extent.chunks;
            names.push_back(buffer.partition->chunk(row).document_id);
        }));
        if (!names.empty()) documents.push_back(ascending(std::move(names)));
    }
    for (const PartView& view : parts_) {
        BRAID_TRY(const BitsPtr rows, rows_of(view, filtered));
        const std::uint64_t chunks = view.count(rows);
        if (chunks == 0) continue;
        extent.chunks += chunks;
        BRAID_TRY(documents.emplace_back(), PartDocuments::create(view, rows));
    }
    BRAID_TRY(extent.documents, count_distinct(std::move(documents), limits_));
    for (const PartView& view : parts_) BRAID_CHECK(view.part().intact());
    return extent;
}

Result<index::View::Extent> SegmentView::extent() const {
    return extent_of(false);
}

Result<std::uint64_t> SegmentView::count_terms() const {
    std::vector<AscendingPtr> lists;
    for (const BufferView& buffer : buffers_) {
        std::vector<bool> counted(buffer.rows.rows(), false);
        BRAID_CHECK(admitted(buffer).for_each(
            [&](exact::Row row) { counted[exact::index_of(row)] = true; }));
        BRAID_TRY(auto terms, terms_among(*buffer.partition, counted, limits_));
        if (!terms.empty()) lists.push_back(ascending(std::move(terms)));
    }
    for (const PartView& view : parts_) {
        BRAID_TRY(const BitsPtr rows, view.allowed());
        if (view.count(rows) == 0) continue;
        PartTerms::Held held;
        if (filter_ != nullptr) {
            BRAID_TRY(auto numbers, terms_among(view, rows));
            held = [numbers = std::move(numbers)](const sparse::TermEntry& entry) -> Result<bool> {
                return entry.id < numbers.size() && numbers[entry.id];
            };
        } else if (rows) {
            BRAID_TRY(auto statistics, view.statistics());
            held = [statistics](const sparse::TermEntry& entry) -> Result<bool> {
                BRAID_TRY(const std::uint64_t df, statistics.document_frequency(entry));
                return df > 0;
            };
        }
        lists.push_back(
            std::make_unique<PartTerms>(view.part().words().dictionary(), std::move(held)));
    }
    return count_distinct(std::move(lists), limits_);
}

Result<CollectionStats> SegmentView::stats() const {
    CollectionStats stats;
    BRAID_TRY(const Extent extent, extent_of(true));
    stats.chunks = extent.chunks;
    stats.documents = extent.documents;
    exact::LengthSum lengths(schema());
    for (const BufferView& buffer : buffers_) {
        const exact::Partition& partition = *buffer.partition;
        BRAID_CHECK(admitted(buffer).for_each([&](exact::Row row) {
            if (partition.facts(row).vector != exact::kNoVector) ++stats.vectors;
            lengths.add(partition.field_lengths(row));
        }));
    }
    for (const PartView& view : parts_) {
        const Part& part = view.part();
        BRAID_TRY(const BitsPtr rows, view.allowed());
        if (part.vectors() != nullptr) {
            const BitsPtr vectors = part.vectors_among(rows);
            stats.vectors += vectors ? view.count(vectors) : part.vectors()->size();
        }
        if (filter_ == nullptr) {
            BRAID_TRY(const sparse::IndexStatistics statistics, view.statistics());
            lengths.add(statistics.totals().total_lengths);
            continue;
        }
        BRAID_TRY(const sparse::RowFacts facts, part.words().row_facts());
        BRAID_CHECK(view.for_each(rows, [&](std::uint32_t row) -> Result<> {
            std::array<std::uint32_t, sparse::kMaxFields> of_row{};
            for (std::size_t f = 0; f < part.words().fields(); ++f) {
                of_row[f] = facts.length(row, f);
            }
            lengths.add(of_row);
            return {};
        }));
    }
    BRAID_TRY(stats.terms, count_terms());
    if (principal_.sees_everything()) stats.dense = index_.dense_stats(namespace_);
    if (stats.chunks > 0) {
        stats.average_length = lengths.weighted() / static_cast<double>(stats.chunks);
    }
    for (const PartView& view : parts_) BRAID_CHECK(view.part().intact());
    return stats;
}

}  // namespace braid::segment
