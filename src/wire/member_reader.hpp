#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/answer.hpp"
#include "braid/json/fields.hpp"
#include "braid/result.hpp"

namespace braid::core {
struct Vocabulary;
}

/// Reads members of what this program wrote: all but lists must be there.
namespace braid::wire {

Result<> read_member(json::Fields& fields, std::string_view key, double& out);
Result<> read_member(json::Fields& fields, std::string_view key, std::string& out);
Result<> read_member(json::Fields& fields, std::string_view key, bool& out);
Result<> read_member(json::Fields& fields, std::string_view key, std::uint64_t& out);
Result<> read_member(json::Fields& fields, std::string_view key, std::vector<std::string>& out);

/// Calls `add(fields)` for each object of a list.
template <class Add>
Result<> read_objects(json::Fields& fields, std::string_view key, Add add) {
    BRAID_TRY(const Array* const list, fields.array(key));
    if (list == nullptr) return {};
    for (std::size_t i = 0; i < list->size(); ++i) {
        BRAID_TRY(json::Fields members, json::Fields::of((*list)[i], fields.path_of(key) + "[" +
                                                                         std::to_string(i) + "]"));
        BRAID_CHECK(add(members));
        BRAID_CHECK(members.finish());
    }
    return {};
}

/// Appends what `read(fields)` makes of each object of a list.
template <class T, class Read>
Result<> read_list(json::Fields& fields, std::string_view key, std::vector<T>& out, Read read) {
    return read_objects(fields, key, [&](json::Fields& members) -> Result<> {
        BRAID_TRY(T one, read(members));
        out.push_back(std::move(one));
        return {};
    });
}

/// The standing of a chunk in one leg, and one hit of an answer.
Result<LegStanding> read_standing(json::Fields& fields);
Result<Hit> read_hit(json::Fields& fields, const core::Vocabulary& vocabulary);

}  // namespace braid::wire
