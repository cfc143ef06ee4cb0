#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "braid/dense/calibration.hpp"
#include "braid/result.hpp"
#include "braid/store/directory.hpp"

namespace braid::segment {

/// The file in a collection's directory: docs/formats/segment.md.
inline constexpr std::string_view kCalibrationName = "calibration";

/// How deep the vectors of each namespace must be searched for a given recall, measured on them,
/// and the recent queries used to measure it. Queries are kept in memory only. Safe for concurrent
/// use.
class Calibrations {
public:
    /// Queries kept for each namespace.
    static constexpr std::size_t kKept = 1024;

    using Ptr = std::shared_ptr<const dense::Calibration>;
    /// Null if there is none.
    Ptr of(const std::string& namespace_) const;
    void set(const std::string& namespace_, dense::Calibration calibration);

    /// Notes a query that searched many vectors. True once there are enough new ones that the
    /// calibration should be made again.
    bool note(const std::string& namespace_, std::span<const float> query);
    std::vector<std::vector<float>> queries(const std::string& namespace_) const;
    /// Whether it should be made, or made again, for this many vectors, with or without a graph.
    bool due(const std::string& namespace_, std::uint64_t vectors, bool graph) const;

    /// Replaces what is there with the content of a file. Damaged entries are left out: they are
    /// made again.
    void read(const store::Directory& directory);
    /// In order of namespace.
    std::vector<std::byte> encode() const;

private:
    struct Space {
        Ptr calibration;
        std::vector<std::vector<float>> recent;  // a ring buffer
        std::uint64_t noted = 0;                 // since the database was opened
        std::uint64_t noted_before = 0;          // when the calibration was made
    };
    static bool enough_new(const Space& space);

    mutable std::mutex mutex_;
    std::map<std::string, Space, std::less<>> spaces_;
};

}  // namespace braid::segment
