#include "braid/docs/merge_order.hpp"

#include <limits>
#include <string>
#include <string_view>

#include "braid/docs/documents_format.hpp"
#include "braid/docs/merged_streams.hpp"

namespace braid::docs {
namespace {

/// The ids of the rows that stay.
class StayingIds {
public:
    explicit StayingIds(const MergeInput& input)
        : staying_(input.staying), ids_(input.documents->chunk_ids()) {}

    Result<bool> next() {
        while (true) {
            BRAID_TRY(const bool more, ids_.next());
            if (!more) return false;
            if (staying_ == nullptr || has_bit(*staying_, ids_.number())) return true;
        }
    }
    bool is_less(const StayingIds& other) const noexcept { return text() < other.text(); }
    std::string_view text() const noexcept { return ids_.text(); }
    std::uint64_t row() const noexcept { return ids_.number(); }

private:
    const Bits* staying_;
    StringStream ids_;
};

}  // namespace

Result<MergeOrder> MergeOrder::create(std::span<const MergeInput> inputs) {
    if (inputs.size() > std::numeric_limits<std::uint16_t>::max()) {
        return invalid_argument("more inputs than can be merged at once");
    }
    MergeOrder order;
    std::vector<StayingIds> ids;
    for (const MergeInput& input : inputs) {
        order.numbers_.emplace_back(input.documents->rows(), kLeftOut);
        ids.emplace_back(input);
    }
    BRAID_CHECK(merge_streams(
        ids, [&](const StayingIds& first, std::span<const std::size_t> holders) -> Result<> {
            if (holders.size() > 1) {
                return invalid_argument("merge: two rows have the id \"" +
                                        std::string(first.text()) + "\"");
            }
            if (order.inputs_.size() >= kMaxRows - 1) {
                return invalid_argument("a segment cannot hold more rows");
            }
            const std::size_t input = holders.front();
            order.numbers_[input][first.row()] = order.rows();
            order.inputs_.push_back(static_cast<std::uint16_t>(input));
            return {};
        }));
    return order;
}

}  // namespace braid::docs
