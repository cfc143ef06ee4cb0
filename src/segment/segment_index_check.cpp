#include "braid/exact/index_check.hpp"
#include "braid/segment/segment_index.hpp"

namespace braid::segment {
namespace {

/// Compares what the index shows of one namespace with the chunks it should hold. check_segment
/// checks files against themselves; this compares them with the log.
class IndexChecking final : public index::Check {
public:
    IndexChecking(const SegmentIndex& index, std::string space, Sequence at, std::size_t dimension,
                  core::Findings& findings)
        : index_(index),
          space_(std::move(space)),
          at_(at),
          buffered_(index.schema(), dimension, space_, at, findings),
          findings_(findings) {}

    void compare(const index::PreparedChunk& expected) override {
        const Chunk& chunk = expected.chunk;
        const StatePtr now = index_.state();
        for (const auto& buffer : now->buffers) {
            const auto partition = buffer->partition(space_);
            if (!partition || partition->find(chunk.chunk_id, at_) == exact::kNoRow) continue;
            buffered_.compare(*partition, expected);
            return;
        }
        const auto found = stored(chunk.chunk_id);
        if (!found) {
            problem(chunk, found.error().message);
        } else if (!*found) {
            problem(chunk, "it is in the log but not in the index");
        } else if (**found != chunk) {
            problem(chunk, "it differs between the index and the log");
        }
    }
    Result<> finish(const CallLimits& limits) override {
        (void)limits;
        return {};
    }

private:
    Result<std::optional<Chunk>> stored(const std::string& id) const {
        const Principal everybody;
        BRAID_TRY(
            const auto view,
            index_.view({.namespace_ = space_, .principal = everybody, .at = at_, .limits = {}}));
        BRAID_TRY(auto chunks, view->fetch(std::span(&id, 1), true));
        return std::move(chunks.front());
    }
    void problem(const Chunk& chunk, const std::string& message) {
        findings_.problem("namespace \"" + space_ + "\", chunk \"" + chunk.chunk_id +
                          "\": " + message);
    }

    const SegmentIndex& index_;
    std::string space_;
    Sequence at_;
    exact::IndexCheck buffered_;
    core::Findings& findings_;
};

}  // namespace

std::unique_ptr<index::Check> SegmentIndex::check(const std::string& namespace_, Sequence at,
                                                  std::size_t dimension,
                                                  core::Findings& findings) const {
    return std::make_unique<IndexChecking>(*this, namespace_, at, dimension, findings);
}

}  // namespace braid::segment
