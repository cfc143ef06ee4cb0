#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/local/collection.hpp"
#include "braid/reader.hpp"

namespace braid::local {

/// A snapshot of an embedded backend: pins its collections, and outlives the backend if need be.
class LocalReader final : public Reader {
public:
    using Pins = std::map<std::string, std::shared_ptr<const Collection::Pin>>;

    LocalReader(std::shared_ptr<const Pins> pins, CallLimits limits)
        : pins_(std::move(pins)), limits_(std::move(limits)) {}

    ReaderPtr with(const CallLimits& limits) const override {
        return std::make_shared<LocalReader>(pins_, limits);
    }
    ReaderPtr lapsing() const override;
    Result<ReaderPtr> resume(const CallLimits& limits) const override;
    Result<Schema> schema(const std::string& collection) const override;
    Result<std::shared_ptr<const rank::Model>> ranker(const std::string& collection) const override;
    Result<std::vector<std::string>> analyze(const std::string& collection,
                                             std::string_view text) const override;
    std::vector<Result<LegResult>> search(std::span<const Leg> legs) const override;
    Result<TextStatistics> text_statistics(const Leg& leg) const override;
    Result<std::vector<std::optional<double>>> score(
        const Leg& leg, std::span<const std::string> chunk_ids) const override;
    Result<std::vector<std::optional<double>>> score_found(
        const Leg& leg, std::span<const FoundChunk> chunks) const override;
    Result<std::vector<std::optional<std::uint64_t>>> rank_of(
        const Leg& leg, std::span<const std::string> chunk_ids) const override;
    Result<std::vector<std::optional<Chunk>>> fetch(const ReadScope& scope,
                                                    std::span<const std::string> chunk_ids,
                                                    bool with_vectors) const override;
    Result<std::vector<std::vector<Chunk>>> neighbors(
        const ReadScope& scope, std::span<const NeighborRange> ranges) const override;
    Result<std::uint64_t> count(const ReadScope& scope) const override;
    Result<std::vector<FacetCount>> facets(const ReadScope& scope, const std::string& field,
                                           std::size_t limit) const override;
    Result<CollectionStats> stats(const ReadScope& scope) const override;
    Result<std::vector<Suggestion>> suggest(const ReadScope& scope, std::string_view text,
                                            std::size_t limit) const override;
    Result<std::vector<Chunk>> scan(const ReadScope& scope, const std::string& after,
                                    std::size_t limit, bool with_vectors) const override;

private:
    /// Whether or not it may be read.
    Result<const Collection::Pin*> pinned(const std::string& collection) const;
    /// Calls `read(collection, point in time)`. Unavailable if the collection must not be read yet.
    template <class Read>
    auto read(const std::string& collection, const Read& read) const
        -> decltype(read(std::declval<const Collection&>(), PointInTime{}));

    std::shared_ptr<const Pins> pins_;  // none if it may lapse
    std::map<std::string, std::shared_ptr<const Collection::LapsingPin>> lapsing_;
    CallLimits limits_;
};

}  // namespace braid::local
