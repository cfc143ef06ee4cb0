#include "braid/sparse/index_builder.hpp"

#include <algorithm>

namespace braid::sparse {

/// The rows of a builder, their terms numbered in byte order.
class BuiltRows final : public RowSource {
public:
    explicit BuiltRows(const IndexBuilder& builder) : builder_(builder) {
        sorted_.reserve(builder.numbers_.size());
        for (const auto& entry : builder.numbers_) sorted_.push_back(&entry);
        std::ranges::sort(sorted_, {},
                          [](const auto* entry) { return std::string_view(entry->first); });
        places_.resize(sorted_.size());
        for (std::uint32_t place = 0; place < sorted_.size(); ++place) {
            places_[sorted_[place]->second] = place;
        }
    }

    std::uint32_t fields() const noexcept override { return builder_.fields_; }
    std::uint32_t terms() const noexcept override {
        return static_cast<std::uint32_t>(sorted_.size());
    }

    Result<> each_row(const std::function<Result<>(const SourceRow&)>& visit) const override {
        SourceRow out;
        std::uint64_t begin = 0;
        for (const auto& row : builder_.rows_) {
            out.label = row.label;
            out.lengths = row.lengths;
            out.terms.clear();
            out.counts.clear();
            const std::span bytes(builder_.forward_.data() + begin, row.end - begin);
            ForwardCursor cursor(bytes, builder_.fields_, builder_.fields_ - 1);
            while (cursor.next()) {
                out.terms.push_back(places_[cursor.term()]);
                FieldCounts& counts = out.counts.emplace_back();
                for (std::uint32_t f = 0; f < builder_.fields_; ++f) counts[f] = cursor.count(f);
            }
            BRAID_CHECK(visit(out));
            begin = row.end;
        }
        return {};
    }

    Result<> each_term(const std::function<Result<>(std::string_view)>& visit) const override {
        for (const auto* entry : sorted_) BRAID_CHECK(visit(entry->first));
        return {};
    }

private:
    const IndexBuilder& builder_;
    std::vector<const std::pair<const std::string, std::uint32_t>*> sorted_;
    std::vector<std::uint32_t> places_;
};

Result<> IndexBuilder::add(std::uint32_t label, std::span<const std::uint32_t> lengths,
                           std::span<const TermCounts> terms) {
    if (lengths.size() != fields_) {
        return invalid_argument("a row has " + std::to_string(lengths.size()) +
                                " lengths, the index " + std::to_string(fields_) + " fields");
    }
    if (rows_.size() >= kMaxRows) return invalid_argument("an index holds 2^31 - 1 rows");
    for (const TermCounts& term : terms) {
        if (term.term.size() > kMaxIndexTermBytes) {
            return invalid_argument("a term of " + std::to_string(term.term.size()) + " bytes; " +
                                    std::to_string(kMaxIndexTermBytes) + " are the most");
        }
        if (std::ranges::count(std::span(term.counts).first(fields_), 0U) == fields_) {
            return invalid_argument("term \"" + std::string(term.term) + "\" occurs nowhere");
        }
    }
    entries_.clear();
    for (const TermCounts& term : terms) {
        auto found = numbers_.find(term.term);
        if (found == numbers_.end()) {
            const auto number = static_cast<std::uint32_t>(numbers_.size());
            found = numbers_.emplace(std::string(term.term), number).first;
            term_bytes_ += term.term.size();
        }
        entries_.emplace_back(found->second, &term);
    }
    std::ranges::sort(entries_);
    for (std::size_t i = 1; i < entries_.size(); ++i) {
        if (entries_[i].first == entries_[i - 1].first) {
            return invalid_argument("term \"" + std::string(entries_[i].second->term) +
                                    "\" is given twice");
        }
    }
    ForwardWriter writer(forward_, fields_, fields_ - 1);
    for (const auto& [number, term] : entries_) writer.add(number, term->counts.data());
    BuiltRow row{.label = label, .end = forward_.size()};
    std::ranges::copy(lengths, row.lengths.begin());
    rows_.push_back(row);
    return {};
}

std::uint64_t IndexBuilder::memory_bytes() const noexcept {
    constexpr std::uint64_t kPerTerm = 72;  // node and bucket of the map
    return forward_.capacity() + rows_.capacity() * sizeof(BuiltRow) + term_bytes_ +
           numbers_.size() * kPerTerm;
}

Result<> IndexBuilder::finish(store::SectionSink& sink, const WriteOptions& options) const {
    return write_index(BuiltRows(*this), options, sink);
}

}  // namespace braid::sparse
