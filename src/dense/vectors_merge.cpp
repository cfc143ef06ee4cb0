#include "braid/dense/vectors_merge.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "braid/dense/vectors_writer.hpp"

namespace braid::dense {
namespace {

constexpr std::uint64_t kGrown = 4;

Result<> check_input(const VectorsInput& input, const VectorsOptions& options) {
    const VectorsMeta& meta = input.reader->meta();
    if (meta.dimension != options.dimension || meta.metric != options.metric ||
        meta.precision != options.precision) {
        return invalid_argument("merge: vectors of another dimension, metric or precision");
    }
    if (input.numbers.size() != meta.count) {
        return invalid_argument("merge: " + std::to_string(input.numbers.size()) + " numbers for " +
                                std::to_string(meta.count) + " vectors");
    }
    return {};
}

/// The rows of several indexes in their new order.
class MergedRows final : public RowSource {
public:
    explicit MergedRows(std::span<const VectorsInput> inputs) : inputs_(inputs) {}

    /// Finds the place of every row.
    Result<> prepare() {
        std::uint64_t staying = 0;
        for (const VectorsInput& input : inputs_) {
            staying += input.numbers.size() -
                       static_cast<std::uint64_t>(std::ranges::count(input.numbers, kDroppedRow));
        }
        if (staying > kMaxVectors)
            return invalid_argument("merge: more vectors than one index holds");
        places_.assign(staying, Place{});
        for (std::size_t i = 0; i < inputs_.size(); ++i) BRAID_CHECK(place(i));
        return {};
    }

    std::uint64_t size() const noexcept override { return places_.size(); }
    Result<std::span<const std::byte>> row(std::uint64_t row) const override {
        return reader(row).vectors().stored_row(places_[row].row);
    }
    Result<double> norm(std::uint64_t row) const override {
        return reader(row).vectors().norm(places_[row].row);
    }
    Result<std::optional<Code>> code(std::uint64_t row, const Transform& by) const override {
        const auto transform = reader(row).transform();
        if (transform == nullptr || transform->id() != by.id()) return std::optional<Code>();
        BRAID_TRY(const Code code, reader(row).code(places_[row].row));
        return std::optional(code);
    }

private:
    struct Place {
        std::uint32_t input = kDroppedRow;
        std::uint32_t row = 0;
    };

    const VectorsReader& reader(std::uint64_t row) const noexcept {
        return *inputs_[places_[row].input].reader;
    }

    Result<> place(std::size_t input) {
        std::uint64_t least = 0;
        const auto numbers = inputs_[input].numbers;
        for (std::size_t row = 0; row < numbers.size(); ++row) {
            const std::uint32_t number = numbers[row];
            if (number == kDroppedRow) continue;
            if (number < least || number >= places_.size() ||
                places_[number].input != kDroppedRow) {
                return invalid_argument("merge: a row cannot become row " + std::to_string(number));
            }
            places_[number] = {static_cast<std::uint32_t>(input), static_cast<std::uint32_t>(row)};
            least = std::uint64_t{number} + 1;
        }
        return {};
    }

    std::span<const VectorsInput> inputs_;
    std::vector<Place> places_;
};

/// That of the largest input, or null if too much has been added since it was learned.
std::shared_ptr<const Transform> inherited(std::span<const VectorsInput> inputs,
                                           std::uint64_t rows) {
    const VectorsReader* largest = nullptr;
    for (const VectorsInput& input : inputs) {
        if (input.reader->transform() == nullptr) continue;
        if (largest == nullptr || input.reader->size() > largest->size()) largest = input.reader;
    }
    if (largest == nullptr) return nullptr;
    const std::uint64_t learned = largest->transform()->learned_from();
    if (rows >= kGrown * (learned == 0 ? largest->size() : learned)) return nullptr;
    return largest->transform();
}

}  // namespace

Result<> merge_vectors(std::span<const VectorsInput> inputs, const VectorsOptions& options,
                       store::SectionSink& sink, const BuildControl& control) {
    for (const VectorsInput& input : inputs) BRAID_CHECK(check_input(input, options));
    MergedRows rows(inputs);
    BRAID_CHECK(rows.prepare());
    std::shared_ptr<const Transform> transform;
    if (rows.size() > 0 && rows.size() >= options.codes_from) {
        transform = inherited(inputs, rows.size());
        if (transform == nullptr) {
            BRAID_TRY(transform, learn_transform(rows, options, control));
        }
    }
    if (transform != nullptr) BRAID_CHECK(transform->load());
    BRAID_CHECK(write_vectors(rows, options, transform.get(), sink, control));
    for (const VectorsInput& input : inputs) BRAID_CHECK(input.reader->intact());
    return {};
}

}  // namespace braid::dense
