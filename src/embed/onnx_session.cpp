#include "braid/embed/onnx_session.hpp"

#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include <dlfcn.h>

#include "braid/core/shared_library.hpp"
#include "braid/embed/ort_api.hpp"
#include "braid/store/mapped_file.hpp"

namespace braid::embed {
namespace {

constexpr std::string_view kLibrary = "ONNX Runtime";

/// Deletes through an entry of the runtime's function table.
template <class T, class Release>
struct Releaser {
    const Release* release = nullptr;
    void operator()(T* object) const { (*release)(object); }
};
template <class T, class Release>
std::unique_ptr<T, Releaser<T, Release>> own(T* object, const Release& release) {
    return std::unique_ptr<T, Releaser<T, Release>>(object, Releaser<T, Release>{&release});
}

/// Turns a status into a Result and releases it.
Result<> check(const ort::Api& api, ort::Status* status) {
    if (status == nullptr) return {};
    std::string message = api.error_message(status);
    api.release_status(status);
    return invalid_argument("ONNX Runtime: " + std::move(message));
}

void ignore_log(void* /*context*/, int /*level*/, const char* /*category*/, const char* /*log_id*/,
                const char* /*where*/, const char* /*message*/) {}

}  // namespace

struct OnnxRuntime::State {
    explicit State(const ort::AnyFunction* table) : api(table) {}
    ~State() {
        if (memory != nullptr) api.release_memory_info(memory);
        if (env != nullptr) api.release_env(env);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    State(State&&) = delete;
    State& operator=(State&&) = delete;

    ort::Api api;
    std::string version;
    ort::Env* env = nullptr;
    ort::MemoryInfo* memory = nullptr;
};

OnnxRuntime::OnnxRuntime(std::unique_ptr<State> state) : state_(std::move(state)) {}
OnnxRuntime::~OnnxRuntime() = default;

const std::string& OnnxRuntime::version() const noexcept {
    return state_->version;
}

namespace {

/// From 1.29 on, official builds report their use to their maker, and keep an identifier and a
/// database in the user's cache directory, unless this is set before they are loaded.
Result<> forbid_telemetry() {
    // Once per process, before any thread of the runtime exists. A program with other threads that
    // read the environment meanwhile can set the variable itself when it starts.
    if (setenv("ORT_DISABLE_TELEMETRY", "1", 1) == 0) return {};  // NOLINT(concurrency-mt-unsafe)
    return fail(ErrorCode::ResourceExhausted, "cannot set ORT_DISABLE_TELEMETRY");
}

Result<std::shared_ptr<const OnnxRuntime>> load_new(const std::filesystem::path& library) {
    BRAID_CHECK(forbid_telemetry());
    BRAID_TRY(void* const handle, core::open_library(library, kLibrary));
    const auto refuse = [&](const std::string& why) {
        return core::cannot_use(library, kLibrary, why);
    };
    const auto base = reinterpret_cast<ort::GetApiBase>(dlsym(handle, "OrtGetApiBase"));
    if (base == nullptr) {
        dlclose(handle);
        return refuse("it has no OrtGetApiBase");
    }
    const ort::ApiBase& entry = *base();
    const ort::AnyFunction* const table = entry.api(ort::kApiVersion);
    if (table == nullptr) {
        return refuse("it is version " + std::string(entry.version()) + ", 1." +
                      std::to_string(ort::kApiVersion) + " or later is required");
    }
    auto state = std::make_unique<OnnxRuntime::State>(table);
    state->version = entry.version();
    const ort::Api& api = state->api;
    BRAID_CHECK(check(api, api.create_env(ignore_log, nullptr, ort::kFatal, "braid", &state->env)));
    BRAID_CHECK(check(api, api.disable_telemetry(state->env)));
    BRAID_CHECK(check(api, api.create_cpu_memory_info(ort::kDeviceAllocator, ort::kDefaultMemory,
                                                      &state->memory)));
    return std::make_shared<const OnnxRuntime>(std::move(state));
}

}  // namespace

Result<std::shared_ptr<const OnnxRuntime>> OnnxRuntime::load(const std::filesystem::path& library) {
    // Never destroyed: the runtime must outlive every session, including those in static variables.
    static auto& mutex = *new std::mutex;  // NOLINT(cppcoreguidelines-owning-memory)
    static auto& loaded =
        *new std::map<std::filesystem::path,  // NOLINT(cppcoreguidelines-owning-memory)
                      std::shared_ptr<const OnnxRuntime>>;
    std::error_code error;
    const std::filesystem::path path = std::filesystem::weakly_canonical(library, error);
    const std::scoped_lock lock(mutex);
    if (const auto found = loaded.find(path); found != loaded.end()) return found->second;
    BRAID_TRY(auto runtime, load_new(error ? library : path));
    loaded.emplace(path, runtime);
    return runtime;
}

struct OnnxSession::State {
    explicit State(std::shared_ptr<const OnnxRuntime> owner)
        : runtime(std::move(owner)), api(runtime->state().api) {}
    ~State() {
        if (session != nullptr) api.release_session(session);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    State(State&&) = delete;
    State& operator=(State&&) = delete;

    Result<> create(std::span<const std::byte> model, const OnnxGraph& graph);
    Result<> describe(std::size_t index, bool input, OnnxPort& port) const;
    Result<> describe_all();

    std::shared_ptr<const OnnxRuntime> runtime;
    const ort::Api& api;
    std::shared_ptr<const store::MappedFile> prepared;  // holds the weights that the session uses
    ort::Session* session = nullptr;
    std::vector<OnnxPort> inputs;
    std::vector<OnnxPort> outputs;
    std::vector<const char*> input_names;
};

namespace {

/// The runtime's own format; it copies only what it rearranges.
constexpr std::array<std::pair<const char*, const char*>, 3> kTakenAsItIs{{
    {"session.load_model_format", "ORT"},
    {"session.use_ort_model_bytes_directly", "1"},
    {"session.use_ort_model_bytes_for_initializers", "1"},
}};

}  // namespace

Result<> OnnxSession::State::create(std::span<const std::byte> model, const OnnxGraph& graph) {
    ort::SessionOptions* raw = nullptr;
    BRAID_CHECK(check(api, api.create_session_options(&raw)));
    const auto options = own(raw, api.release_session_options);
    BRAID_CHECK(check(api, api.set_intra_op_threads(raw, 1)));
    BRAID_CHECK(check(api, api.set_inter_op_threads(raw, 1)));
    BRAID_CHECK(check(api, api.add_session_config(raw, "session.intra_op.allow_spinning", "0")));
    BRAID_CHECK(check(api, api.add_session_config(raw, "session.inter_op.allow_spinning", "0")));
    // The runtime keeps a pattern per input shape, but texts have many lengths.
    BRAID_CHECK(check(api, api.disable_memory_pattern(raw)));
    if (graph.prepared != nullptr) {
        prepared = graph.prepared;
        BRAID_CHECK(check(api, api.set_optimization_level(raw, ort::kNoOptimization)));
        for (const auto& [name, value] : kTakenAsItIs) {
            BRAID_CHECK(check(api, api.add_session_config(raw, name, value)));
        }
    }
    if (!graph.save_to.empty()) {
        BRAID_CHECK(check(api, api.add_session_config(raw, "session.save_model_format", "ORT")));
        BRAID_CHECK(check(api, api.save_optimized_model(raw, graph.save_to.c_str())));
    }
    return check(
        api, api.create_session(runtime->state().env, model.data(), model.size(), raw, &session));
}

Result<> OnnxSession::State::describe(std::size_t index, bool input, OnnxPort& port) const {
    ort::Allocator* allocator = nullptr;
    BRAID_CHECK(check(api, api.default_allocator(&allocator)));
    char* name = nullptr;
    BRAID_CHECK(check(api, input ? api.input_name(session, index, allocator, &name)
                                 : api.output_name(session, index, allocator, &name)));
    port.name = name;
    BRAID_CHECK(check(api, api.allocator_free(allocator, name)));

    ort::TypeInfo* raw = nullptr;
    BRAID_CHECK(check(
        api, input ? api.input_type(session, index, &raw) : api.output_type(session, index, &raw)));
    const auto type = own(raw, api.release_type_info);
    const ort::TensorInfo* tensor = nullptr;
    BRAID_CHECK(check(api, api.as_tensor_info(raw, &tensor)));
    if (tensor == nullptr) return {};
    BRAID_CHECK(check(api, api.element_type(tensor, &port.element_type)));
    std::size_t rank = 0;
    BRAID_CHECK(check(api, api.rank(tensor, &rank)));
    port.shape.resize(rank);
    return check(api, api.shape(tensor, port.shape.data(), rank));
}

Result<> OnnxSession::State::describe_all() {
    std::size_t count = 0;
    BRAID_CHECK(check(api, api.input_count(session, &count)));
    inputs.resize(count);
    for (std::size_t i = 0; i < count; ++i) BRAID_CHECK(describe(i, true, inputs[i]));
    for (const OnnxPort& input : inputs) input_names.push_back(input.name.c_str());
    BRAID_CHECK(check(api, api.output_count(session, &count)));
    outputs.resize(count);
    for (std::size_t i = 0; i < count; ++i) BRAID_CHECK(describe(i, false, outputs[i]));
    return {};
}

OnnxSession::OnnxSession(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
OnnxSession::~OnnxSession() = default;
OnnxSession::OnnxSession(OnnxSession&&) noexcept = default;
OnnxSession& OnnxSession::operator=(OnnxSession&&) noexcept = default;

const std::vector<OnnxPort>& OnnxSession::inputs() const noexcept {
    return state_->inputs;
}

const std::vector<OnnxPort>& OnnxSession::outputs() const noexcept {
    return state_->outputs;
}

Result<OnnxSession> OnnxSession::open(std::shared_ptr<const OnnxRuntime> runtime,
                                      std::span<const std::byte> model, const OnnxGraph& graph) {
    auto state = std::make_unique<State>(std::move(runtime));
    BRAID_CHECK(state->create(model, graph));
    BRAID_CHECK(state->describe_all());
    return OnnxSession(std::move(state));
}

Result<OnnxTensor> OnnxSession::run(std::span<const std::span<const std::int64_t>> rows,
                                    std::size_t output) const {
    const ort::Api& api = state_->api;
    const ort::MemoryInfo* const memory = state_->runtime->state().memory;
    std::vector<decltype(own(std::declval<ort::Value*>(), api.release_value))> owned;
    std::vector<const ort::Value*> values;
    for (const auto& row : rows) {
        const std::array<std::int64_t, 2> shape{1, static_cast<std::int64_t>(row.size())};
        ort::Value* value = nullptr;
        // The runtime takes inputs as mutable but does not write to them.
        auto* const data = const_cast<std::int64_t*>(row.data());
        BRAID_CHECK(check(api, api.create_tensor(memory, data, row.size_bytes(), shape.data(),
                                                 shape.size(), ort::kInt64, &value)));
        owned.push_back(own(value, api.release_value));
        values.push_back(value);
    }
    const char* const output_name = state_->outputs[output].name.c_str();
    ort::Value* raw_result = nullptr;
    BRAID_CHECK(check(api, api.run(state_->session, nullptr, state_->input_names.data(),
                                   values.data(), values.size(), &output_name, 1, &raw_result)));
    const auto result = own(raw_result, api.release_value);
    if (state_->prepared != nullptr) BRAID_CHECK(state_->prepared->intact());

    ort::TensorInfo* raw_info = nullptr;
    BRAID_CHECK(check(api, api.tensor_info(raw_result, &raw_info)));
    const auto info = own(raw_info, api.release_tensor_info);
    OnnxTensor tensor;
    std::size_t rank = 0;
    BRAID_CHECK(check(api, api.rank(raw_info, &rank)));
    tensor.shape.resize(rank);
    BRAID_CHECK(check(api, api.shape(raw_info, tensor.shape.data(), rank)));
    std::size_t size = 1;
    for (const std::int64_t extent : tensor.shape) size *= static_cast<std::size_t>(extent);
    void* data = nullptr;
    BRAID_CHECK(check(api, api.tensor_data(raw_result, &data)));
    const auto* const floats = static_cast<const float*>(data);
    tensor.data.assign(floats, floats + size);
    return tensor;
}

}  // namespace braid::embed
