#pragma once

#include <string>
#include <utility>
#include <vector>

#include "braid/value.hpp"

namespace braid::eval {

/// What describe_model() says about one feature.
struct FeatureEffect {
    std::string name;
    double importance = 0;
    std::vector<std::pair<double, double>> curve;  // value, mean score; values ascend
};

/// Reads it back, in its order; what is not there or of another kind is left out.
std::vector<FeatureEffect> effects_in(const Object& described);

/// "▁▂▄▇": the curve in as many signs as it has points.
std::string sparkline(const FeatureEffect& effect);

/// One HTML page that needs nothing else: what each feature is worth, and a plot of its partial
/// dependence. `note` stands under the title.
std::string rank_page(const std::string& title, const std::string& note,
                      const std::vector<FeatureEffect>& effects);

}  // namespace braid::eval
