#include "braid/local/engine.hpp"

#include "braid/sparse/index_format.hpp"

namespace braid::local {

text::AnalyzerOptions analyzer_options(const Schema& schema) {
    return {.name = schema.analyzer, .language = schema.language, .stop_words = schema.stop_words};
}

Engine engine_for(Engine wanted, const Schema& schema) {
    return schema.text_fields.size() > sparse::kMaxFields ? Engine::Exact : wanted;
}

Result<> each_stored(const segment::SegmentIndex& from, const TakeChunks& take) {
    constexpr std::size_t batch = 1024;
    const Principal everybody;
    for (const std::string& space : from.namespaces()) {
        BRAID_TRY(const auto view, from.view({.namespace_ = space,
                                              .principal = everybody,
                                              .at = from.persisted(),
                                              .limits = {}}));
        for (std::string after;;) {
            BRAID_TRY(std::vector<Chunk> chunks, view->scan(after, batch, true));
            if (chunks.empty()) break;
            after = chunks.back().chunk_id;
            BRAID_CHECK(take(space, std::move(chunks)));
        }
    }
    return {};
}

Result<> copy_segments(const segment::SegmentIndex& from, index::Index& to,
                       const text::Analyzer& analyzer) {
    return each_stored(from, [&](const std::string& space, std::vector<Chunk> chunks) -> Result<> {
        std::vector<index::PreparedChunk> prepared;
        for (Chunk& chunk : chunks) {
            prepared.push_back(index::prepare(std::move(chunk), from.schema(), analyzer));
        }
        BRAID_CHECK(
            to.upsert(space, std::move(prepared), from.persisted(), index::kNothingExpired));
        return {};
    });
}

}  // namespace braid::local
