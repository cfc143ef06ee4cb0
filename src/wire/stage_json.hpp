#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::json {
class Fields;
}

namespace braid::wire {

/// Reads a list of `{"name": parameters}`, or names alone; none if the member is absent.
Result<std::optional<std::vector<StageChoice>>> read_stages(json::Fields& fields,
                                                            std::string_view key);
/// The inverse.
Value stages_to_value(const std::vector<StageChoice>& stages);

}  // namespace braid::wire
