#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "braid/cli/session.hpp"
#include "braid/net/http/server.hpp"
#include "braid/result.hpp"
#include "braid/server/http/app.hpp"

namespace braid::cli {

inline constexpr std::int64_t kHour = 3'600'000;  // milliseconds

/// How to serve: according to the flags, otherwise the configuration.
class ServeSettings {
public:
    explicit ServeSettings(const Session& session) : session_(session) {}

    std::string text(std::string_view flag, std::string_view setting) const;
    Result<std::int64_t> integer(std::string_view flag, std::int64_t max,
                                 std::int64_t otherwise) const;
    Result<std::int64_t> port(std::string_view flag, std::string_view setting) const;

    Result<net::HttpServerOptions> transport() const;
    Result<server::HttpAppOptions> app() const;

private:
    Result<std::size_t> mebibytes(std::string_view flag, std::string_view setting) const;
    /// One message must fit into what is available for all.
    Result<> add_memory(server::HttpAppOptions& options) const;
    Result<> add_logs(server::HttpAppOptions& options) const;
    Result<> add_experiment(server::HttpAppOptions& options) const;

    const Session& session_;
};

}  // namespace braid::cli
