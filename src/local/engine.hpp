#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/index/index.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/segment/segment_index.hpp"
#include "braid/text/analyzer.hpp"

namespace braid::local {

/// What an engine needs besides a collection's schema.
struct EngineOptions {
    Engine engine = Engine::Segment;
    segment::Policy policy = {};
    segment::Caches caches = segment::Caches::make();
};

text::AnalyzerOptions analyzer_options(const Schema& schema);

/// The engine that can hold a collection with this schema: not all of them take this many text
/// fields.
Engine engine_for(Engine wanted, const Schema& schema);

/// Passes on every chunk of the segments, a few at a time, with its namespace.
using TakeChunks =
    std::function<Result<>(const std::string& namespace_, std::vector<Chunk> chunks)>;
Result<> each_stored(const segment::SegmentIndex& from, const TakeChunks& take);

/// Reads every chunk of the segments into another index, as if their records were replayed.
Result<> copy_segments(const segment::SegmentIndex& from, index::Index& to,
                       const text::Analyzer& analyzer);

}  // namespace braid::local
