#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "braid/server/http/metrics.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/log.hpp"

namespace braid::server {

struct WatchOptions {
    service::LineSink log;
    service::LogFormat format = service::LogFormat::Human;
    bool texts = false;
    std::chrono::milliseconds slow_query{0};
    service::LineSink audit;
};

/// What is known about a request once it has been answered.
struct Served {
    std::string_view request_id;
    std::string_view trace_id;  // empty: none
    std::string_view peer;
    std::string_view key;    // empty: no key
    std::string_view route;  // its id; "none"
    std::string_view method;
    std::string_view target;  // logged with texts only: it may name chunks
    int status = 0;
    std::chrono::nanoseconds took{};
    std::size_t request_bytes = 0;
    std::size_t response_bytes = 0;
};

/// Watches one request for the metrics, the log and the audit.
class Watch final : public service::Observer {
public:
    /// Both must outlive it.
    Watch(Metrics& metrics, const WatchOptions& options) : metrics_(metrics), options_(options) {}

    void answered(const Answer& answer) override;
    void packed(const Context& context) override;
    void showed(std::string_view collection, std::span<const std::string> chunk_ids) override;
    void changed(std::string_view collection, std::uint64_t chunks) override;
    void failed(const Error& error) override;

    /// Counts the request and writes its lines.
    void finish(const Served& served) const;

private:
    void add(const Timings& timings);
    void write_log(const Served& served) const;
    void write_audit(const Served& served) const;

    Metrics& metrics_;
    const WatchOptions& options_;
    std::size_t searches_ = 0;
    std::size_t dense_ = 0;
    std::size_t sparse_ = 0;
    std::size_t before_ = 0;
    std::size_t returned_ = 0;
    bool complete_ = true;
    Timings timings_;
    std::string error_;  // the first that is not the caller's fault
    std::vector<std::string> queries_;
    std::vector<std::string> collections_;
    std::map<std::string, std::vector<std::string>, std::less<>> shown_;
    std::map<std::string, std::uint64_t, std::less<>> changed_;
};

}  // namespace braid::server
