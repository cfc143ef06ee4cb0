#pragma once

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/result.hpp"

namespace braid::embed {

/// Where models and the inference runtime are looked for, in order.
class ModelLocator {
public:
    /// `$BRAID_MODELS`; `models`, `../models`, `../share/braid/models` and `../lib/braid/models`
    /// beside the running program and beside the library that contains this code (build trees have
    /// a link there); `$XDG_DATA_HOME/braid/models` (or ~/.local/share/braid/models). What is made
    /// from models is kept in `$BRAID_CACHE`, or `$XDG_CACHE_HOME/braid` (or ~/.cache/braid).
    static ModelLocator standard();

    /// `cache`: where what is made from models is kept; empty: nowhere.
    explicit ModelLocator(std::vector<std::filesystem::path> places,
                          std::filesystem::path cache = {})
        : places_(std::move(places)), cache_(std::move(cache)) {}

    const std::vector<std::filesystem::path>& places() const noexcept { return places_; }
    const std::filesystem::path& cache() const noexcept { return cache_; }

    /// The first place that has the file `relative`. NotFound lists the places and says how to
    /// fetch what is missing.
    Result<std::filesystem::path> find(std::string_view relative) const;

private:
    std::vector<std::filesystem::path> places_;
    std::filesystem::path cache_;
};

}  // namespace braid::embed
