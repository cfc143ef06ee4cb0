#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "braid/result.hpp"

namespace braid::store {
class MappedFile;
}

namespace braid::embed {

/// ONNX Runtime, loaded from a shared library when first needed: braid itself does not link it.
/// Stays loaded until the process ends. Loading sets ORT_DISABLE_TELEMETRY in the environment: the
/// runtime must not report to anyone. Safe for concurrent use.
class OnnxRuntime {
public:
    struct State;

    /// NotFound if there is no such file, Unsupported if it is not ONNX Runtime or too old. The
    /// same path gives the same runtime.
    static Result<std::shared_ptr<const OnnxRuntime>> load(const std::filesystem::path& library);

    explicit OnnxRuntime(std::unique_ptr<State> state);
    ~OnnxRuntime();
    OnnxRuntime(const OnnxRuntime&) = delete;
    OnnxRuntime& operator=(const OnnxRuntime&) = delete;
    OnnxRuntime(OnnxRuntime&&) = delete;
    OnnxRuntime& operator=(OnnxRuntime&&) = delete;

    const std::string& version() const noexcept;
    const State& state() const noexcept { return *state_; }

private:
    std::unique_ptr<State> state_;
};

/// A model's input or output.
struct OnnxPort {
    std::string name;
    int element_type = 0;             // as in ort_api.hpp; 0 if it is not a tensor
    std::vector<std::int64_t> shape;  // -1 where any size will do
};

/// Floats in row-major order.
struct OnnxTensor {
    std::vector<float> data;
    std::vector<std::int64_t> shape;
};

/// What is known about the graph in a model's bytes.
struct OnnxGraph {
    /// Holds the bytes, which this runtime saved on this kind of processor: they are used as they
    /// are, and weights are read in place. Null: an ordinary model.
    std::shared_ptr<const store::MappedFile> prepared;
    std::filesystem::path save_to;  // where the runtime writes its prepared graph; empty: nowhere
};

/// A loaded model. Runs on the calling thread and starts none of its own. Safe for concurrent use.
class OnnxSession {
public:
    /// InvalidArgument if the bytes are not a model this runtime can run, or if the prepared graph
    /// cannot be written. The bytes are needed only during the call, unless they are prepared.
    static Result<OnnxSession> open(std::shared_ptr<const OnnxRuntime> runtime,
                                    std::span<const std::byte> model, const OnnxGraph& graph = {});

    ~OnnxSession();
    OnnxSession(OnnxSession&&) noexcept;
    OnnxSession& operator=(OnnxSession&&) noexcept;
    OnnxSession(const OnnxSession&) = delete;
    OnnxSession& operator=(const OnnxSession&) = delete;

    const std::vector<OnnxPort>& inputs() const noexcept;
    const std::vector<OnnxPort>& outputs() const noexcept;

    /// Runs the model on one row per input, in the order of inputs(), each of shape [1, size];
    /// returns the float output `output`. InvalidArgument if the model rejects them, Corruption if
    /// its prepared file was truncated meanwhile.
    Result<OnnxTensor> run(std::span<const std::span<const std::int64_t>> rows,
                           std::size_t output) const;

private:
    struct State;
    explicit OnnxSession(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace braid::embed
