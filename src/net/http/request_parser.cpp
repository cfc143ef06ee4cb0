#include "braid/net/http/request_parser.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "braid/net/client/header.hpp"

namespace braid::net {
namespace {

namespace http = boost::beast::http;
using Code = boost::beast::error_code;
using Text = boost::beast::string_view;

constexpr int kBadRequest = 400;
constexpr int kContentTooLarge = 413;
constexpr int kHeadTooLarge = 431;
constexpr int kNoMemory = 503;
constexpr std::size_t kFirstReservation = std::size_t{16} << 10;
constexpr std::size_t kFreeBytes = std::size_t{16} << 10;  // of each body
constexpr std::string_view kNoRoom = "request bodies use all the memory set aside for them";

/// What a body of that many bytes takes of the budget.
std::size_t counted_size(std::size_t bytes) {
    return bytes - std::min(bytes, kFreeBytes);
}

std::string_view view_of(Text text) {
    return {text.data(), text.size()};
}

/// Looks for the end of a head, and on the way for what Beast would let pass.
class HeadScanner {
public:
    enum class Finding { More, End, Bad };

    /// `at` is where to go on; the end of the head if there is one.
    Finding scan(std::string_view bytes, std::size_t& at) {
        for (; at < bytes.size(); ++at) {
            const char c = bytes[at];
            if (c == '\0') return bad("a NUL byte in the head");
            if (after_return_ != (c == '\n')) return bad("a line of the head does not end in CRLF");
            if (c == '\n') {
                if (line_ == 0) {
                    ++at;
                    return Finding::End;
                }
                line_ = 0;
            } else if (c != '\r') {
                if (line_ == 0 && (c == ' ' || c == '\t')) return bad("a folded line in the head");
                ++line_;
            }
            after_return_ = c == '\r';
        }
        return Finding::More;
    }
    std::string_view reason() const { return reason_; }

private:
    Finding bad(std::string_view reason) {
        reason_ = reason;
        return Finding::Bad;
    }

    std::size_t line_ = 0;  // characters before its end
    bool after_return_ = false;
    std::string_view reason_;
};

}  // namespace

struct RequestParser::Impl final : http::basic_parser<true> {
    explicit Impl(std::size_t head_limit) : max_head(head_limit) {
        eager(false);  // put() stops after the head
        header_limit(static_cast<std::uint32_t>(std::min<std::size_t>(head_limit + 1, 0x7fffffff)));
        body_limit(boost::none);  // counted here: Beast counts each chunk alone
    }

    void refuse(int code, std::string why) {
        state = State::Failed;
        status = code;
        reason = std::move(why);
    }

    std::size_t put_head(std::string_view bytes) {
        const auto finding = scanner.scan(bytes, scanned);
        if (finding == HeadScanner::Finding::Bad) {
            refuse(kBadRequest, std::string(scanner.reason()));
            return 0;
        }
        if (scanned > max_head) {
            refuse(kHeadTooLarge, "the head of the request is too large");
            return 0;
        }
        if (finding == HeadScanner::Finding::More) return 0;
        Code error;
        const std::size_t taken = put(boost::asio::buffer(bytes.data(), scanned), error);
        if (error || !is_header_done() || taken != scanned) {
            refuse(kBadRequest, reason.empty() ? "not an HTTP/1.1 request" : std::string(reason));
            return 0;
        }
        check_head();
        if (state != State::Failed) state = is_done() ? State::Done : State::Body;
        eager(true);
        return taken;
    }

    void check_head() {
        if (host_count > 1) return refuse(kBadRequest, "several Host headers");
        if (version == 11 && host_count == 0) return refuse(kBadRequest, "no Host header");
        if (version == 10 && chunked()) return refuse(kBadRequest, "a chunked body in HTTP/1.0");
    }

    std::size_t put_body(std::string_view bytes) {
        Code error;
        std::size_t taken = 0;
        // Beast takes a piece at a time where chunks begin and end.
        while (taken < bytes.size() && !is_done() && !error) {
            const std::size_t step =
                put(boost::asio::buffer(bytes.data() + taken, bytes.size() - taken), error);
            taken += step;
            if (step == 0) break;
        }
        if (error == http::error::need_more) error = {};
        if (error) {
            if (state != State::Failed) refuse(kBadRequest, "the body is not properly chunked");
            return taken;
        }
        if (is_done()) {
            state = State::Done;
        } else if (bytes.size() - taken > max_head) {
            refuse(kHeadTooLarge, "the head of a chunk is too large");
        }
        return taken;
    }

    std::size_t take(Text piece, Code& error) {
        if (piece.size() > max_body - request.body.size()) {
            refuse(kContentTooLarge, "the body is too large");
            error = http::error::body_limit;
            return 0;
        }
        if (!make_room(request.body.size() + piece.size())) {
            refuse(kNoMemory, std::string(kNoRoom));
            error = http::error::body_limit;
            return 0;
        }
        request.body.append(piece.data(), piece.size());
        return piece.size();
    }

    /// Grows by doubling, as strings do, but not beyond what can come, and counts before it does.
    bool make_room(std::size_t size) {
        const std::size_t now = request.body.capacity();
        if (size <= now) return true;
        const std::size_t most = std::min<std::uint64_t>(max_body, declared);
        const std::size_t wanted = std::max(size, std::min(2 * now, most));
        if (request.held && !request.held->grow_to(counted_size(wanted))) return false;
        request.body.reserve(wanted);
        return true;
    }

    void on_request_impl(http::verb /*verb*/, Text method, Text target, int number,
                         Code& error) override {
        if (std::ranges::any_of(target, [](char c) { return c <= ' ' || c == 0x7f; })) {
            reason = "the target is not ASCII";  // char is signed: above 0x7f is below ' '
            error = http::error::bad_target;
            return;
        }
        request.method = view_of(method);
        request.target = view_of(target);
        version = number;
    }
    void on_field_impl(http::field field, Text name, Text value, Code& error) override {
        if (is_header_done()) return;  // trailers may not change what was checked
        if (field == http::field::host) ++host_count;
        if (field == http::field::transfer_encoding &&
            !equal_ignoring_case(view_of(value), "chunked")) {
            reason = "a Transfer-Encoding other than chunked";
            error = http::error::bad_transfer_encoding;
        }
        if (field == http::field::expect && equal_ignoring_case(view_of(value), "100-continue")) {
            expects = true;
        }
        request.headers.push_back({std::string(view_of(name)), std::string(view_of(value))});
    }
    void on_body_init_impl(const boost::optional<std::uint64_t>& length, Code& /*error*/) override {
        if (length) {  // grown by what arrives beyond that: a length is only a claim
            declared = *length;
            request.body.reserve(std::min<std::uint64_t>(*length, kFirstReservation));
        }
    }
    std::size_t on_body_impl(Text piece, Code& error) override { return take(piece, error); }
    std::size_t on_chunk_body_impl(std::uint64_t /*left*/, Text piece, Code& error) override {
        return take(piece, error);
    }
    void on_response_impl(int /*status*/, Text /*why*/, int /*version*/, Code& /*e*/) override {}
    void on_header_impl(Code& /*error*/) override {}
    void on_chunk_header_impl(std::uint64_t /*size*/, Text /*extension*/, Code& /*e*/) override {}
    void on_finish_impl(Code& /*error*/) override {}

    const std::size_t max_head;
    std::size_t max_body = std::numeric_limits<std::size_t>::max();
    std::uint64_t declared = std::numeric_limits<std::uint64_t>::max();  // length of the body
    HeadScanner scanner;
    std::size_t scanned = 0;
    State state = State::Head;
    int status = 0;
    std::string reason;
    IncomingRequest request;
    int version = 11;
    int host_count = 0;
    bool expects = false;
};

RequestParser::RequestParser(std::size_t max_head_bytes)
    : impl_(std::make_unique<Impl>(max_head_bytes)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

std::size_t RequestParser::put(std::string_view bytes) {
    switch (impl_->state) {
        case State::Head:
            return impl_->put_head(bytes);
        case State::Body:
            return impl_->put_body(bytes);
        case State::Done:
        case State::Failed:
            break;
    }
    return 0;
}

RequestParser::State RequestParser::state() const noexcept {
    return impl_->state;
}
int RequestParser::status() const noexcept {
    return impl_->status;
}
std::string_view RequestParser::reason() const noexcept {
    return impl_->reason;
}
IncomingRequest& RequestParser::request() noexcept {
    return impl_->request;
}
bool RequestParser::keep_alive() const noexcept {
    return impl_->keep_alive();
}
bool RequestParser::has_body() const noexcept {
    return impl_->chunked() || impl_->content_length().value_or(0) > 0;
}
bool RequestParser::expects_continue() const noexcept {
    return impl_->expects && impl_->version == 11 && has_body();
}

void RequestParser::count_body(const std::shared_ptr<ByteBudget>& budget) {
    if (!budget || impl_->state == State::Failed || !has_body()) return;
    impl_->request.held = std::make_shared<HeldBytes>(budget);
    const std::size_t free = budget->limit() - std::min(budget->limit(), budget->used());
    if (counted_size(impl_->content_length().value_or(0)) > free) {
        impl_->refuse(kNoMemory, std::string(kNoRoom));
    }
}

void RequestParser::limit_body(std::size_t bytes) {
    impl_->max_body = bytes;
    if (impl_->content_length().value_or(0) > bytes) {
        impl_->refuse(kContentTooLarge, "the body is too large");
    }
}

}  // namespace braid::net
