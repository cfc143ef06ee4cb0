#include "braid/server/http/server_metrics.hpp"

#include <utility>

namespace braid::server {
namespace {

net::OutgoingResponse plain(int status, std::string text) {
    net::OutgoingResponse response;
    response.status = status;
    response.headers.push_back({"Content-Type", std::string(kMetricsType)});
    response.headers.push_back({"X-Content-Type-Options", "nosniff"});
    response.body = std::move(text);
    return response;
}

}  // namespace

ServerMetrics::ServerMetrics(Database& database, const Metrics& metrics, std::string version)
    : database_(database), metrics_(metrics), version_(std::move(version)) {}

void ServerMetrics::watch_transport(std::function<net::HttpServer::Counters()> counters) {
    transport_ = std::move(counters);
}

void ServerMetrics::watch_sessions(std::function<std::size_t()> sessions) {
    sessions_ = std::move(sessions);
}

void ServerMetrics::watch_idempotency(std::function<std::size_t()> bytes) {
    idempotency_ = std::move(bytes);
}

void ServerMetrics::guard(
    std::function<std::optional<Refusal>(const net::IncomingRequest&)> check) {
    check_address_ = std::move(check);
}

void ServerMetrics::watch_memory(std::shared_ptr<const ByteBudget> memory) {
    memory_ = std::move(memory);
}

void ServerMetrics::write_store(std::string& out) const {
    const auto collections = database_.collections();
    if (!collections) return;
    double chunks = 0;
    double documents = 0;
    double damaged = 0;
    double bytes = 0;
    for (const CollectionInfo& info : *collections) {
        chunks += static_cast<double>(info.chunks);
        documents += static_cast<double>(info.documents);
        damaged += info.damage.empty() ? 0 : 1;
        bytes += static_cast<double>(info.bytes_on_disk);
    }
    write_metric(out, "braid_collections", "gauge", "Collections.",
                 static_cast<double>(collections->size()));
    write_metric(out, "braid_damaged_collections", "gauge", "Collections that cannot be read.",
                 damaged);
    write_metric(out, "braid_chunks", "gauge", "Chunks, over all collections.", chunks);
    write_metric(out, "braid_documents", "gauge", "Documents, over all collections.", documents);
    write_metric(out, "braid_store_bytes", "gauge", "Bytes on disk.", bytes);
    const BackendHealth health = database_.health();
    write_metric(
        out, "braid_collections_refusing_writes", "gauge",
        "Collections that take no writes: the disk is full or failed, or the lock was lost.",
        static_cast<double>(health.refusing.size()));
    write_metric(out, "braid_failed_writes_total", "counter", "Writes that the storage refused.",
                 static_cast<double>(health.failed_writes));
    write_metric(out, "braid_open_collections", "gauge", "Collections whose files are open.",
                 static_cast<double>(health.open_collections));
    write_metric(out, "braid_compactions_total", "counter", "Logs compacted automatically.",
                 static_cast<double>(health.compactions));
    write_metric(out, "braid_failed_compactions_total", "counter",
                 "Compactions that failed and left the log as it was.",
                 static_cast<double>(health.failed_compactions));
}

std::string ServerMetrics::text() const {
    std::string out;
    write_header(out, "braid_build_info", "gauge", "The running version.");
    out += "braid_build_info{version=\"" + label_value(version_) + "\"} 1\n";
    metrics_.write(out);
    write_store(out);
    if (sessions_) {
        write_metric(out, "braid_mcp_sessions", "gauge", "Open MCP sessions.",
                     static_cast<double>(sessions_()));
    }
    if (idempotency_) {
        write_metric(out, "braid_idempotency_bytes", "gauge",
                     "Bytes of answers kept for repeated requests.",
                     static_cast<double>(idempotency_()));
    }
    if (memory_) {
        write_metric(out, "braid_memory_bytes", "gauge", "Memory used by requests and answers.",
                     static_cast<double>(memory_->used()));
        write_metric(out, "braid_memory_limit_bytes", "gauge",
                     "Memory that requests and answers may use.",
                     static_cast<double>(memory_->limit()));
    }
    if (transport_) {
        const auto counters = transport_();
        write_metric(out, "braid_connections", "gauge", "Open connections.",
                     static_cast<double>(counters.connections));
        write_metric(out, "braid_connections_accepted_total", "counter", "Connections accepted.",
                     static_cast<double>(counters.accepted));
        write_metric(out, "braid_transport_requests_total", "counter",
                     "Requests the transport accepted.", static_cast<double>(counters.requests));
        write_metric(out, "braid_transport_refused_total", "counter",
                     "Requests the transport refused.", static_cast<double>(counters.refused));
    }
    write_process_metrics(out);
    return out;
}

std::optional<net::OutgoingResponse> ServerMetrics::admit(net::IncomingRequest& head,
                                                          std::size_t& body_limit) {
    body_limit = 0;
    if (const auto refusal = check_address_ ? check_address_(head) : std::nullopt) {
        return plain(facts_of(refusal->error).http_status, refusal->detail + "\n");
    }
    if (head.target != "/metrics") return plain(404, "only /metrics is here\n");
    if (head.method != "GET" && head.method != "HEAD") {
        auto response = plain(405, "GET /metrics\n");
        response.headers.push_back({"Allow", "GET"});
        return response;
    }
    return std::nullopt;
}

net::OutgoingResponse ServerMetrics::handle(const net::IncomingRequest& /*request*/) {
    return plain(200, text());
}

net::OutgoingResponse ServerMetrics::refuse(int status, std::string_view reason) {
    return plain(status, std::string(reason) + "\n");
}

}  // namespace braid::server
