#include "braid/local/engine.hpp"

#include "braid/exact/exact_index.hpp"

namespace braid::local {

std::string_view name_of(Engine engine) noexcept {
    switch (engine) {
        case Engine::Exact:
            break;
    }
    return "exact";
}

std::optional<Engine> engine_by_name(std::string_view name) noexcept {
    return name == name_of(Engine::Exact) ? std::optional(Engine::Exact) : std::nullopt;
}

std::unique_ptr<index::Index> make_index(Engine engine, const Schema& schema,
                                         const text::Analyzer& analyzer) {
    switch (engine) {
        case Engine::Exact:
            break;
    }
    return std::make_unique<exact::ExactIndex>(schema, analyzer);
}

}  // namespace braid::local
