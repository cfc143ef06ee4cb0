#include "braid/sparse/facts_writer.hpp"

#include <algorithm>

namespace braid::sparse {

Result<> FactsWriter::add(std::uint32_t label, const FieldCounts& lengths) {
    if (labels_.size() >= kMaxRows) {
        return invalid_argument("an index holds at most 2^31 - 1 rows");
    }
    labels_.push_back(label);
    for (std::size_t f = 0; f < header_.fields; ++f) {
        lengths_.push_back(lengths[f]);
        header_.total_lengths[f] += lengths[f];
    }
    totals_.push_back(total_of(lengths.data(), header_.fields));
    return {};
}

Result<> FactsWriter::write() {
    header_.rows = static_cast<std::uint32_t>(labels_.size());
    classify_lengths();
    BRAID_CHECK(write_lengths());
    return write_labels();
}

void FactsWriter::classify_lengths() {
    LengthClasses& classes = header_.classes;
    std::vector<std::uint32_t> sorted = totals_;
    std::ranges::sort(sorted);
    for (std::uint64_t c = 1; c < kLengthClasses && !sorted.empty(); ++c) {
        classes.first[c] = sorted[c * sorted.size() / kLengthClasses];
    }
    classes_.reserve(header_.rows);
    std::array<bool, kLengthClasses> seen{};
    for (std::uint32_t row = 0; row < header_.rows; ++row) {
        const std::uint32_t c = classes.class_of(totals_[row]);
        classes_.push_back(static_cast<std::uint8_t>(c));
        for (std::size_t f = 0; f < header_.fields; ++f) {
            std::uint32_t& smallest = classes.smallest[c][f];
            smallest = seen[c] ? std::min(smallest, lengths_of(row)[f]) : lengths_of(row)[f];
        }
        seen[c] = true;
    }
}

Result<> FactsWriter::write_lengths() {
    BRAID_CHECK(sink_.begin(kLengthsSection));
    for (std::size_t f = 0; f < header_.fields; ++f) {
        std::uint32_t largest = 0;
        for (std::uint32_t row = 0; row < header_.rows; ++row) {
            largest = std::max(largest, lengths_of(row)[f]);
        }
        const std::uint32_t width = header_.length_widths[f] = width_of(largest);
        Bytes bytes;
        for (std::uint32_t row = 0; row < header_.rows; ++row) {
            put_narrow(bytes, width, lengths_of(row)[f]);
        }
        bytes.resize((bytes.size() + 63) / 64 * 64);
        BRAID_CHECK(sink_.write(raw(bytes)));
    }
    BRAID_CHECK(sink_.begin(kClassesSection));
    return sink_.write(raw(classes_));
}

Result<> FactsWriter::write_labels() {
    std::vector<std::uint32_t> distinct = labels_;
    std::ranges::sort(distinct);
    distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
    const std::size_t fields = header_.fields;
    std::vector<std::uint32_t> rows(distinct.size());
    std::vector<std::uint64_t> totals(distinct.size() * fields);
    if (distinct.size() > 1) label_numbers_.reserve(labels_.size());
    for (std::uint32_t row = 0; row < header_.rows; ++row) {
        const auto found = std::ranges::lower_bound(distinct, labels_[row]);
        const auto number = static_cast<std::size_t>(found - distinct.begin());
        ++rows[number];
        for (std::size_t f = 0; f < fields; ++f) totals[number * fields + f] += lengths_of(row)[f];
        if (distinct.size() > 1) label_numbers_.push_back(static_cast<std::uint32_t>(number));
    }
    header_.labels = static_cast<std::uint32_t>(distinct.size());
    header_.label_width = distinct.size() > 1 ? width_of(header_.labels - 1) : 0;
    Bytes bytes;
    for (std::size_t number = 0; number < distinct.size(); ++number) {
        put(bytes, distinct[number]);
        put(bytes, rows[number]);
        for (std::size_t f = 0; f < fields; ++f) put(bytes, totals[number * fields + f]);
    }
    for (const std::uint32_t number : label_numbers_)
        put_narrow(bytes, header_.label_width, number);
    BRAID_CHECK(sink_.begin(kLabelsSection));
    return sink_.write(raw(bytes));
}

}  // namespace braid::sparse
