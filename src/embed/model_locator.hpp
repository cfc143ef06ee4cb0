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
    /// beside the running program and beside the library that holds this code (build trees have a
    /// link there); `$XDG_DATA_HOME/braid/models` (or ~/.local/share/braid/models).
    static ModelLocator standard();

    explicit ModelLocator(std::vector<std::filesystem::path> places) : places_(std::move(places)) {}

    const std::vector<std::filesystem::path>& places() const noexcept { return places_; }

    /// The first place that holds the file `relative`. NotFound lists the places and says how to
    /// fetch what is missing.
    Result<std::filesystem::path> find(std::string_view relative) const;

private:
    std::vector<std::filesystem::path> places_;
};

}  // namespace braid::embed
