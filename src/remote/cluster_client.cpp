#include "braid/remote/cluster_client.hpp"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "braid/core/base64.hpp"
#include "braid/core/limits.hpp"
#include "braid/json/json.hpp"
#include "braid/net/client/url.hpp"

namespace braid::remote {
namespace {

/// How long a node that failed is tried last.
constexpr auto kNodeRest = std::chrono::seconds(5);
constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 20U;

net::HttpClientOptions http_options(const RemoteOptions& options) {
    net::HttpClientOptions http;
    http.connect_timeout = std::chrono::milliseconds(3'000);
    http.total_timeout = options.timeout;
    http.max_response_bytes = kMaxAnswerBytes;
    http.ca_file = options.ca_file;
    http.allow_private = true;  // the operator names the nodes
    http.offline = options.offline;
    return http;
}

std::string authorization(const std::string& key) {
    if (key.empty()) return {};
    if (key.find(':') == std::string::npos) return "Bearer " + key;
    return "Basic " + core::encode_base64(std::as_bytes(std::span(key)));
}

Result<Value> parse_answer(const net::HttpResponse& response) {
    if (response.body.empty()) return Value();
    const json::ParseLimits limits{
        .max_depth = 256, .max_bytes = kMaxAnswerBytes, .max_members = 20'000};
    auto parsed = json::parse(response.body, limits);
    if (parsed) return parsed;
    // A proxy's page, or a refusal in plain text.
    if (response.status >= 400) return Value(response.body.substr(0, 300));
    return fail(ErrorCode::Unavailable,
                "the server is not an OpenSearch cluster: its answer is not JSON, " +
                    parsed.error().message);
}

/// The cluster's own words, deepest cause first.
std::string reason_in(const Value& body) {
    if (body.is_string()) return body.as_string();
    const Value* const error = body.find("error");
    const Value& from = error != nullptr ? *error : body;
    if (from.is_string()) return from.as_string();
    const Value* cause = &from;
    if (const Value* const roots = from.find("root_cause");
        roots != nullptr && roots->is_array() && !roots->as_array().empty()) {
        cause = &roots->as_array().front();
    }
    for (const Value* next = from.find("caused_by"); next != nullptr;
         next = next->find("caused_by")) {
        cause = next;
    }
    const Value* const type = cause->find("type");
    const Value* const reason = cause->find("reason");
    std::string text = type != nullptr && type->is_string() ? type->as_string() : std::string();
    if (reason != nullptr && reason->is_string()) {
        text += (text.empty() ? "" : ": ") + reason->as_string();
    }
    return text.empty() ? json::print(from).substr(0, 300) : text;
}

/// What may be wrong if a node does not answer as it should.
std::string hint_of(const std::string& url, const std::string& message) {
    const bool tls = url.starts_with("https:");
    if (tls && message.find("SSL connect error") != std::string::npos) {
        return "; does the node speak TLS? Without it its URL begins with http://";
    }
    for (const char* const broken :
         {"Server returned nothing", "HTTP/0.9", "Failure when receiving"}) {
        if (!tls && message.find(broken) != std::string::npos) {
            return "; does the node speak TLS? Then its URL begins with https://";
        }
    }
    return "";
}

ErrorCode code_of(int status) noexcept {
    switch (status) {
        case 400:
            return ErrorCode::InvalidArgument;
        case 401:
        case 403:
            return ErrorCode::PermissionDenied;
        case 404:
            return ErrorCode::NotFound;
        case 409:
            return ErrorCode::Conflict;
        case 413:
            return ErrorCode::ResourceExhausted;
        default:
            return ErrorCode::Unavailable;
    }
}

}  // namespace

Error error_of(int status, const Value& body, const std::string& doing) {
    std::string reason = reason_in(body);
    if (status == 429) reason = "the cluster's queue is full (" + reason + ")";
    if (reason.starts_with("index_closed_exception")) {
        return {ErrorCode::Unavailable,
                doing + ": the index is closed; the cluster's _open opens it"};
    }
    // A lock on the index, not a right that is missing.
    if (status == 403 && reason.starts_with("cluster_block_exception")) {
        return {ErrorCode::ReadOnly, doing + ": status 403, " + reason};
    }
    return {code_of(status), doing + ": status " + std::to_string(status) + ", " + reason};
}

Result<> check_server(const Value& greeting) {
    const Value* const version = greeting.find("version");
    const Value* const number = version != nullptr ? version->find("number") : nullptr;
    const Value* const made_by = version != nullptr ? version->find("distribution") : nullptr;
    constexpr std::string_view kNeeded = "; braid needs OpenSearch 2.19 or newer with k-NN";
    if (number == nullptr || !number->is_string()) {
        return fail(ErrorCode::Unsupported,
                    "the server is not an OpenSearch cluster" + std::string(kNeeded));
    }
    const std::string& text = number->as_string();
    const bool ours =
        made_by != nullptr && made_by->is_string() && made_by->as_string() == "opensearch";
    // A setting lets it report the last version that both products had in common.
    if (ours && text == "7.10.2") return {};
    int major = 0;
    int minor = 0;
    const char* const end = text.data() + text.size();
    const char* const point = std::from_chars(text.data(), end, major).ptr;
    if (point != end) std::from_chars(point + 1, end, minor);
    if (ours && (major > 2 || (major == 2 && minor >= 19))) return {};
    return fail(ErrorCode::Unsupported, std::string("the cluster is ") +
                                            (ours ? "OpenSearch " : "not OpenSearch, version ") +
                                            text + std::string(kNeeded));
}

Result<std::unique_ptr<ClusterClient>> ClusterClient::create(const RemoteOptions& options) {
    if (options.urls.empty())
        return invalid_argument("a cluster needs the URL of at least one node");
    std::vector<std::string> urls;
    for (std::string url : options.urls) {
        while (url.ends_with('/')) url.pop_back();
        auto parsed = net::parse_url(url);
        if (!parsed && url.find('@') != std::string::npos) {
            return invalid_argument(
                "the URL of a node holds a user name; give \"user:password\" as the key instead "
                "(--key, BRAID_CLUSTER_KEY)");
        }
        if (!parsed) {
            return fail("the URL of a node, such as https://node1:9200, is not \"" + url + "\"",
                        std::move(parsed).error());
        }
        urls.push_back(std::move(url));
    }
    if (options.key.find_first_of("\r\n") != std::string::npos) {
        return invalid_argument("the cluster's key holds a line break");
    }
    return std::unique_ptr<ClusterClient>(new ClusterClient(options, std::move(urls)));
}

ClusterClient::ClusterClient(const RemoteOptions& options, std::vector<std::string> urls)
    : urls_(std::move(urls)),
      authorization_(authorization(options.key)),
      retries_{.max_attempts = std::max<std::size_t>(options.max_attempts, 1),
               .first_backoff = std::chrono::milliseconds(100),
               .max_backoff = std::chrono::milliseconds(3'000)},
      http_(http_options(options)),
      failed_at_(urls_.size()) {}

std::size_t ClusterClient::next_node() const noexcept {
    const std::size_t first = turn_.fetch_add(1, std::memory_order_relaxed) % urls_.size();
    const auto now = Clock::now().time_since_epoch().count();
    const auto rest = std::chrono::duration_cast<Clock::duration>(kNodeRest).count();
    std::size_t oldest = first;
    for (std::size_t i = 0; i < urls_.size(); ++i) {
        const std::size_t node = (first + i) % urls_.size();
        const Clock::rep failed = failed_at_[node].load(std::memory_order_relaxed);
        if (failed == 0 || now - failed > rest) return node;
        if (failed < failed_at_[oldest].load(std::memory_order_relaxed)) oldest = node;
    }
    return oldest;
}

Result<ClusterAnswer> ClusterClient::exchange(net::HttpRequest request, const std::string& path,
                                              const CallLimits& limits) const {
    if (!authorization_.empty()) request.headers.push_back({"Authorization", authorization_});
    if (!limits.traceparent.empty()) request.headers.push_back({"traceparent", limits.traceparent});
    const std::size_t most = limits.interactive ? std::min(urls_.size() + 1, retries_.max_attempts)
                                                : retries_.max_attempts;
    for (std::size_t attempt = 1;; ++attempt) {
        BRAID_CHECK(core::check_limits(limits));
        const std::size_t node = next_node();
        request.url = urls_[node] + path;
        auto response = http_.send(request, limits);
        bool node_failed = true;
        if (response) {
            node_failed =
                response->status == 502 || response->status == 503 || response->status == 504;
            const bool last = attempt >= most || !net::may_pass(response->status);
            failed_at_[node].store(node_failed ? Clock::now().time_since_epoch().count() : 0,
                                   std::memory_order_relaxed);
            if (last) {
                BRAID_TRY(Value body, parse_answer(*response));
                return ClusterAnswer{response->status, std::move(body)};
            }
        } else {
            const ErrorCode code = response.error().code;
            // A node that let a deadline pass is slow at best: the next call uses another.
            if (code == ErrorCode::Unavailable || code == ErrorCode::DeadlineExceeded) {
                failed_at_[node].store(Clock::now().time_since_epoch().count(),
                                       std::memory_order_relaxed);
            }
            if (code != ErrorCode::Unavailable) {
                return tl::unexpected<Error>(std::move(response).error());
            }
            if (attempt >= most) {
                const std::string& why = response.error().message;
                return fail(ErrorCode::Unavailable, "no node of the cluster answers, tried " +
                                                        std::to_string(attempt) + " times: " + why +
                                                        hint_of(urls_[node], why));
            }
        }
        // Another node may well be up: no pause until each has been tried.
        if (limits.interactive || (node_failed && attempt < urls_.size())) continue;
        if (auto paused = net::pause(retries_, attempt, limits); !paused) {
            return fail(request.method + " " + path.substr(0, path.find('?')),
                        std::move(paused).error());
        }
    }
}

Result<ClusterAnswer> ClusterClient::send(std::string_view method, const std::string& path,
                                          std::string body, const CallLimits& limits) const {
    net::HttpRequest request;
    request.method = std::string(method);
    if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    request.body = std::move(body);
    return exchange(std::move(request), path, limits);
}

Result<ClusterAnswer> ClusterClient::send_lines(const std::string& path, std::string body,
                                                const CallLimits& limits) const {
    net::HttpRequest request;
    request.method = "POST";
    request.headers.push_back({"Content-Type", "application/x-ndjson"});
    request.body = std::move(body);
    return exchange(std::move(request), path, limits);
}

Result<Value> ClusterClient::ask(std::string_view method, const std::string& path, std::string body,
                                 const CallLimits& limits) const {
    BRAID_TRY(ClusterAnswer answer, send(method, path, std::move(body), limits));
    if (answer.status < 300) return std::move(answer.body);
    return tl::unexpected<Error>(error_of(
        answer.status, answer.body, std::string(method) + " " + path.substr(0, path.find('?'))));
}

}  // namespace braid::remote
