#pragma once

#include <cstddef>
#include <cstdint>

/// The part of ONNX Runtime's C interface that braid calls, declared here because the packages that
/// carry the library carry no header (docs/decisions/0010-embedding-runtime.md). The interface is a
/// table of functions to which entries are only ever appended, so an entry's index is stable.
namespace braid::embed::ort {

/// Every index below exists since this version of the table.
inline constexpr std::uint32_t kApiVersion = 16;

struct Status;
struct Env;
struct Session;
struct SessionOptions;
struct RunOptions;
struct Value;
struct MemoryInfo;
struct TypeInfo;
struct TensorInfo;
struct Allocator;

inline constexpr int kFloat = 1;  // element types
inline constexpr int kInt64 = 7;
inline constexpr int kDeviceAllocator = 0;
inline constexpr int kDefaultMemory = 0;
inline constexpr int kFatal = 4;  // logging levels
inline constexpr int kNoOptimization = 0;

using AnyFunction = void (*)();
using LogFunction = void (*)(void* context, int level, const char* category, const char* log_id,
                             const char* where, const char* message);

/// What the library's one exported symbol, OrtGetApiBase, returns.
struct ApiBase {
    const AnyFunction* (*api)(std::uint32_t version);  // null if the library is older
    const char* (*version)();
};
using GetApiBase = const ApiBase* (*)();

/// One entry of the table: its index and its signature.
template <std::size_t Index, class Signature>
class Entry;

template <std::size_t Index, class Return, class... Arguments>
class Entry<Index, Return(Arguments...)> {
public:
    explicit Entry(const AnyFunction* table)
        : call_(reinterpret_cast<Return (*)(Arguments...)>(table[Index])) {}
    Return operator()(Arguments... arguments) const { return call_(arguments...); }

private:
    Return (*call_)(Arguments...);
};

/// A returned Status is null for success and is released by the caller.
struct Api {
    explicit Api(const AnyFunction* table)
        : error_message(table),
          create_env(table),
          disable_telemetry(table),
          create_session(table),
          run(table),
          create_session_options(table),
          save_optimized_model(table),
          disable_memory_pattern(table),
          set_optimization_level(table),
          set_intra_op_threads(table),
          set_inter_op_threads(table),
          input_count(table),
          output_count(table),
          input_type(table),
          output_type(table),
          input_name(table),
          output_name(table),
          create_tensor(table),
          tensor_data(table),
          as_tensor_info(table),
          element_type(table),
          rank(table),
          shape(table),
          tensor_info(table),
          create_cpu_memory_info(table),
          allocator_free(table),
          default_allocator(table),
          release_env(table),
          release_status(table),
          release_memory_info(table),
          release_session(table),
          release_value(table),
          release_type_info(table),
          release_tensor_info(table),
          release_session_options(table),
          add_session_config(table) {}

    Entry<2, const char*(const Status*)> error_message;
    Entry<4, Status*(LogFunction, void*, int, const char*, Env**)> create_env;
    Entry<6, Status*(const Env*)> disable_telemetry;
    Entry<8, Status*(const Env*, const void*, std::size_t, const SessionOptions*, Session**)>
        create_session;
    Entry<9, Status*(Session*, const RunOptions*, const char* const*, const Value* const*,
                     std::size_t, const char* const*, std::size_t, Value**)>
        run;
    Entry<10, Status*(SessionOptions**)> create_session_options;
    Entry<11, Status*(SessionOptions*, const char*)> save_optimized_model;
    Entry<17, Status*(SessionOptions*)> disable_memory_pattern;
    Entry<23, Status*(SessionOptions*, int)> set_optimization_level;
    Entry<24, Status*(SessionOptions*, int)> set_intra_op_threads;
    Entry<25, Status*(SessionOptions*, int)> set_inter_op_threads;
    Entry<30, Status*(const Session*, std::size_t*)> input_count;
    Entry<31, Status*(const Session*, std::size_t*)> output_count;
    Entry<33, Status*(const Session*, std::size_t, TypeInfo**)> input_type;
    Entry<34, Status*(const Session*, std::size_t, TypeInfo**)> output_type;
    Entry<36, Status*(const Session*, std::size_t, Allocator*, char**)> input_name;
    Entry<37, Status*(const Session*, std::size_t, Allocator*, char**)> output_name;
    Entry<49, Status*(const MemoryInfo*, void*, std::size_t, const std::int64_t*, std::size_t, int,
                      Value**)>
        create_tensor;
    Entry<51, Status*(Value*, void**)> tensor_data;
    Entry<55, Status*(const TypeInfo*, const TensorInfo**)> as_tensor_info;  // null: no tensor
    Entry<60, Status*(const TensorInfo*, int*)> element_type;
    Entry<61, Status*(const TensorInfo*, std::size_t*)> rank;
    Entry<62, Status*(const TensorInfo*, std::int64_t*, std::size_t)> shape;
    Entry<65, Status*(const Value*, TensorInfo**)> tensor_info;
    Entry<69, Status*(int, int, MemoryInfo**)> create_cpu_memory_info;
    Entry<76, Status*(Allocator*, void*)> allocator_free;
    Entry<78, Status*(Allocator**)> default_allocator;
    Entry<92, void(Env*)> release_env;
    Entry<93, void(Status*)> release_status;
    Entry<94, void(MemoryInfo*)> release_memory_info;
    Entry<95, void(Session*)> release_session;
    Entry<96, void(Value*)> release_value;
    Entry<98, void(TypeInfo*)> release_type_info;
    Entry<99, void(TensorInfo*)> release_tensor_info;
    Entry<100, void(SessionOptions*)> release_session_options;
    Entry<130, Status*(SessionOptions*, const char*, const char*)> add_session_config;
};

}  // namespace braid::embed::ort
