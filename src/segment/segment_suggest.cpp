#include "braid/exact/suggest.hpp"
#include "braid/index/suggest.hpp"
#include "braid/segment/segment_view.hpp"

namespace braid::segment {

/// The words of all buffers and parts.
class SegmentWords final : public index::Words {
public:
    explicit SegmentWords(const SegmentView& view) : view_(view) {}

    Result<> near(std::string_view term, const Nearness& nearness,
                  const Visit& visit) const override {
        for (const BufferView& buffer : view_.buffers_) {
            BRAID_CHECK(exact::VisibleWords(buffer.rows).near(term, nearness, visit));
        }
        for (const PartView& part : view_.parts_) {
            BRAID_CHECK(part.part().words().dictionary().each_alike(
                term, nearness.most, nearness.exact_prefix,
                [&](std::string_view known, const sparse::TermEntry& entry, std::size_t distance) {
                    visit(known, distance, entry.df);
                    return true;
                }));
        }
        return {};
    }

    Result<Seen> seen(std::string_view term) const override {
        Seen all;
        const auto take = [&](Seen some) {
            if (some.chunks == 0) return;
            if (all.chunks == 0 || some.first < all.first) all.first = std::move(some.first);
            all.chunks += some.chunks;
        };
        for (const BufferView& buffer : view_.buffers_) {
            BRAID_TRY(Seen some, exact::VisibleWords(buffer.rows).seen(term));
            take(std::move(some));
        }
        for (const PartView& part : view_.parts_) {
            BRAID_TRY(Seen some, seen_in(part, term));
            take(std::move(some));
        }
        return all;
    }

    Result<Chunk> chunk(const std::string& id) const override {
        BRAID_TRY(const index::Found found, view_.find(id));
        if (!found) return fail(ErrorCode::NotFound, "there is no chunk \"" + id + "\"");
        return *found.chunk;
    }

private:
    static Result<Seen> seen_in(const PartView& view, std::string_view term) {
        const sparse::IndexReader& words = view.part().words();
        Seen seen;
        BRAID_TRY(const auto entry, words.dictionary().find(term));
        if (!entry) return seen;
        BRAID_TRY(const sparse::IndexStatistics statistics, view.statistics());
        BRAID_TRY(seen.chunks, statistics.document_frequency(*entry));
        if (seen.chunks == 0) return seen;
        BRAID_TRY(const sparse::ListView list, words.list(*entry));
        for (sparse::ListCursor cursor(list, words.rows());
             cursor.row() != sparse::ListCursor::kEnd; cursor.next()) {
            BRAID_TRY(const bool shown, view.shows(cursor.row()));
            if (!shown) continue;
            BRAID_TRY(seen.first, view.part().documents().chunk_id(cursor.row()));
            break;  // rows are in the order of ids
        }
        return seen;
    }

    const SegmentView& view_;
};

Result<std::vector<Suggestion>> SegmentView::suggest(std::string_view text,
                                                     std::size_t limit) const {
    return index::suggest_words(SegmentWords(*this), schema(), index_.analyzer(), text, limit,
                                limits_);
}

}  // namespace braid::segment
