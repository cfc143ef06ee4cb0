#pragma once

#include "embed/tiny_onnx.hpp"

namespace braid::embed {

/// A cross-encoder whose score of a pair is the sum of the passage's token ids, its [SEP] included:
/// what it was given can be read from the score. `columns` numbers per pair.
inline TinyOnnx tiny_reranker(std::int64_t columns = 1) {
    TinyOnnx model;
    model.input({.name = "input_ids"})
        .input({.name = "attention_mask"})
        .input({.name = "token_type_ids"})
        .constant("axis", {1})
        .constant("copies", {1, columns})
        .node("Mul", {"input_ids", "token_type_ids"}, "passage")
        .node("ReduceSum", {"passage", "axis"}, "sum")
        .node("Tile", {"sum", "copies"}, "tiled")
        .node("Cast", {"tiled"}, "logits", TinyOnnx::attribute("to", 1))
        .output({.name = "logits", .element_type = 1, .shape = {TinyOnnx::kAny, columns}});
    return model;
}

}  // namespace braid::embed
