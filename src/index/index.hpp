#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "braid/core/findings.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/index/prepared.hpp"
#include "braid/index/view.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::index {

/// Earlier than any time at which a chunk expires.
inline constexpr Timestamp kNothingExpired{std::numeric_limits<std::int64_t>::min()};

/// What the views of one snapshot share, so that all of them find the same: see Index::bind.
class Bound {
public:
    virtual ~Bound() = default;
};

/// What a read sees: the records up to this one, minus what has expired by a time.
struct PointInTime {
    Sequence sequence = 0;
    Timestamp now = kNothingExpired;
    std::shared_ptr<const Bound> bound = nullptr;
};

/// Whose view, and of what. Everything it refers to, except the limits, must outlive the view.
struct ViewOf {
    std::string namespace_;
    const Principal& principal;
    Sequence at = 0;
    /// What has expired by then is gone. By default nothing has: for those who look at what is
    /// stored.
    Timestamp now = kNothingExpired;
    /// Both for the same filter, or none.
    const Filter* filter = nullptr;
    const docs::FilterMatcher* matcher = nullptr;
    /// Copied. It has no default: a dropped deadline does not compile.
    const CallLimits& limits;
    /// For the snapshot it is a view of; none: it stands alone.
    std::shared_ptr<const Bound> bound = nullptr;
};

/// Compares what an index shows of one namespace at one sequence number with what its log says.
class Check {
public:
    virtual ~Check() = default;
    /// A chunk that should exist, with its vector and version, and its words counted again.
    virtual void compare(const PreparedChunk& expected) = 0;
    /// Call once after all chunks: checks that there is nothing else.
    virtual Result<> finish(const CallLimits& limits) = 0;
};

/// What holds the chunks of a collection and finds them: in memory (src/exact), or in segments. The
/// collection above it keeps the log, decides which writes are legal, and prepares them.
///
/// Writes come in log order, one thread at a time, each with the sequence number of its record;
/// several may share one. A version of a chunk is visible from the record that wrote it up to the
/// one that replaced or deleted it. Views of any sequence number that has not been forgotten may be
/// taken and read at any time, by any number of threads; a writer waits for none of them.
class Index {
public:
    virtual ~Index() = default;

    // Writing. Each call requires a sequence number no lower than those before. After an error (a
    // file that cannot be read) everything is as before.

    /// Returns how many replaced another version that had not expired by `now`.
    virtual Result<std::uint64_t> upsert(const std::string& namespace_,
                                         std::vector<PreparedChunk> chunks, Sequence sequence,
                                         Timestamp now) = 0;
    /// Changes metadata and labels and leaves text and vector alone; words are counted again only
    /// if a text field is in the metadata. Chunks that do not exist are skipped. Returns how many
    /// existed.
    virtual Result<std::uint64_t> update(const std::string& namespace_,
                                         std::span<const MetadataUpdate> updates, Version version,
                                         Sequence sequence) = 0;
    virtual Result<std::uint64_t> remove(const std::string& namespace_,
                                         std::span<const std::string> ids, Sequence sequence) = 0;
    /// Deletes every chunk of a namespace. Returns how many there were. An index that keeps files
    /// does not look at each, however many there are.
    virtual Result<std::uint64_t> drop(const std::string& namespace_, Sequence sequence) = 0;
    /// The end of a record: all of it has been applied, and nobody will ask for a point in time
    /// before `oldest`. The one place where an index may drop old versions, flush or merge: never
    /// in the middle of an operation.
    virtual void settle(Sequence oldest) = 0;
    /// The last record that the index itself keeps on disk; a replay of the log begins with the
    /// next. 0 if it keeps nothing.
    virtual Sequence persisted() const noexcept = 0;

    // Reading

    /// InvalidArgument if the principal's clearance is not one of the schema's levels. A namespace
    /// that nobody has written to is empty.
    virtual Result<std::unique_ptr<View>> view(const ViewOf& of) const = 0;
    /// For the views of a snapshot of this sequence number: with it, their approximate answers do
    /// not change when the index becomes able to find faster ways. Null if there are none.
    virtual std::shared_ptr<const Bound> bind([[maybe_unused]] Sequence at) const {
        return nullptr;
    }
    /// Namespaces ever written to, in byte order; some may be empty.
    virtual std::vector<std::string> namespaces() const = 0;

    // Maintenance

    /// Roughly what the live chunks take in a log that holds nothing else.
    virtual std::uint64_t live_bytes() const noexcept = 0;
    /// `dimension`: that of the collection's vectors. The findings must outlive it.
    virtual std::unique_ptr<Check> check(const std::string& namespace_, Sequence at,
                                         std::size_t dimension, core::Findings& findings) const = 0;
};

}  // namespace braid::index
