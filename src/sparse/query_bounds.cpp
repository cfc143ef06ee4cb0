#include "braid/sparse/query_bounds.hpp"

#include <algorithm>

namespace braid::sparse {
namespace {

constexpr double kMostByte = 254;

}  // namespace

Result<QueryBounds> QueryBounds::create(const IndexReader& reader, const RowScorer& scorer) {
    QueryBounds bounds;
    bounds.bm25_ = scorer.bm25();
    bounds.factor_ = bounds.bm25_.variant == Bm25Variant::Okapi ? bounds.bm25_.k1 + 1 : 1;
    bounds.make_norms(reader.header(), scorer);
    bounds.terms_.reserve(scorer.terms().size());
    for (const FoundTerm& found : scorer.terms()) {
        if (found.weight > 0) BRAID_CHECK(bounds.add_term(reader, scorer, found));
    }
    std::ranges::sort(bounds.terms_, {}, &BoundedTerm::bound);
    double sum = 0;
    bounds.sums_.push_back(0);
    for (const BoundedTerm& term : bounds.terms_) bounds.sums_.push_back(sum += term.bound);
    // Each byte is rounded up by at most 1, so the sum of all stays below 256.
    bounds.scale_ = sum > 0 ? (254 - static_cast<double>(bounds.terms_.size())) / sum : 0;
    if (bounds.usable()) bounds.make_bytes(scorer.facts());
    return bounds;
}

void QueryBounds::make_bytes(const RowFacts& facts) {
    run_bytes_.resize(run_rows_.size());
    column_bounds_.clear();
    tables_.resize(terms_.size());
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        BoundedTerm& term = terms_[i];
        term.table = static_cast<std::uint32_t>(i);
        if (term.list.form == ListView::Form::Column) {
            make_column_bounds(term);
        } else {
            make_tables(term, facts);
        }
    }
}

bool QueryBounds::rescale(double threshold, const RowFacts& facts) {
    constexpr double kMostSum = 230;  // what a threshold maps to, with room above it
    constexpr double kWorthIt = 1.5;
    if (!(sums_.back() > 0) || !usable()) return false;
    const double safe = (254 - static_cast<double>(terms_.size())) / sums_.back();
    const double finer = threshold > 0 ? kMostSum / threshold : 0;
    const bool saturates = std::isnormal(finer) && finer > kWorthIt * safe;
    if (!saturates && !saturates_) return false;
    saturates_ = saturates;
    scale_ = saturates ? finer : safe;
    make_bytes(facts);
    return true;
}

void QueryBounds::make_norms(const IndexHeader& header, const RowScorer& scorer) {
    const auto weights = scorer.field_weights();
    const double lightest = *std::ranges::min_element(weights);
    double smallest = 0;
    for (std::uint32_t c = kLengthClasses; c-- > 0;) {
        double by_field = 0;
        for (std::size_t f = 0; f < weights.size(); ++f) {
            by_field += weights[f] * static_cast<double>(header.classes.smallest[c][f]);
        }
        const double by_total = lightest * static_cast<double>(header.classes.first[c]);
        const double norm =
            length_norm(bm25_, std::max(by_field, by_total), scorer.average_length());
        // Monotone over the classes, so that the first class of a term bounds the others.
        smallest = c + 1 == kLengthClasses ? norm : std::min(smallest, norm);
        constexpr double kMost = 1e38;  // fits a float
        norms_[c] = static_cast<float>(std::min(smallest / kInflate, kMost));
    }
}

double QueryBounds::saturation_bound(double tf, std::uint32_t length_class) const noexcept {
    return tf > 0 ? factor_ * tf / (tf + static_cast<double>(norms_[length_class])) : 0;
}

Result<> QueryBounds::add_term(const IndexReader& reader, const RowScorer& scorer,
                               const FoundTerm& found) {
    BRAID_TRY(ListView list, reader.list(found.entry));
    BoundedTerm& term = terms_.emplace_back();
    term.list = list;
    term.weight = found.weight;
    if (list.form != ListView::Form::Column) list_rows_ += list.entry.df;
    if (list.form == ListView::Form::Single || list.form == ListView::Form::Run) {
        read_run(term, reader, scorer.facts());
    }
    const auto weights = scorer.field_weights();
    for (std::size_t f = 0; f < weights.size(); ++f) {
        const bool held = (term.list.header.fields >> f & 1U) != 0;
        if (held) term.tf_weight = std::max(term.tf_weight, weights[f]);
    }
    for (std::uint32_t tf = 1; tf <= kTopTf; ++tf) {
        const std::uint32_t smallest = term.list.header.classes[tf - 1];
        if (smallest >= kLengthClasses) continue;
        const std::uint32_t most = tf == kTopTf ? term.list.header.max_tf : tf;
        const double bound = saturation_bound(term.tf_weight * most, smallest);
        term.bound = std::max(term.bound, term.weight * bound * kInflate);
    }
    if (!(term.bound > 0)) terms_.pop_back();
    return {};
}

/// Decodes the few rows of a term, to make up for the header it lacks.
void QueryBounds::read_run(BoundedTerm& term, const IndexReader& reader, const RowFacts& facts) {
    ListHeader& header = term.list.header;
    header.fields = 0xFF;
    term.run_begin = static_cast<std::uint32_t>(run_rows_.size());
    for (ListCursor cursor(term.list, reader.rows()); cursor.row() != ListCursor::kEnd;
         cursor.next()) {
        const std::uint32_t tf = std::min(cursor.tf(), kMostRunTf);
        if (tf == 0) continue;
        run_rows_.push_back(cursor.row());
        run_tfs_.push_back(static_cast<std::uint8_t>(tf));
        header.max_tf = std::max(header.max_tf, tf == kMostRunTf ? 0xFFFFFFFF : tf);
        header.add_row(tf, facts.length_class(cursor.row()));
    }
    term.run_end = static_cast<std::uint32_t>(run_rows_.size());
}

void QueryBounds::make_tables(BoundedTerm& term, const RowFacts& facts) {
    const auto top = static_cast<float>(std::min(term.bound * scale_, kMostByte));
    const auto weight = static_cast<float>(term.weight * factor_ * scale_ * kInflate);
    ByteTables& tables = tables_[term.table];
    tables.by_code.fill(0);
    tables.by_nibble.fill(0);
    const std::uint32_t max_tf = term.list.header.max_tf;
    for (std::uint32_t tf = 1; tf <= std::min(kTopTf, max_tf); ++tf) {
        const auto weighted = static_cast<float>(term.tf_weight * (tf == kTopTf ? max_tf : tf));
        std::uint8_t* row = tables.by_code.data() + std::size_t{tf} * kLengthClasses;
        for (std::uint32_t c = 0; c < kLengthClasses; ++c) {
            const float bound = weight * (weighted / (weighted + norms_[c]));
            // Written so that NaN counts as the largest value.
            row[c] = static_cast<std::uint8_t>(static_cast<int>(bound < top ? bound : top) + 1);
        }
    }
    for (std::uint32_t i = term.run_begin; i < term.run_end; ++i) {
        run_bytes_[i] =
            tables.by_code[RowCode(run_tfs_[i], facts.length_class(run_rows_[i])).bits()];
    }
}

void QueryBounds::make_column_bounds(BoundedTerm& term) {
    ByteTables& tables = tables_[term.table];
    tables.by_code.fill(0);
    tables.by_nibble.fill(0);
    term.column = static_cast<std::uint32_t>(column_bounds_.size());
    ColumnBounds& bounds = column_bounds_.emplace_back();
    bounds.fill(0);
    const auto top = static_cast<float>(term.bound * scale_ * kInflate);
    const auto weight = static_cast<float>(term.weight * factor_ * scale_ * kInflate * kInflate);
    for (std::uint32_t tf = 1; tf <= kTopNibble; ++tf) {
        const std::uint32_t most = tf == kTopNibble ? term.list.header.max_tf : tf;
        const auto weighted = static_cast<float>(term.tf_weight * most);
        float* row = bounds.data() + std::size_t{tf} * kLengthClasses;
        for (std::uint32_t c = 0; c < kLengthClasses; ++c) {
            const float bound = weight * (weighted / (weighted + norms_[c]));
            row[c] = bound < top ? bound : top;
        }
        const std::uint32_t smallest = term.list.header.classes[std::min(tf, kTopTf) - 1];
        if (smallest >= kLengthClasses) continue;
        const float byte = std::min(row[smallest], static_cast<float>(kMostByte));
        tables.by_nibble[tf] = static_cast<std::uint8_t>(static_cast<int>(byte) + 1);
    }
}

std::array<float, kRowCodes> QueryBounds::saturations(const BoundedTerm& term) const noexcept {
    std::array<float, kRowCodes> all{};
    for (std::uint32_t tf = 1; tf <= kTopTf; ++tf) {
        const std::uint32_t most = tf == kTopTf ? term.list.header.max_tf : tf;
        for (std::uint32_t c = 0; c < kLengthClasses; ++c) {
            const double bound = saturation_bound(term.tf_weight * most, c);
            all[RowCode(tf, c).bits()] = static_cast<float>(bound * kInflate * kInflate);
        }
    }
    return all;
}

QueryBounds QueryBounds::counting() const {
    QueryBounds copy = *this;
    std::ranges::fill(copy.run_bytes_, std::uint8_t{1});
    for (ByteTables& tables : copy.tables_) {
        std::ranges::fill(std::span(tables.by_code).subspan(kLengthClasses), std::uint8_t{1});
        std::ranges::fill(std::span(tables.by_nibble).subspan(1), std::uint8_t{1});
    }
    return copy;
}

}  // namespace braid::sparse
