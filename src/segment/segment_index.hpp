#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "braid/exact/labels.hpp"
#include "braid/index/index.hpp"
#include "braid/segment/buffer.hpp"
#include "braid/segment/calibrations.hpp"
#include "braid/segment/segment.hpp"
#include "braid/segment/segment_writer.hpp"
#include "braid/store/section_file_writer.hpp"

namespace braid::segment {

using index::PreparedChunk;

/// When a buffer is written to a file, and when files are merged.
struct Policy {
    std::uint64_t flush_rows = 8192;
    std::uint64_t flush_bytes = std::uint64_t{32} << 20;
    /// This many segments of about the same size become one of the next size.
    std::size_t fan_in = 8;
    /// A segment with this share of dead rows is rewritten.
    double dead_share = 0.2;
    /// A namespace with more rows than this in one merge gets a file of its own: as many as make a
    /// segment of the third size.
    std::uint64_t own_rows() const noexcept { return flush_rows * fan_in; }
    /// A part with this many vectors gets a graph, and its namespace a calibration (0054).
    std::uint64_t graph_vectors = 40'000;
    /// Roughly what buffers, a merge and the building of a graph may take together (0113).
    std::uint64_t memory_bytes = std::uint64_t{256} << 20;

    /// A buffer is flushed at this many bytes: the one being written out, and its successor, which
    /// may meanwhile grow to twice the size, take three eighths of the whole.
    std::uint64_t buffer_bytes() const noexcept { return std::min(flush_bytes, memory_bytes / 8); }
    std::uint64_t merge_bytes() const noexcept { return memory_bytes / 4; }
    std::uint64_t graph_bytes() const noexcept { return memory_bytes / 4; }
};

/// What a collection shows over a range of sequence numbers: from `from` up to that of the next
/// state. Immutable except for the last buffer and for deaths, which record when they happened.
struct State {
    Sequence from = 0;
    std::vector<std::shared_ptr<Buffer>> buffers;    // oldest first; the last one takes writes
    std::vector<std::shared_ptr<Segment>> segments;  // oldest first

    /// Okapi's mean idf by point in time and principal; only the last one asked for is kept.
    struct MeanIdf {
        std::mutex mutex;
        std::string of;
        double value = 0;
    };
    std::shared_ptr<MeanIdf> mean_idf = std::make_shared<MeanIdf>();
};
using StatePtr = std::shared_ptr<const State>;

/// Chunks in immutable files and, in memory, what has come since the last of them was written.
/// Answers equal those of src/exact; docs/formats/segment.md describes the files.
///
/// It writes files only when told to, by `flush` and `merge`, on any thread. `install` puts the
/// results in place; it counts as a write: one thread at a time, never during another operation.
class SegmentIndex final : public index::Index {
public:
    SegmentIndex(Schema schema, text::Analyzer analyzer, Caches caches, Policy policy = {});

    /// Opens the files that a manifest names. Once, before anything else.
    Result<> load(const store::Directory& directory, std::span<const std::uint64_t> generations,
                  std::uint64_t deletes, Sequence persisted);

    Result<std::uint64_t> upsert(const std::string& namespace_, std::vector<PreparedChunk> chunks,
                                 Sequence sequence, Timestamp now) override;
    Result<std::uint64_t> update(const std::string& namespace_,
                                 std::span<const MetadataUpdate> updates, Version version,
                                 Sequence sequence) override;
    Result<std::uint64_t> remove(const std::string& namespace_, std::span<const std::string> ids,
                                 Sequence sequence) override;
    Result<std::uint64_t> drop(const std::string& namespace_, Sequence sequence) override;
    void settle(Sequence oldest) override;
    /// Drops every state but the last that none of these points in time shows; nobody may ask for
    /// points in time before the present that are not listed. Returns the bytes of what only the
    /// remaining old states need.
    std::uint64_t keep(std::span<const Sequence> pinned);
    Sequence persisted() const noexcept override { return persisted_; }

    Result<std::unique_ptr<index::View>> view(const index::ViewOf& of) const override;
    std::shared_ptr<const index::Bound> bind(Sequence at) const override;
    std::vector<std::string> namespaces() const override;

    std::uint64_t live_bytes() const noexcept override;
    std::unique_ptr<index::Check> check(const std::string& namespace_, Sequence at,
                                        std::size_t dimension,
                                        core::Findings& findings) const override;

    // Files

    /// The dimension of the vectors in the files; 0: they have none.
    std::size_t dimension() const noexcept { return dimension_; }
    StatePtr state() const;
    const Policy& policy() const noexcept { return policy_; }

    /// Whether memory holds enough to be worth writing to a file.
    bool flush_due() const;
    std::uint64_t buffered_rows() const;
    /// Ends the current buffer with this record; the next one begins empty. False if there is
    /// nothing in it. A write, as `install` is.
    bool freeze(Sequence at);
    bool has_frozen() const { return state()->buffers.size() > 1; }

    /// Hands out file numbers, none of them twice.
    using NextGeneration = std::function<std::uint64_t()>;
    struct Flushed {
        std::shared_ptr<Buffer> buffer;
        Sequence at = 0;
        std::shared_ptr<Segment> segment;  // null: nothing in it is alive
        std::map<std::string, PartitionRows> rows;
    };
    /// Writes the oldest frozen buffer to a file. Requires has_frozen(). One thread at a time.
    Result<Flushed> flush(store::Directory& directory, const NextGeneration& next_generation,
                          const std::stop_token& stop);
    void install(Flushed flushed);

    using Segments = std::vector<std::shared_ptr<Segment>>;
    /// Segments that should be merged; empty: none need it. `now`: what had expired by then would
    /// be dropped, and must not be asked for any more.
    Segments merge_due(Timestamp now) const;
    /// All of them, unless merging them would change nothing.
    Segments everything(Timestamp now) const;
    struct MergedSegments {
        Segments inputs;
        Sequence at = 0;
        Segments outputs;  // empty: nothing in them is alive
        RowNumbers numbers;
    };
    /// Merges several segments into one of what is alive at `at` and has not expired by `now`, plus
    /// one for each large namespace among others. One thread at a time.
    Result<MergedSegments> merge(store::Directory& directory, Segments inputs, Sequence at,
                                 Timestamp now, const NextGeneration& next_generation,
                                 const std::stop_token& stop);
    void install(MergedSegments merged);

    /// Writes which rows of the segments had died by `upto`, unless the last such file already says
    /// so. Returns its generation; 0: none died. One thread at a time.
    Result<std::uint64_t> write_deletes(store::Directory& directory, const State& state,
                                        Sequence upto, const NextGeneration& next_generation);

    // Structures derived from vectors that speed up their search (segment_derived.cpp)

    /// Segments with a part that should have a graph and has none.
    Segments graphs_due() const;
    Result<> build_graphs(store::Directory& directory, const Segment& segment,
                          const std::stop_token& stop) const;
    /// Namespaces whose calibration should be made, or made again.
    std::vector<std::string> calibrations_due() const;
    Result<> calibrate(const std::string& namespace_, const std::stop_token& stop) const;
    Calibrations& calibrations() const noexcept { return calibrations_; }
    /// Notes a search among many vectors; `graph_missing`: some of them should have had a graph.
    void note_query(const std::string& namespace_, std::span<const float> query,
                    bool graph_missing) const;
    /// True once after searches have found something to be due.
    bool take_derivation_due() const noexcept {
        return derivation_due_.load(std::memory_order_relaxed) && derivation_due_.exchange(false);
    }
    /// Null where there are few vectors.
    std::optional<DenseStats> dense_stats(const std::string& namespace_) const;
    /// The largest part of a namespace that has, or should have, a graph; null: there is none.
    std::shared_ptr<const Part> largest_vectors(const std::string& namespace_) const;

    /// Whether some chunk expires, or has expired.
    bool expires() const noexcept { return expires_; }
    const Schema& schema() const noexcept { return schema_; }
    const text::Analyzer& analyzer() const noexcept { return analyzer_; }
    const exact::LabelTable& labels() const noexcept { return labels_; }

private:
    /// Where a chunk lives. For the writer only.
    struct Place {
        exact::Partition* partition = nullptr;
        exact::Row row = exact::kNoRow;
        Segment::Space* space = nullptr;
        std::uint32_t in_part = 0;

        explicit operator bool() const noexcept { return partition != nullptr || space != nullptr; }
    };
    Result<Place> find(const State& state, const std::string& namespace_, const std::string& id,
                       Sequence at) const;
    static Result<bool> has_expired(const Place& place, Timestamp now);
    static void kill(const Place& place, const std::string& id, Sequence at);
    /// A new file of a kind, under a number that no file has.
    static Result<std::unique_ptr<store::SectionFileWriter>> create_file(
        store::Directory& directory, std::string_view kind, const NextGeneration& next_generation,
        std::uint64_t& generation);
    WriteSettings write_settings(const std::stop_token& stop) const {
        return {.schema = schema_, .stop = stop, .memory_bytes = policy_.merge_bytes()};
    }
    /// The namespaces of segments, in the groups that merging would write to files.
    Result<std::vector<std::set<std::string>>> files_of(const Segments& segments, Sequence at,
                                                        Timestamp now) const;
    void publish(std::shared_ptr<const State> state);
    /// The state that a snapshot of this sequence number sees.
    StatePtr state_at(Sequence at) const;
    void restore_label(std::uint32_t number, const exact::Label& label);
    Result<> load_deletes(const store::Directory& directory, std::uint64_t generation,
                          const Segments& segments);

    const Schema schema_;
    const text::Analyzer analyzer_;
    const Caches caches_;
    const Policy policy_;
    const bool searches_metadata_;
    exact::LabelTable labels_;  // of all segments; flush and load assign the numbers

    std::atomic<Sequence> persisted_ = 0;
    std::atomic<std::size_t> dimension_ = 0;
    std::atomic<bool> expires_ = false;

    struct Deletes {
        std::uint64_t generation = 0;
        std::vector<std::pair<std::uint64_t, std::size_t>> counts;  // per segment
    };
    Deletes deletes_;  // the last file; for whoever writes files

    mutable Calibrations calibrations_;
    mutable std::atomic<bool> derivation_due_ = false;
    mutable std::atomic<std::uint64_t> without_graph_ = 0;

    mutable std::mutex mutex_;
    std::deque<StatePtr> states_;  // oldest first, never empty
};

}  // namespace braid::segment
