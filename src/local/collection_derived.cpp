#include <algorithm>
#include <set>
#include <utility>

#include "braid/local/collection.hpp"
#include "braid/store/section_file_format.hpp"

namespace braid::local {
namespace {

/// Makes a source stop when a token does.
class StopAlong {
public:
    StopAlong(const std::stop_token& token, const std::stop_source& source)
        : callback_(token, Request{source}) {}

private:
    struct Request {
        std::stop_source source;
        void operator()() { source.request_stop(); }
    };
    std::stop_callback<Request> callback_;
};

}  // namespace

bool Collection::derivation_due() const {
    if (segments_ == nullptr || read_only_) return false;
    return !segments_->graphs_due().empty() || !segments_->calibrations_due().empty();
}

Result<bool> Collection::derive(const std::stop_token& stop) {
    if (segments_ == nullptr || read_only_) return false;
    const std::scoped_lock one_at_a_time(derive_mutex_);
    if (jobs_ended_) return false;
    BRAID_TRY(const bool graphs, build_graphs(stop));
    const std::stop_source work;
    const StopAlong with_caller(stop, work);
    const StopAlong with_jobs(jobs_.get_token(), work);
    bool any = graphs;
    for (const std::string& space : segments_->calibrations_due()) {
        BRAID_CHECK(segments_->calibrate(space, work.get_token()));
        const std::scoped_lock lock(files_mutex_);
        if (jobs_ended_) return any;
        BRAID_CHECK(
            directory_->replace(segment::kCalibrationName, segments_->calibrations().encode()));
        any = true;
    }
    return any;
}

Result<bool> Collection::build_graphs(const std::stop_token& stop) {
    std::set<std::uint64_t> seen;  // none is tried twice, whatever comes of it
    bool any = false;
    while (true) {
        segment::SegmentIndex::Segments due = segments_->graphs_due();
        std::stop_source work;
        {
            const std::scoped_lock lock(files_mutex_);
            std::erase_if(due, [&](const auto& one) {
                return seen.contains(one->generation()) || !is_recorded(one->generation());
            });
            if (due.empty() || jobs_ended_) return any;
            // The largest first: its searches gain the most.
            std::ranges::swap(due.front(), *std::ranges::max_element(due, {}, [](const auto& one) {
                                  return one->rows();
                              }));
            graph_work_ = {due.front()->generation(), work};
        }
        const segment::Segment& segment = *due.front();
        seen.insert(segment.generation());
        const StopAlong with_caller(stop, work);
        const StopAlong with_jobs(jobs_.get_token(), work);
        const auto built = segments_->build_graphs(*directory_, segment, work.get_token());
        const std::scoped_lock lock(files_mutex_);
        graph_work_ = {};
        if (!is_recorded(segment.generation())) {  // a merge has dropped it meanwhile
            (void)directory_->remove(
                store::section_file_name(segment::kGraphKind, segment.generation()));
            continue;
        }
        BRAID_CHECK(built);
        any = true;
    }
}

bool Collection::is_recorded(std::uint64_t generation) const {
    return std::ranges::find(recorded_, generation, &SegmentEntry::generation) != recorded_.end();
}

void Collection::ask_for_derivation() const {
    if (segments_ == nullptr || read_only_ || !settings_.derivation_due) return;
    if (!segments_->take_derivation_due()) return;
    const std::scoped_lock lock(due_mutex_);
    if (!jobs_ended_) settings_.derivation_due(name_);
}

}  // namespace braid::local
