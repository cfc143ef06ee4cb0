#pragma once

#include <string>
#include <utility>
#include <vector>

#include "braid/collection.hpp"
#include "braid/result.hpp"

namespace braid::core {

/// Adds a collection to a list as it was described: one that was dropped meanwhile is left out, one
/// that cannot be read is there with the reason.
inline void add_described(std::vector<CollectionInfo>& infos, const std::string& name,
                          Result<CollectionInfo> info) {
    if (info) {
        infos.push_back(*std::move(info));
    } else if (info.error().code != ErrorCode::NotFound) {
        CollectionInfo& unreadable = infos.emplace_back();
        unreadable.name = name;
        unreadable.damage = std::move(info).error().message;
    }
}

}  // namespace braid::core
