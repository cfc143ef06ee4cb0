#include "braid/docs/columns_merge.hpp"

#include <string>
#include <vector>

#include "braid/docs/column_format.hpp"
#include "braid/docs/column_merge.hpp"
#include "braid/docs/merged_streams.hpp"
#include "braid/docs/packed_ints.hpp"
#include "braid/docs/string_table.hpp"

namespace braid::docs {
namespace {

/// The names of one input's columns.
class ColumnNames {
public:
    explicit ColumnNames(const ColumnsReader& columns) : names_(columns.names()) {}

    Result<bool> next() { return names_.next(); }
    bool is_less(const ColumnNames& other) const noexcept { return name() < other.name(); }
    std::string_view name() const noexcept { return names_.text(); }
    std::uint64_t number() const noexcept { return names_.number(); }

private:
    StringStream names_;
};

}  // namespace

Result<> merge_columns(std::span<const MergeInput> inputs, const MergeOrder& order,
                       store::SectionSink& sink, std::string_view prefix,
                       const std::stop_token& stop) {
    std::uint64_t steps = 0;
    const ColumnMerge::GoOn go_on = [&]() -> Result<> {
        if (++steps % 1024 != 0 || !stop.stop_requested()) return {};
        return fail(ErrorCode::Cancelled, "writing a segment was stopped");
    };
    const auto section = [&](std::string_view part) {
        return std::string(prefix) + std::string(part);
    };
    std::vector<ColumnNames> streams;
    for (const MergeInput& input : inputs) streams.emplace_back(*input.columns);
    StringTableBuilder names;
    std::vector<std::uint64_t> offsets{0};
    BRAID_CHECK(sink.begin(section(kColumnDataSection)));
    const auto write_column = [&](const ColumnNames& first, const auto& holders) -> Result<> {
        ColumnMerge merge(order, go_on);
        for (const std::size_t holder : holders) {
            BRAID_TRY(const Column column,
                      inputs[holder].columns->column_at(streams[holder].number()));
            BRAID_CHECK(merge.add(holder, column));
        }
        if (!merge.has_rows()) return {};
        BRAID_CHECK(names.add(first.name()));
        BRAID_CHECK(merge.write(sink));
        offsets.push_back(sink.offset());
        return {};
    };
    BRAID_CHECK(merge_streams(streams, write_column));
    BRAID_CHECK(names.write(sink, section(kColumnNamesSection)));
    return write_packed(sink, section(kColumnOffsetsSection), offsets);
}

}  // namespace braid::docs
