#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/answer.hpp"
#include "braid/core/byte_budget.hpp"
#include "braid/result.hpp"
#include "braid/service/visitor.hpp"
#include "braid/service/without_paths.hpp"
#include "braid/types.hpp"

namespace braid::service {

/// Bounds on one message and on what it may ask for; beyond one, an error names it.
struct RequestLimits {
    std::size_t message_bytes = std::size_t{16} << 20;
    std::size_t json_depth = 64;
    std::size_t batch = 100;  // members of a JSON-RPC batch; requests of one retrieve_batch
    std::size_t query_bytes = std::size_t{32} << 10;
    std::size_t top_k = 1000;
    std::size_t depth = 10'000;  // candidates of one leg
    std::size_t hops = 10;
    std::size_t collections = 32;  // searched by one request
    std::size_t neighbors = 20;    // on each side
    std::size_t ids = 1000;        // named by one read or delete
    std::size_t chunks = 10'000;   // written by one call
    std::size_t eval_queries = 1000;
    std::size_t answer_bytes = std::size_t{64} << 20;  // of texts in one answer, or one batch
    std::size_t bulk_bytes = std::size_t{64} << 20;    // of lines, each at most message_bytes
    std::size_t bulk_lines = 100'000;

    /// For callers in this process, from whom nobody needs protection; the texts of one answer stay
    /// bounded.
    static constexpr RequestLimits none() noexcept {
        constexpr std::size_t any = std::numeric_limits<std::size_t>::max() / 2;  // room to add
        return {.message_bytes = any,
                .json_depth = any,
                .batch = any,
                .query_bytes = any,
                .top_k = any,
                .depth = any,
                .hops = any,
                .collections = any,
                .neighbors = any,
                .ids = any,
                .chunks = any,
                .eval_queries = any,
                .bulk_bytes = any,
                .bulk_lines = any};
    }
};

enum class Access { Read, Write, Admin };

/// "read", "write", "admin".
constexpr std::string_view name_of(Access access) noexcept {
    return access == Access::Read ? "read" : access == Access::Write ? "write" : "admin";
}

/// Told what a caller was given, for logs and audits. One thread at a time.
class Observer {
public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    Observer(Observer&&) = delete;
    Observer& operator=(Observer&&) = delete;
    virtual ~Observer() = default;

    virtual void answered(const Answer& answer) = 0;
    virtual void packed(const Context& context) = 0;
    /// Chunks were read by their ids.
    virtual void showed(std::string_view collection, std::span<const std::string> chunk_ids) = 0;
    /// Chunks were added, changed or deleted; none: the collection itself was created or dropped.
    virtual void changed(std::string_view collection, std::uint64_t chunks) = 0;
    /// The caller is told of an error, in words that may say less.
    virtual void failed(const Error& error) = 0;
};

/// Who asks, and how much they may ask for. The door knows; a message cannot say.
struct Caller {
    Principal principal;
    Namespaces namespaces{};
    /// Whether a collection may be read, written, created or dropped; none: all of them may.
    std::function<bool(Access, std::string_view collection)> may;
    /// What `may` is based on, for telling the caller: names of collections, name prefixes and "*".
    std::vector<std::pair<std::string, Access>> grants{{"*", Access::Admin}};
    RequestLimits limits;
    CallLimits call;               // when to give up
    Observer* observer = nullptr;  // may be absent
    bool is_remote = false;        // is not told where files are kept
    std::string experiment_key{};  // whom an experiment counts it as; empty: the principal

    bool sees_everything() const { return principal.sees_everything() && namespaces.all(); }

    void note_change(std::string_view collection, std::uint64_t chunks) const {
        if (observer != nullptr) observer->changed(collection, chunks);
    }

    /// A message worded for the caller.
    std::string told(std::string message) const {
        return is_remote ? without_paths(message) : std::move(message);
    }
    Error told(Error error) const {
        if (observer != nullptr) observer->failed(error);
        error.message = told(std::move(error.message));
        return error;
    }

    /// `call` with a budget for the answer: the door's, shared by a whole message, or else one for
    /// this call alone.
    CallLimits counted() const {
        CallLimits own = call;
        if (!own.bytes) own.bytes = std::make_shared<ByteBudget>(limits.answer_bytes);
        return own;
    }

    /// PermissionDenied names the collection.
    Result<> require(Access access, std::string_view collection) const {
        if (!may || may(access, collection)) return {};
        return fail(ErrorCode::PermissionDenied, "the right to " + std::string(name_of(access)) +
                                                     " collection \"" + std::string(collection) +
                                                     "\" is missing");
    }
};

}  // namespace braid::service
