#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "braid/collection.hpp"
#include "braid/local/versions.hpp"
#include "braid/result.hpp"

namespace braid::local {

/// The chunks that a log describes, read the slow, plain way: one record after another into a map.
/// What the indexes hold must equal this.
class LogReading {
public:
    using Chunks = std::map<std::string, Chunk>;  // by id, with vectors and versions

    /// Records after `last` are left out.
    LogReading(Versions versions, Sequence last) : versions_(versions), last_(last) {}

    /// The log that the following records belong to.
    void use(Versions versions) { versions_ = versions; }
    /// Adds a chunk that was there before the first record.
    void put(const std::string& namespace_, Chunk chunk);
    /// Where an update finds a chunk that was there before, unless it was put.
    using Earlier = std::function<Result<std::optional<Chunk>>(const std::string& namespace_,
                                                               const std::string& id)>;
    void look_up(Earlier earlier) { earlier_ = std::move(earlier); }

    /// Takes the next record. Corruption if it cannot be read.
    Result<> add(Sequence sequence, std::span<const std::byte> payload);

    /// By namespace; one whose chunks are all deleted may be present and empty.
    const std::map<std::string, Chunks>& namespaces() const noexcept { return namespaces_; }
    /// The number of the last record taken; 0 if there was none.
    Sequence taken() const noexcept { return taken_; }
    /// Over all namespaces.
    std::uint64_t chunks() const;
    /// Writes of chunks that later ones made void.
    std::uint64_t superseded() const { return writes_ - chunks(); }
    /// Chunks that were there before the first record and that a later version replaces.
    Result<std::uint64_t> replaced() const;

private:
    Versions versions_;
    Sequence last_;
    Sequence taken_ = 0;
    std::uint64_t writes_ = 0;  // of chunks
    Earlier earlier_;
    std::map<std::string, std::set<std::string>> removed_;  // ids that the records deleted
    std::set<std::string> dropped_;                         // namespaces, by the records
    std::map<std::string, Chunks> namespaces_;
};

}  // namespace braid::local
