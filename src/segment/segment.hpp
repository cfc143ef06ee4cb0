#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/segment/deaths.hpp"
#include "braid/segment/part.hpp"
#include "braid/segment/segment_format.hpp"
#include "braid/segment/segment_graphs.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/nested_sections.hpp"

namespace braid::segment {

/// A mapped file of chunks and their indexes, and which of its rows have died since it was written.
/// Parts are opened when first used. Safe for concurrent use, with one writer of deaths.
class Segment {
public:
    /// Reads header, directory and meta. See store::SectionFile::open for errors.
    static Result<std::shared_ptr<Segment>> open(const store::Directory& directory,
                                                 std::uint64_t generation, const Caches& caches);

    std::uint64_t generation() const noexcept { return file_->generation(); }
    std::uint64_t bytes() const noexcept { return file_->size_bytes(); }
    const SegmentMeta& meta() const noexcept { return meta_; }
    const store::SectionFile& file() const noexcept { return *file_; }
    std::uint64_t rows() const noexcept { return rows_; }
    /// Rows that had died by then.
    std::uint64_t dead(Sequence at = std::numeric_limits<Sequence>::max()) const noexcept;

    /// Its graphs, if it has any.
    std::shared_ptr<const SegmentGraphs> graphs() const;
    /// Searches that begin from now on use them.
    void use(std::shared_ptr<const SegmentGraphs> graphs) const;
    /// Opens all parts and warms them: see Part::warm.
    void warm() const;
    /// Rows that a merge would drop.
    Result<std::uint64_t> dropped(Sequence at, Timestamp now) const;
    /// Adds the bytes of the file, broken down by purpose: see StoredPart.
    Result<> add_bytes(std::map<std::string, std::uint64_t>& parts) const;

    /// One namespace.
    class Space {
    public:
        Space(const Segment& segment, std::size_t number)
            : deaths(segment.meta_.parts[number].rows), segment_(segment), number_(number) {}

        const PartMeta& meta() const noexcept { return segment_.meta_.parts[number_]; }
        /// Opens it the first time. A part that was damaged is looked at again each time.
        Result<std::shared_ptr<const Part>> part() const;

        Deaths deaths;

        /// What a merge keeps: everything but rows that died by `at` and rows that expired by `now`
        /// and have not died since. Null: all rows.
        Result<BitsPtr> kept(Sequence at, Timestamp now) const;
        /// How many rows it drops.
        Result<std::uint64_t> dropped(Sequence at, Timestamp now) const;

    private:
        friend class Segment;
        /// Requires mutex_ to be held, and part_.
        void take_up(const std::shared_ptr<const SegmentGraphs>& graphs) const;

        const Segment& segment_;
        std::size_t number_;
        mutable std::mutex mutex_;
        mutable std::shared_ptr<const Part> part_;
    };
    /// Null if the segment has nothing of that namespace.
    Space* space(std::string_view namespace_) const;
    const std::vector<std::unique_ptr<Space>>& spaces() const noexcept { return spaces_; }

private:
    Segment() = default;

    std::shared_ptr<const store::SectionFile> file_;
    SegmentMeta meta_;
    std::uint64_t rows_ = 0;
    Caches caches_;
    std::vector<std::unique_ptr<Space>> spaces_;
    mutable std::mutex graphs_mutex_;
    mutable std::shared_ptr<const SegmentGraphs> graphs_;
};

}  // namespace braid::segment
