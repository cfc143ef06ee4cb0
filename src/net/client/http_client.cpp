#include "braid/net/client/http_client.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "braid/core/waiting.hpp"
#include "braid/net/client/address_policy.hpp"
#include "braid/net/client/header.hpp"
#include "braid/net/client/url.hpp"

namespace braid::net {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxHeaderBytes = 256U << 10U;

template <class T, void (*Free)(T*)>
struct Freer {
    void operator()(T* object) const noexcept { Free(object); }
};
struct MultiFreer {
    void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};

/// A transfer handle with the connections it keeps; used by one send() at a time.
struct Channel {
    std::unique_ptr<CURLM, MultiFreer> multi{curl_multi_init()};
    std::unique_ptr<CURL, Freer<CURL, curl_easy_cleanup>> easy{curl_easy_init()};
};

using HeaderList = std::unique_ptr<curl_slist, Freer<curl_slist, curl_slist_free_all>>;

/// What the callbacks of one transfer share.
struct Transfer {
    const HttpClientOptions* options;
    HttpResponse response;
    std::size_t header_bytes = 0;
    bool headers_ended = false;
    bool too_large = false;
    bool refused_address = false;
};

std::string_view trimmed(std::string_view text) noexcept {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// The callbacks return a size other than the one given to break the transfer off.

std::size_t take_body(char* data, std::size_t /*one*/, std::size_t size, void* context) noexcept {
    auto& transfer = *static_cast<Transfer*>(context);
    std::string& body = transfer.response.body;
    if (size > transfer.options->max_response_bytes - body.size()) {
        transfer.too_large = true;
        return 0;
    }
    try {
        body.append(data, size);
    } catch (const std::bad_alloc&) {
        transfer.too_large = true;
        return 0;
    }
    return size;
}

std::size_t take_header(char* data, std::size_t /*one*/, std::size_t size, void* context) noexcept {
    auto& transfer = *static_cast<Transfer*>(context);
    const std::string_view line(data, size);
    transfer.header_bytes += size;
    if (transfer.header_bytes > kMaxHeaderBytes) {
        transfer.too_large = true;
        return 0;
    }
    try {
        if (line.starts_with("HTTP/")) {  // also the real answer after "100 Continue"
            transfer.response.headers.clear();
            transfer.headers_ended = false;
        } else if (trimmed(line).empty()) {
            transfer.headers_ended = true;
        } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
            transfer.response.headers.push_back({std::string(trimmed(line.substr(0, colon))),
                                                 std::string(trimmed(line.substr(colon + 1)))});
        }
    } catch (const std::bad_alloc&) {
        transfer.too_large = true;
        return 0;
    }
    return size;
}

bool is_private(const sockaddr& address) noexcept {
    if (address.sa_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
        return is_private_address({reinterpret_cast<const std::uint8_t*>(&v4.sin_addr), 4});
    }
    if (address.sa_family == AF_INET6) {
        const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
        return is_private_address({reinterpret_cast<const std::uint8_t*>(&v6.sin6_addr), 16});
    }
    return true;
}

/// The last moment before a connection, with the address really used: a name that resolves anew
/// cannot slip past.
curl_socket_t open_socket(void* context, curlsocktype /*purpose*/,
                          curl_sockaddr* address) noexcept {
    auto& transfer = *static_cast<Transfer*>(context);
    const HttpClientOptions& options = *transfer.options;
    if (!options.allow_private && options.proxy.empty() && options.unix_socket.empty() &&
        is_private(address->addr)) {
        transfer.refused_address = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

bool is_token(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

Result<HeaderList> make_headers(const std::vector<HttpHeader>& headers) {
    HeaderList list;
    const auto add = [&](const std::string& line) {
        curl_slist* const extended = curl_slist_append(list.get(), line.c_str());
        if (extended == nullptr) return false;
        if (list == nullptr) list.reset(extended);  // otherwise the head stays the same
        return true;
    };
    // No waiting for "100 Continue" before a body.
    bool added = add("Expect:");
    for (const HttpHeader& header : headers) {
        if (!is_token(header.name) ||
            header.value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
            return invalid_argument(
                "a request header's name or value holds characters HTTP forbids");
        }
        // A header without a value is spelt with a semicolon.
        added = added &&
                add(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
    }
    if (!added) return fail(ErrorCode::ResourceExhausted, "no memory for request headers");
    return list;
}

void set_up(CURL* easy, const HttpRequest& request, const std::string& url, curl_slist* headers,
            Transfer& transfer, milliseconds time_left) {
    const HttpClientOptions& options = *transfer.options;
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // a hanging resolver must not hold us up
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, options.proxy.c_str());
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    if (!options.unix_socket.empty()) {
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, options.unix_socket.c_str());
    }
    if (!options.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, options.ca_file.c_str());
    curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(options.connect_timeout.count()));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     static_cast<long>(std::max<milliseconds::rep>(time_left.count(), 1)));
    if (request.method == "HEAD") {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (request.method != "GET" || !request.body.empty()) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         static_cast<curl_off_t>(request.body.size()));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &transfer);
}

/// Runs the transfer to its end or until the limits say stop.
Result<CURLcode> drive(Channel& channel, const CallLimits& limits) {
    CURLM* const multi = channel.multi.get();
    if (curl_multi_add_handle(multi, channel.easy.get()) != CURLM_OK) {
        return fail(ErrorCode::ResourceExhausted, "cannot start a transfer");
    }
    const std::stop_callback wake(limits.stop, [multi] { curl_multi_wakeup(multi); });
    const core::Waiting waiting;
    Result<CURLcode> outcome = CURLE_OK;
    for (int running = 1; running > 0;) {
        if (limits.stopped()) {
            outcome = fail(ErrorCode::Cancelled, "cancelled");
            break;
        }
        if (limits.expired()) {
            outcome = fail(ErrorCode::DeadlineExceeded, "no answer before the deadline");
            break;
        }
        auto wait = milliseconds(1000);
        if (limits.deadline) {
            const auto left = std::chrono::ceil<milliseconds>(*limits.deadline - Clock::now());
            wait = std::clamp(left, milliseconds(0), wait);
        }
        if (curl_multi_perform(multi, &running) != CURLM_OK ||
            (running > 0 && curl_multi_poll(multi, nullptr, 0, static_cast<int>(wait.count()),
                                            nullptr) != CURLM_OK)) {
            outcome = fail(ErrorCode::Unavailable, "the transfer failed");
            break;
        }
    }
    int queued = 0;
    for (const CURLMsg* message = curl_multi_info_read(multi, &queued); message != nullptr;
         message = curl_multi_info_read(multi, &queued)) {
        if (message->msg == CURLMSG_DONE && outcome) outcome = message->data.result;
    }
    curl_multi_remove_handle(multi, channel.easy.get());
    return outcome;
}

Result<> outcome_of(CURLcode code, const Transfer& transfer) {
    if (code == CURLE_OK) {
        if (transfer.headers_ended) return {};
        return fail(ErrorCode::Unavailable, "the answer ended in its headers");
    }
    if (transfer.too_large) {
        return fail(ErrorCode::ResourceExhausted,
                    "the answer is larger than " +
                        std::to_string(transfer.options->max_response_bytes) + " bytes");
    }
    if (transfer.refused_address) {
        return fail(ErrorCode::PermissionDenied,
                    "the host is on a private or local address (allow_private is off)");
    }
    switch (code) {
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_ISSUER_ERROR:
            return fail(ErrorCode::PermissionDenied, curl_easy_strerror(code));
        default:
            return fail(ErrorCode::Unavailable, curl_easy_strerror(code));
    }
}

bool follows_redirect(const std::string& method, int status) noexcept {
    if (status == 307 || status == 308) return true;
    return (status == 301 || status == 302 || status == 303) &&
           (method == "GET" || method == "HEAD");
}

}  // namespace

std::optional<std::string_view> HttpResponse::header(std::string_view name) const noexcept {
    return find_header(headers, name);
}

struct HttpClient::State {
    explicit State(HttpClientOptions given) : options(std::move(given)) {}

    std::unique_ptr<Channel> take() {
        const std::scoped_lock lock(mutex);
        if (idle.empty()) return std::make_unique<Channel>();
        auto channel = std::move(idle.back());
        idle.pop_back();
        return channel;
    }
    void give_back(std::unique_ptr<Channel> channel) {
        const std::scoped_lock lock(mutex);
        idle.push_back(std::move(channel));
    }

    Result<HttpResponse> follow(const HttpRequest& request, Url at, const CallLimits& limits);

    const HttpClientOptions options;
    std::mutex mutex;
    std::vector<std::unique_ptr<Channel>> idle;
};

Result<HttpResponse> HttpClient::State::follow(const HttpRequest& request, Url at,
                                               const CallLimits& limits) {
    BRAID_TRY(const HeaderList headers, make_headers(request.headers));
    const auto end = Clock::now() + options.total_timeout;
    std::unique_ptr<Channel> channel = take();
    if (!channel->easy || !channel->multi) {
        return fail(ErrorCode::ResourceExhausted, "no memory for a transfer");
    }
    std::string url = request.url;
    for (int redirects = 0;; ++redirects) {
        if (!options.allow_private && options.unix_socket.empty() && is_private_literal(at.host)) {
            return fail(ErrorCode::PermissionDenied,
                        "the host is on a private or local address (allow_private is off)");
        }
        Transfer transfer{.options = &options, .response = {}};
        set_up(channel->easy.get(), request, url, headers.get(), transfer,
               std::chrono::ceil<milliseconds>(end - Clock::now()));
        BRAID_TRY(const CURLcode code, drive(*channel, limits));
        BRAID_CHECK(outcome_of(code, transfer));
        long status = 0;
        curl_easy_getinfo(channel->easy.get(), CURLINFO_RESPONSE_CODE, &status);
        transfer.response.status = static_cast<int>(status);
        char* next = nullptr;
        curl_easy_getinfo(channel->easy.get(), CURLINFO_REDIRECT_URL, &next);
        if (next == nullptr || !follows_redirect(request.method, transfer.response.status)) {
            give_back(std::move(channel));
            return std::move(transfer.response);
        }
        url = next;
        BRAID_TRY(Url target, parse_url(url));
        if (!target.same_origin(at)) {
            return fail(ErrorCode::PermissionDenied,
                        "redirected to another host, " + target.host + ": refused");
        }
        if (redirects >= options.max_redirects) {
            return fail(ErrorCode::Unavailable, "redirected too often");
        }
        at = std::move(target);
    }
}

HttpClient::HttpClient(HttpClientOptions options)
    : state_(std::make_unique<State>(std::move(options))) {
    static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
    (void)kReady;  // without it every transfer fails, and says so
}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<HttpResponse> HttpClient::send(const HttpRequest& request, const CallLimits& limits) const {
    if (state_->options.offline) {
        return fail(ErrorCode::PermissionDenied, "offline: outgoing requests are switched off");
    }
    if (!is_token(request.method)) {
        return invalid_argument("not an HTTP method");
    }
    BRAID_TRY(Url url, parse_url(request.url));
    const std::string doing = request.method + " " + url.without_secrets();
    if (limits.stopped()) return fail(ErrorCode::Cancelled, doing + ": cancelled");
    auto response = state_->follow(request, std::move(url), limits);
    if (!response) return fail(doing, std::move(response).error());
    return response;
}

}  // namespace braid::net
