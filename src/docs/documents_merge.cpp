#include "braid/docs/documents_merge.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "braid/docs/chunk_codec.hpp"
#include "braid/docs/documents_format.hpp"
#include "braid/docs/merged_streams.hpp"
#include "braid/docs/packed_ints.hpp"
#include "braid/docs/string_table.hpp"

namespace braid::docs {
namespace {

/// Documents of one input that keep some row, in id order.
class StayingDocuments {
public:
    StayingDocuments(const StringTable& ids, std::vector<std::uint32_t>& numbers)
        : ids_(ids), numbers_(&numbers) {}

    Result<bool> next() {
        while (true) {
            BRAID_TRY(const bool more, ids_.next());
            if (!more) return false;
            if ((*numbers_)[ids_.number()] != kLeftOut) return true;
        }
    }
    bool is_less(const StayingDocuments& other) const noexcept { return text() < other.text(); }
    std::string_view text() const noexcept { return ids_.text(); }
    void set_number(std::uint32_t number) { (*numbers_)[ids_.number()] = number; }

private:
    StringStream ids_;
    std::vector<std::uint32_t>* numbers_;
};

class DocumentsMerge {
public:
    DocumentsMerge(std::span<const MergeInput> inputs, const MergeOrder& order,
                   store::SectionSink& sink, const std::string& prefix, const std::stop_token& stop)
        : inputs_(inputs), order_(order), sink_(sink), prefix_(prefix), stop_(stop) {}

    Result<> write_rows(const DocumentsOptions& options);
    Result<> write_ids();
    Result<> write_documents();
    Result<> write_numbers();

    MergedDocuments take() { return std::move(merged_); }

private:
    std::string name(std::string_view part) const { return prefix_ + std::string(part); }
    Result<> go_on() {
        if (++steps_ % 256 != 0 || !stop_.stop_requested()) return {};
        return fail(ErrorCode::Cancelled, "writing a segment was stopped");
    }
    Result<> number_documents(std::vector<std::uint32_t>& document_of);
    Result<> write_order(std::vector<std::uint32_t> document_of);
    Result<> write_created();
    Result<> write_expiring();
    /// The number that `numbers_of` finds for every row in its input.
    template <class NumbersOf, class Seen>
    Result<> copy(std::string_view section, const NumbersOf& numbers_of, const Seen& seen);
    Result<> write(std::string_view section, const PackedRange& range, const auto& each);

    std::span<const MergeInput> inputs_;
    const MergeOrder& order_;
    store::SectionSink& sink_;
    const std::string& prefix_;
    const std::stop_token& stop_;
    std::uint64_t steps_ = 0;
    MergedDocuments merged_;

    std::vector<std::int64_t> indices_;  // of rows that have an index
    Bits has_index_;
    std::uint32_t documents_ = 0;
};

Result<> DocumentsMerge::write(std::string_view section, const PackedRange& range,
                               const auto& each) {
    store::ByteWriter out;
    PackedWriter packed(out, range);
    BRAID_CHECK(each(packed));
    packed.finish();
    BRAID_CHECK(sink_.begin(name(section)));
    return sink_.write(out.view());
}

Result<> DocumentsMerge::write_rows(const DocumentsOptions& options) {
    indices_.resize(order_.rows());
    has_index_ = make_bits(order_.rows());
    BlocksWriter blocks(sink_, prefix_, options);
    std::vector<RowStream> rows;
    for (const MergeInput& input : inputs_) rows.emplace_back(*input.documents);
    std::size_t next = 0;
    const auto write_row = [&](std::size_t input, std::uint32_t row) -> Result<> {
        BRAID_CHECK(go_on());
        BRAID_TRY(const auto stored, rows[input].at(row));
        store::ByteReader in(stored, "a stored chunk");
        BRAID_TRY(const auto index, read_chunk_index(in));
        if (index) {
            indices_[next] = *index;
            set_bit(has_index_, next);
        }
        ++next;
        return blocks.add(stored);
    };
    BRAID_CHECK(order_.each(write_row));
    return blocks.finish();
}

Result<> DocumentsMerge::write_ids() {
    StringTableWriter ids;
    const auto each = [&](const auto& visit) -> Result<> {
        std::vector<StringStream> streams;
        for (const MergeInput& input : inputs_) streams.emplace_back(input.documents->chunk_ids());
        return order_.each([&](std::size_t input, std::uint32_t row) -> Result<> {
            BRAID_CHECK(go_on());
            StringStream& stream = streams[input];
            do {
                BRAID_TRY(const bool more, stream.next());
                if (!more) return fail(ErrorCode::Corruption, "a segment has too few ids");
            } while (stream.number() != row);
            return visit(stream.text());
        });
    };
    BRAID_CHECK(each([&](std::string_view id) { return ids.measure(id); }));
    BRAID_CHECK(sink_.begin(name(kIdsSection)));
    BRAID_CHECK(ids.begin(sink_));
    BRAID_CHECK(each([&](std::string_view id) { return ids.write(sink_, id); }));
    return ids.finish(sink_);
}

Result<> DocumentsMerge::write_documents() {
    std::vector<std::uint32_t> document_of;
    BRAID_CHECK(number_documents(document_of));
    PackedRange range;
    for (const std::uint32_t document : document_of) range.add(document);
    BRAID_CHECK(write(kDocumentOfSection, range, [&](PackedWriter& packed) -> Result<> {
        for (const std::uint32_t document : document_of) packed.add(document);
        return {};
    }));
    return write_order(std::move(document_of));
}

/// Writes the ids of all documents that keep a row.
Result<> DocumentsMerge::number_documents(std::vector<std::uint32_t>& document_of) {
    std::vector<std::vector<std::uint32_t>> numbers;  // by input and document
    std::vector<PackedStream> documents;
    for (const MergeInput& input : inputs_) {
        numbers.emplace_back(input.documents->documents(), kLeftOut);
        documents.emplace_back(input.documents->document_of());
    }
    document_of.reserve(order_.rows());
    BRAID_CHECK(order_.each([&](std::size_t input, std::uint32_t row) -> Result<> {
        BRAID_TRY(const std::uint64_t document, documents[input].at(row));
        if (document >= numbers[input].size()) {
            return fail(ErrorCode::Corruption, "a row has a document that does not exist");
        }
        numbers[input][document] = 0;
        document_of.push_back(static_cast<std::uint32_t>(document));
        return {};
    }));

    StringTableWriter ids;
    const auto each = [&](const auto& visit) -> Result<> {
        std::vector<StayingDocuments> streams;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            streams.emplace_back(inputs_[i].documents->document_ids(), numbers[i]);
        }
        std::uint32_t number = 0;
        return merge_streams(streams, [&](const StayingDocuments& first, const auto& holders) {
            for (const std::size_t holder : holders) streams[holder].set_number(number);
            ++number;
            return visit(first.text());
        });
    };
    BRAID_CHECK(each([&](std::string_view id) { return ids.measure(id); }));
    BRAID_CHECK(sink_.begin(name(kDocumentsSection)));
    BRAID_CHECK(ids.begin(sink_));
    BRAID_CHECK(each([&](std::string_view id) { return ids.write(sink_, id); }));
    BRAID_CHECK(ids.finish(sink_));
    documents_ = static_cast<std::uint32_t>(ids.size());

    std::size_t next = 0;
    return order_.each([&](std::size_t input, std::uint32_t) -> Result<> {
        std::uint32_t& document = document_of[next++];
        document = numbers[input][document];
        return {};
    });
}

/// The rows of each document, in order of their indices; those without one come last.
Result<> DocumentsMerge::write_order(std::vector<std::uint32_t> document_of) {
    std::vector<std::uint32_t> places(documents_ + std::size_t{1});  // where each begins
    for (const std::uint32_t document : document_of) ++places[document + std::size_t{1}];
    std::partial_sum(places.begin(), places.end(), places.begin());
    PackedRange range;
    for (const std::uint32_t start : places) range.add(start);
    BRAID_CHECK(write(kStartsSection, range, [&](PackedWriter& packed) -> Result<> {
        for (const std::uint32_t start : places) packed.add(start);
        return {};
    }));

    // From here on, the places are where the part filled so far ends.
    std::vector<std::uint32_t> rows(order_.rows());
    for (std::uint32_t row = 0; row < rows.size(); ++row) rows[places[document_of[row]]++] = row;
    document_of = {};
    for (std::size_t document = 0, begin = 0; document < documents_; ++document) {
        const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = rows.begin() + static_cast<std::ptrdiff_t>(places[document]);
        std::ranges::sort(first, last, {}, [&](std::uint32_t row) {
            return std::tuple(!has_bit(has_index_, row), indices_[row], row);
        });
        begin = places[document];
    }
    indices_ = {};
    range = {};
    for (const std::uint32_t row : rows) range.add(row);
    return write(kOrderSection, range, [&](PackedWriter& packed) -> Result<> {
        for (const std::uint32_t row : rows) packed.add(row);
        return {};
    });
}

template <class NumbersOf, class Seen>
Result<> DocumentsMerge::copy(std::string_view section, const NumbersOf& numbers_of,
                              const Seen& seen) {
    const auto each = [&](const auto& visit) -> Result<> {
        std::vector<PackedStream> streams;
        for (const MergeInput& input : inputs_) streams.emplace_back(numbers_of(*input.documents));
        return order_.each([&](std::size_t input, std::uint32_t row) -> Result<> {
            BRAID_TRY(const std::uint64_t number, streams[input].at(row));
            visit(number);
            return {};
        });
    };
    PackedRange range;
    BRAID_CHECK(each([&](std::uint64_t number) {
        range.add(number);
        seen(number);
    }));
    return write(section, range, [&](PackedWriter& packed) {
        return each([&](std::uint64_t number) { packed.add(number); });
    });
}

Result<> DocumentsMerge::write_numbers() {
    const auto nothing = [](std::uint64_t) {};
    BRAID_CHECK(write_created());
    BRAID_CHECK(copy(kVersionsSection, [](const auto& from) { return from.versions(); }, nothing));
    BRAID_CHECK(copy(
        kLabelsSection, [](const auto& from) { return from.labels(); },
        [&](std::uint64_t label) { merged_.labels.insert(static_cast<std::uint32_t>(label)); }));
    BRAID_CHECK(copy(kLengthsSection, [](const auto& from) { return from.lengths(); }, nothing));
    return write_expiring();
}

Result<> DocumentsMerge::write_created() {
    BRAID_CHECK(copy(
        kCreatedKnownSection, [](const auto& from) { return from.created_known(); },
        [](std::uint64_t) {}));
    const auto each = [&](const auto& visit) -> Result<> {
        std::vector<PackedStream> known;
        std::vector<PackedStream> times;
        for (const MergeInput& input : inputs_) {
            known.emplace_back(input.documents->created_known());
            times.emplace_back(input.documents->created_bits());
        }
        return order_.each([&](std::size_t input, std::uint32_t row) -> Result<> {
            BRAID_TRY(const std::uint64_t is_known, known[input].at(row));
            BRAID_TRY(const std::uint64_t time, times[input].at(row));
            visit(is_known != 0 ? std::optional(time) : std::nullopt);
            return {};
        });
    };
    // A row without a time gets one that costs no bits.
    std::uint64_t filling = ordered_bits(0);
    PackedRange range;
    BRAID_CHECK(each([&](const std::optional<std::uint64_t>& time) {
        if (!time) return;
        filling = *time;
        range.add(*time);
    }));
    if (range.count == 0 && order_.rows() > 0) range.add(filling);
    range.count = order_.rows();
    return write(kCreatedSection, range, [&](PackedWriter& packed) {
        return each(
            [&](const std::optional<std::uint64_t>& time) { packed.add(time.value_or(filling)); });
    });
}

Result<> DocumentsMerge::write_expiring() {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> expiring;  // when, and which row
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const DocumentsReader& documents = *inputs_[i].documents;
        const auto numbers = order_.numbers(i);
        for (std::uint64_t at = 0; at < documents.expiring_rows().size(); ++at) {
            BRAID_TRY(const std::uint64_t row, documents.expiring_rows().at(at));
            if (row >= numbers.size()) {
                return fail(ErrorCode::Corruption, "a row that expires does not exist");
            }
            if (numbers[row] == kLeftOut) continue;
            BRAID_TRY(const Timestamp time, documents.expiry(at));
            expiring.emplace_back(ordered_bits(time.micros), numbers[row]);
        }
    }
    merged_.expires = !expiring.empty();
    if (expiring.empty()) return {};
    std::ranges::sort(expiring);
    PackedRange times;
    PackedRange rows;
    for (const auto& [time, row] : expiring) {
        times.add(time);
        rows.add(row);
    }
    BRAID_CHECK(write(kExpiringRowsSection, rows, [&](PackedWriter& packed) -> Result<> {
        for (const auto& [time, row] : expiring) packed.add(row);
        return {};
    }));
    return write(kExpiriesSection, times, [&](PackedWriter& packed) -> Result<> {
        for (const auto& [time, row] : expiring) packed.add(time);
        return {};
    });
}

}  // namespace

Result<MergedDocuments> merge_documents(std::span<const MergeInput> inputs, const MergeOrder& order,
                                        const DocumentsOptions& options, store::SectionSink& sink,
                                        const std::string& prefix, const std::stop_token& stop) {
    DocumentsMerge merge(inputs, order, sink, prefix, stop);
    BRAID_CHECK(merge.write_rows(options));
    BRAID_CHECK(merge.write_ids());
    BRAID_CHECK(merge.write_documents());
    BRAID_CHECK(merge.write_numbers());
    return merge.take();
}

}  // namespace braid::docs
