#pragma once

#include "braid/reader.hpp"

namespace braid::core {

/// Of a snapshot that need not be kept whatever it costs, because its holder may never come back,
/// as that of a cursor.
class CanLapse {
public:
    CanLapse() = default;
    CanLapse(const CanLapse&) = delete;
    CanLapse& operator=(const CanLapse&) = delete;
    CanLapse(CanLapse&&) = delete;
    CanLapse& operator=(CanLapse&&) = delete;
    virtual ~CanLapse() = default;

    /// The same snapshot, which lapses when keeping it would take much space; it is read through
    /// `resume` alone.
    virtual ReaderPtr lapsing() const = 0;
    /// The snapshot within the limits of a call; NotFound if it has lapsed.
    virtual Result<ReaderPtr> resume(const CallLimits& limits) const = 0;
};

/// Of a reader that cannot lapse, one that is kept.
inline ReaderPtr lapsing(const ReaderPtr& snapshot) {
    const auto* const can = dynamic_cast<const CanLapse*>(snapshot.get());
    return can != nullptr ? can->lapsing() : snapshot->with({});
}

inline Result<ReaderPtr> resume(const ReaderPtr& snapshot, const CallLimits& limits) {
    const auto* const can = dynamic_cast<const CanLapse*>(snapshot.get());
    if (can != nullptr) return can->resume(limits);
    return snapshot->with(limits);
}

}  // namespace braid::core
