#include "braid/segment/binding.hpp"

namespace braid::segment {

dense::SearchAidsPtr Binding::aids_of(const dense::VectorsReader& vectors) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [of, aids] : aids_) {
        if (of == &vectors) return aids;
    }
    return aids_.emplace_back(&vectors, vectors.aids()).second;
}

Calibrations::Ptr Binding::calibration_of(const std::string& namespace_,
                                          const Calibrations& calibrations) const {
    const std::scoped_lock lock(mutex_);
    const auto found = calibrations_.find(namespace_);
    if (found != calibrations_.end()) return found->second;
    return calibrations_.emplace(namespace_, calibrations.of(namespace_)).first->second;
}

}  // namespace braid::segment
