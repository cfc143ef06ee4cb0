#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "braid/collection.hpp"
#include "braid/core/stable_vector.hpp"
#include "braid/types.hpp"

namespace braid::exact {

/// Access class of a chunk; each chunk has exactly one.
struct Label {
    std::size_t level = 0;            // index into the schema's levels
    std::vector<std::string> scopes;  // sorted

    friend bool operator==(const Label&, const Label&) = default;
};

Label label_of(const Chunk& chunk, const Schema& schema);

/// Labels and their numbers. One thread at a time may add while any number of others read.
class LabelTable {
public:
    /// The number of a label; a new label is given one.
    std::uint32_t intern(Label label);

    std::size_t size() const noexcept { return labels_.size(); }
    const Label& operator[](std::uint32_t number) const noexcept { return *labels_[number]; }

    /// By number: whether somebody with that clearance (an index into the schema's levels) and
    /// those scopes sees it. Costs a bit per label, and a step for each that shares a scope.
    std::vector<bool> visible(std::size_t clearance, const std::vector<std::string>& scopes) const;

private:
    struct Hash {
        std::size_t operator()(const Label& label) const noexcept;
    };

    mutable std::mutex mutex_;                                // of the two lists of numbers
    std::unordered_map<Label, std::uint32_t, Hash> numbers_;  // the writer's
    core::StableVector<const Label*> labels_;                 // keys of numbers_
    std::unordered_map<std::string, std::vector<std::uint32_t>> by_scope_;
    std::vector<std::uint32_t> without_scope_;
};

}  // namespace braid::exact
