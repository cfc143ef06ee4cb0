#include "braid/net/http/connection.hpp"

#include <ctime>
#include <utility>

#include "braid/net/client/header.hpp"
#include "braid/net/http/response_head.hpp"

namespace braid::net {
namespace {

constexpr int kRequestTimeout = 408;
constexpr int kUnavailable = 503;
/// What is read ahead while a request runs.
constexpr std::size_t kReadAhead = std::size_t{64} << 10;

}  // namespace

HttpConnection::HttpConnection(ConnectionSetup& setup, ConnectionWire& wire, std::string peer,
                               bool tls)
    : setup_(setup), wire_(wire), peer_(std::move(peer)), tls_(tls) {}

void HttpConnection::start() {
    expect_request();
    read_more();
}

void HttpConnection::expect_request() {
    state_ = State::Reading;
    parser_.reset();
    head_checked_ = false;
    wire_.wake_at(Clock::now() + setup_.options.idle_timeout);
}

void HttpConnection::read_more() {
    if (reading_ || ended_ || state_ == State::Closed) return;
    if (state_ != State::Reading && input_.size() >= kReadAhead) return;
    reading_ = true;
    wire_.read();
}

void HttpConnection::on_bytes(std::string_view bytes) {
    reading_ = false;
    if (state_ == State::Closed) return;
    input_.append(bytes);
    if (state_ == State::Reading) advance();
    read_more();
}

void HttpConnection::on_end() {
    reading_ = false;
    ended_ = true;
    gone_.request_stop();
    if (state_ == State::Reading) close(false);
}

void HttpConnection::skip_blank_lines() {
    std::size_t blank = 0;
    while (input_.compare(blank, 2, "\r\n") == 0) blank += 2;
    input_.erase(0, blank);
}

void HttpConnection::advance() {
    while (state_ == State::Reading) {
        if (!parser_) {
            skip_blank_lines();
            if (input_.empty() || input_ == "\r") {
                input_.shrink_to_fit();
                return;
            }
            parser_ = std::make_unique<RequestParser>(setup_.options.max_head_bytes);
            wire_.wake_at(Clock::now() + setup_.options.read_timeout);
        }
        input_.erase(0, parser_->put(input_));
        if (parser_->state() == RequestParser::State::Failed) {
            refuse(parser_->status(), parser_->reason());
            return;
        }
        if (parser_->state() == RequestParser::State::Head) return;
        if (!head_checked_ && !admit()) return;
        if (parser_->state() == RequestParser::State::Done) {
            dispatch();
            return;
        }
        input_.erase(0, parser_->put(input_));
        if (parser_->state() == RequestParser::State::Body) return;
    }
}

bool HttpConnection::admit() {
    head_checked_ = true;
    IncomingRequest& request = parser_->request();
    request.peer = peer_;
    request.tls = tls_;
    head_only_ = request.method == "HEAD";
    keep_ = parser_->keep_alive();
    std::size_t limit = setup_.options.max_body_bytes;
    if (auto refusal = setup_.handler.admit(request, limit)) {
        politely_ = parser_->has_body();
        respond(*std::move(refusal), keep_ && !parser_->has_body());
        return false;
    }
    parser_->limit_body(limit);
    parser_->count_body(setup_.options.bodies);
    if (parser_->state() == RequestParser::State::Failed) {
        refuse(parser_->status(), parser_->reason());
        return false;
    }
    if (parser_->expects_continue() && input_.empty()) {
        state_ = State::Continuing;
        wire_.write("HTTP/1.1 100 Continue\r\n\r\n", {});
        return false;
    }
    return true;
}

void HttpConnection::dispatch() {
    state_ = State::Running;
    wire_.wake_at(Clock::time_point::max());
    gone_ = std::stop_source();
    if (ended_) gone_.request_stop();
    IncomingRequest request = std::move(parser_->request());
    request.gone = gone_.get_token();
    parser_.reset();
    if (wire_.run(std::move(request))) {
        ++setup_.requests;
        return;
    }
    ++setup_.refused;
    respond(setup_.handler.refuse(kUnavailable, "too many requests are waiting"), keep_);
}

void HttpConnection::on_answer(OutgoingResponse response) {
    if (state_ == State::Running) respond(std::move(response), keep_);
}

void HttpConnection::refuse(int status, std::string_view reason) {
    ++setup_.refused;
    politely_ = true;
    OutgoingResponse response = setup_.handler.refuse(status, reason);
    parser_.reset();  // and what came of the body with it; `reason` may be its own
    respond(std::move(response), false);
}

void HttpConnection::respond(OutgoingResponse response, bool keep) {
    keep_ = keep && !ended_ && !setup_.draining;
    state_ = State::Writing;
    wire_.wake_at(Clock::now() + setup_.options.write_timeout);
    std::string head = response_head(response, keep_, std::time(nullptr));
    if (head_only_ || !may_have_body(response.status)) response.body = {};
    held_ = std::move(response.held);
    wire_.write(std::move(head), std::move(response.body));
}

void HttpConnection::on_written(bool sent) {
    held_.reset();
    if (state_ == State::Closed) return;
    if (!sent) {
        close(false);
        return;
    }
    if (state_ == State::Continuing) {
        state_ = State::Reading;
        if (ended_) close(false);
        advance();
        read_more();
        return;
    }
    if (!keep_ || ended_ || setup_.draining) {
        close(politely_);
        return;
    }
    head_only_ = false;
    expect_request();
    advance();
    read_more();
}

void HttpConnection::on_timeout() {
    switch (state_) {
        case State::Reading:
            if (parser_) {
                refuse(kRequestTimeout, "the request did not arrive in time");
            } else {
                close(false);
            }
            break;
        case State::Continuing:
        case State::Writing:
            close(false);
            break;
        case State::Running:
        case State::Closed:
            break;
    }
}

void HttpConnection::drain() {
    if (state_ == State::Reading && !parser_) close(false);
}

void HttpConnection::give_up() {
    if (state_ == State::Running) {
        gone_.request_stop();
    } else {
        close(false);
    }
}

void HttpConnection::close(bool politely) {
    if (state_ == State::Closed) return;
    state_ = State::Closed;
    gone_.request_stop();
    wire_.close(politely);
}

}  // namespace braid::net
