#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "braid/net/http/server.hpp"

namespace braid::net {

/// Reads one HTTP/1.x request from bytes as they come: first the head, then the body. Stricter than
/// many: what two servers could read differently (both lengths, folded lines, bare line ends, NUL)
/// is refused.
class RequestParser {
public:
    enum class State { Head, Body, Done, Failed };

    explicit RequestParser(std::size_t max_head_bytes);
    ~RequestParser();
    RequestParser(RequestParser&&) noexcept;
    RequestParser& operator=(RequestParser&&) noexcept;
    RequestParser(const RequestParser&) = delete;
    RequestParser& operator=(const RequestParser&) = delete;

    /// Takes the request's next bytes and says how many of them it took. Those left over are to be
    /// given again, with more behind them. Stops after the head, so that it can be checked.
    std::size_t put(std::string_view bytes);
    State state() const noexcept;

    /// Of a failure: 400, 413, 431 or 503, and why.
    int status() const noexcept;
    std::string_view reason() const noexcept;

    /// The request so far. From the end of the head on:
    IncomingRequest& request() noexcept;
    bool keep_alive() const noexcept;
    bool has_body() const noexcept;
    bool expects_continue() const noexcept;
    /// Fails at once, with 413, if the body is known to be longer.
    void limit_body(std::size_t bytes);
    /// Counts the body's memory against the budget as it grows; fails with 503 when there is no
    /// more, and at once if there is not enough for a length that is known.
    void count_body(const std::shared_ptr<ByteBudget>& budget);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace braid::net
