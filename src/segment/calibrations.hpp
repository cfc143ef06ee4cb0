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

/// Of the file in a collection's directory: docs/formats/segment.md.
inline constexpr std::string_view kCalibrationName = "calibration";

/// How deep the vectors of each namespace are searched for a recall, measured on them, and the
/// queries of late with which that is measured. Queries are kept in memory alone. Safe for
/// concurrent use.
class Calibrations {
public:
    /// Queries that are kept, of each namespace.
    static constexpr std::size_t kKept = 1024;

    using Ptr = std::shared_ptr<const dense::Calibration>;
    /// Null if there is none.
    Ptr of(const std::string& namespace_) const;
    void set(const std::string& namespace_, dense::Calibration calibration);

    /// A query that was searched for among many vectors. True if there are so many new ones that
    /// the calibration should be made again.
    bool note(const std::string& namespace_, std::span<const float> query);
    std::vector<std::vector<float>> queries(const std::string& namespace_) const;
    /// Whether it ought to be made, or made again: for so many vectors, with a graph or without.
    bool due(const std::string& namespace_, std::uint64_t vectors, bool graph) const;

    /// Replaces what is there by a file's content. What is damaged is left out: it is made again.
    void read(const store::Directory& directory);
    /// In the order of namespaces.
    std::vector<std::byte> encode() const;

private:
    struct Space {
        Ptr calibration;
        std::vector<std::vector<float>> recent;  // a ring
        std::uint64_t noted = 0;                 // since the database was opened
        std::uint64_t noted_before = 0;          // when the calibration was made
    };
    static bool enough_new(const Space& space);

    mutable std::mutex mutex_;
    std::map<std::string, Space, std::less<>> spaces_;
};

}  // namespace braid::segment
