#include "braid/sparse/decoded_list.hpp"

namespace braid::sparse {
namespace {

constexpr std::uint32_t kWideGapBits = 12;

/// The distance from the row before, and how often; 0: no row.
struct Gap {
    std::uint32_t distance;
    std::uint32_t tf;
};

Gap gap_at(ListForm form, const std::uint8_t* entries, std::uint64_t count,
           std::uint64_t i) noexcept {
    if (form == ListForm::WideGaps) {
        const std::uint32_t bits = load<std::uint16_t>(entries, i);
        return {bits % (1U << kWideGapBits), bits >> kWideGapBits};
    }
    return {entries[i], (entries[count + i / 2] >> (i % 2 * 4)) & 15U};
}

}  // namespace

Result<> check_directory(const std::uint8_t* directory, std::uint32_t width,
                         std::uint64_t windows) {
    std::uint32_t before = 0;
    for (std::uint64_t w = 0; w <= windows; ++w) {
        const std::uint32_t first = load_narrow(directory, width, w);
        if (first < before) return corrupt_index("a directory goes backwards");
        before = first;
    }
    return {};
}

Result<std::shared_ptr<const DecodedList>> decode_list(
    ListForm form, std::span<const std::uint8_t> bytes,
    std::span<const std::uint8_t> length_classes) {
    if (form != ListForm::Gaps && form != ListForm::WideGaps) {
        return corrupt_index("a list has an unknown form");
    }
    const std::uint64_t windows = (length_classes.size() + kWindowRows - 1) / kWindowRows;
    const std::uint64_t need = 4 * (windows + 1);
    if (bytes.size() < need) return corrupt_index("a list ends within its directory");
    const std::uint64_t count = load<std::uint32_t>(bytes.data(), windows);
    const std::uint64_t entry_bytes =
        form == ListForm::WideGaps ? 2 * count : count + (count + 1) / 2;
    if (bytes.size() != need + entry_bytes) return corrupt_index("a list is cut off");
    BRAID_CHECK(check_directory(bytes.data(), 4, windows));
    auto list = std::make_shared<DecodedList>();
    list->directory.reserve(windows + 1);
    std::uint64_t i = load<std::uint32_t>(bytes.data());
    for (std::uint64_t w = 0; w < windows; ++w) {
        list->directory.push_back(static_cast<std::uint32_t>(list->rows.size()));
        const auto end = load<std::uint32_t>(bytes.data(), w + 1);
        std::uint32_t local = 0;
        for (; i < end; ++i) {
            const Gap gap = gap_at(form, bytes.data() + need, count, i);
            local = (local + gap.distance) % kWindowRows;
            const std::uint64_t row = w * kWindowRows + local;
            if (gap.tf == 0 || row >= length_classes.size()) continue;
            list->rows.push_back(static_cast<std::uint16_t>(local));
            list->codes.push_back(RowCode(gap.tf, length_classes[row]).bits());
        }
    }
    list->directory.push_back(static_cast<std::uint32_t>(list->rows.size()));
    return std::shared_ptr<const DecodedList>(std::move(list));
}

}  // namespace braid::sparse
