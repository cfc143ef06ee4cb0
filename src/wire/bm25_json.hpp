#pragma once

#include <optional>
#include <string_view>

#include "braid/collection.hpp"
#include "braid/json/fields.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::wire {

/// `{"k1": 0.9, "b": 0.4, "text_fields": {"title": 2}}`, each member optional; null if the key is
/// absent.
Result<std::optional<Bm25Choice>> read_bm25_choice(json::Fields& fields, std::string_view key);

/// Only what is chosen.
Value bm25_choice_to_value(const Bm25Choice& choice);

}  // namespace braid::wire
