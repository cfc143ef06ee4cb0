#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "braid/cli/args/arguments.hpp"
#include "braid/cli/config/settings.hpp"
#include "braid/cli/interrupt.hpp"
#include "braid/cli/view/output.hpp"
#include "braid/database.hpp"
#include "braid/result.hpp"
#include "braid/service/service.hpp"
#include "braid/service/visitor.hpp"

namespace braid::cli {

inline constexpr FlagSpec kCollectionFlag{.name = "collection",
                                          .kind = FlagKind::Text,
                                          .value = "NAME",
                                          .help = "the collection (default: default)"};
/// Of commands that write much, where no server has the database.
inline constexpr FlagSpec kWriteMemoryFlag{
    .name = "write-memory-mb",
    .kind = FlagKind::Integer,
    .value = "N",
    .help = "for unflushed chunks, merges, graphs (default: 256)"};
/// Of a command that only writes: its memory hardly depends on how much (0271).
inline constexpr std::int64_t kLowWriteMemory = 64;
inline constexpr FlagSpec kLowWriteMemoryFlag{
    .name = "write-memory-mb",
    .kind = FlagKind::Integer,
    .value = "N",
    .help = "for unflushed chunks, merges, graphs (default: 64)"};
/// Of commands that read.
inline constexpr FlagSpec kReadFlag{.name = "collection",
                                    .kind = FlagKind::Text,
                                    .value = "NAME",
                                    .help = "the collection (default: default, or the only one)"};
inline constexpr FlagSpec kNamespaceFlag{.name = "namespace",
                                         .kind = FlagKind::Text,
                                         .value = "NAME",
                                         .help = "the namespace (default: default)"};
inline constexpr FlagSpec kFilterFlag{.name = "filter",
                                      .kind = FlagKind::Json,
                                      .value = "JSON",
                                      .help = "only chunks that match, e.g. '{\"year\": 2020}'"};
inline constexpr FlagSpec kIfVersionFlag{.name = "if-version",
                                         .kind = FlagKind::Integer,
                                         .value = "N",
                                         .help = "only if the chunk has this version (0: is new)"};

/// One run of the program: what was asked for, and what every command needs in order to answer.
class Session {
public:
    const Arguments& arguments;
    const Settings& settings;
    Output& out;
    Interrupts& interrupts;
    const service::Visitor visitor{};  // on whose behalf; everything is seen unless --as says so

    bool json() const { return arguments.has("json"); }
    bool quiet() const { return arguments.has("quiet"); }
    bool verbose() const { return arguments.has("verbose"); }

    /// --data, else the configuration's.
    std::string data() const { return arguments.text_or("data", settings.text("data")); }
    /// Of commands that search: by the exact engine, in this process, of what is on disk.
    bool exact_engine() const { return arguments.text("engine") == "exact"; }
    /// Whether a cluster holds the collections, not the folder data().
    bool clustered() const;
    /// The folder, or the nodes of the cluster.
    std::string place() const;
    /// Unsupported on a cluster, for commands that work on files.
    Result<> need_folder() const;
    std::string collection() const { return arguments.text_or("collection", kDefaultCollection); }
    std::string namespace_name() const {
        return arguments.text_or("namespace", visitor.namespaces.usual());
    }
    /// The collection and the namespace of the flags.
    service::Place at() const { return {collection(), namespace_name()}; }
    /// Of --filter.
    Result<std::optional<Filter>> filter() const;
    /// Service::run for commands that read. If nothing names a collection, none is called
    /// "default", and there is only one, that one is meant.
    template <class Operation>
    Result<typename Operation::Output> read(const service::Service& service,
                                            Operation operation) const {
        auto result = service.run(operation);
        if (result || result.error().code != ErrorCode::NotFound) return result;
        const std::string only = only_collection(service);
        if (only.empty()) return result;
        if constexpr (requires { operation.request; }) {
            if (!operation.request.collections.empty()) return result;
            operation.request.collections = {only};
        } else {
            if (arguments.has("collection")) return result;
            operation.at.collection = only;
        }
        if (verbose()) note("in \"" + only + "\", the only collection");
        return service.run(std::move(operation));
    }
    /// The same for a request that goes elsewhere: names the collection that is meant.
    void name_collection(const service::Service& service, Request& request) const;
    /// The collection that is meant by that rule.
    Result<std::string> collection_to_read(const service::Service& service) const;
    /// Of --if-version.
    Result<WriteOptions> write_options() const;

    /// Where the database is served; warns about a socket that cannot be trusted.
    std::optional<std::string> server_socket() const;
    /// Through the program that serves the database if one does, otherwise by opening it.
    Result<std::unique_ptr<service::Service>> service_for_reading() const;
    /// Locked, with advice, if another program writes and does not serve it.
    Result<std::unique_ptr<service::Service>> service_for_writing(bool create) const;

    /// Takes no lock and creates nothing.
    Result<Database> open_for_reading() const;
    /// Locked, with advice, if another program writes. Events of the database go to `log`; none: to
    /// people.
    Result<Database> open_for_writing(bool create, LogSink log = {}) const;

    /// A line for people on standard error, unless --quiet.
    void note(std::string_view text) const;
    void warn(std::string_view text) const;

private:
    /// The name of the only collection, if it is not "default"; else empty.
    static std::string only_collection(const service::Service& service);
    Result<Database> open(OpenOptions options) const;
    Result<std::unique_ptr<service::Service>> service_at(const std::string& socket) const;
};

}  // namespace braid::cli
