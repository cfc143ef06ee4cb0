#include "braid/exact/labels.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace braid::exact {

Label label_of(const Chunk& chunk, const Schema& schema) {
    const auto& names = schema.levels.names;
    const std::string& level = chunk.sensitivity ? *chunk.sensitivity : schema.levels.default_level;
    Label label;
    label.level = static_cast<std::size_t>(std::ranges::find(names, level) - names.begin());
    label.scopes = chunk.visibility_scope;
    std::ranges::sort(label.scopes);
    const auto repeated = std::ranges::unique(label.scopes);
    label.scopes.erase(repeated.begin(), repeated.end());
    return label;
}

std::size_t LabelTable::Hash::operator()(const Label& label) const noexcept {
    std::size_t hash = label.level;
    for (const std::string& scope : label.scopes) {
        hash = hash * 0x9e3779b97f4a7c15 + std::hash<std::string>()(scope);
    }
    return hash;
}

std::uint32_t LabelTable::intern(Label label) {
    const auto number = static_cast<std::uint32_t>(labels_.size());
    const auto [found, inserted] = numbers_.try_emplace(std::move(label), number);
    if (!inserted) return found->second;
    const std::scoped_lock lock(mutex_);
    labels_.push_back(&found->first);
    for (const std::string& scope : found->first.scopes) by_scope_[scope].push_back(number);
    if (found->first.scopes.empty()) without_scope_.push_back(number);
    return number;
}

std::vector<bool> LabelTable::visible(std::size_t clearance,
                                      const std::vector<std::string>& scopes) const {
    const std::scoped_lock lock(mutex_);
    std::vector<bool> visible(labels_.size(), false);
    const auto admit = [&](const std::vector<std::uint32_t>& numbers) {
        for (const std::uint32_t number : numbers) {
            if (labels_[number]->level <= clearance) visible[number] = true;
        }
    };
    admit(without_scope_);
    for (const std::string& scope : scopes) {
        if (const auto found = by_scope_.find(scope); found != by_scope_.end()) {
            admit(found->second);
        }
    }
    return visible;
}

}  // namespace braid::exact
