#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "braid/database.hpp"
#include "braid/service/operations.hpp"
#include "calls.hpp"
#include "values.hpp"

namespace braid::python {

struct OpenDatabase {
    OpenDatabase(Database opened, service::ServiceOptions options)
        : database(std::move(opened)), operations(database, std::move(options)) {}

    Database database;
    service::Operations operations;
};
using OpenPtr = std::shared_ptr<OpenDatabase>;

/// An open database. Calls in progress keep it open; the last of them closes it for good.
class Engine {
public:
    /// In memory without a path. Needs the GIL.
    Engine(const std::optional<std::string>& path, nb::dict options);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    Engine(Engine&&) = delete;
    Engine& operator=(Engine&&) = delete;

    /// Needs the GIL, which it gives back meanwhile.
    void close();
    bool closed() const;

    /// The database, for one call. Unavailable if it is closed, Unsupported in a forked child.
    Result<OpenPtr> open() const;

private:
    bool forked() const { return generation_ != fork_generation(); }

    unsigned generation_ = fork_generation();
    mutable std::mutex mutex_;
    OpenPtr open_;
};

/// `Engine`, `Principal`, and `StopSource`, which cancels an engine's calls.
void bind_engine(nb::module_& module);
/// What bench/python compares its calls with.
void bind_measures(nb::module_& module);
/// `fuse`, `evaluate`, `cosine_similarity`, `euclidean_distance`, `normalize`.
void bind_tools(nb::module_& module);

}  // namespace braid::python
