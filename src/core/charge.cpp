#include "braid/core/charge.hpp"

#include <string>

#include "braid/core/byte_budget.hpp"

namespace braid::core {
namespace {

constexpr std::size_t kBytesPerDimension = 16;  // of a vector: four in memory, the rest in JSON
constexpr std::size_t kBytesPerNumber = 8;

}  // namespace

std::size_t printed_size(std::string_view text) noexcept {
    std::size_t bytes = text.size();
    for (const char c : text) {
        if (static_cast<unsigned char>(c) >= ' ') {
            bytes += c == '"' || c == '\\' ? 1 : 0;
        } else {
            bytes += c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f' ? 1 : 5;
        }
    }
    return bytes;
}

// NOLINTNEXTLINE(misc-no-recursion): metadata is nested no deeper than a log record can hold it
std::size_t printed_value_size(const Value& value) noexcept {
    if (value.is_string()) return printed_size(value.as_string());
    std::size_t bytes = value.is_number() ? kBytesPerNumber : 1;
    if (value.is_array()) {
        for (const Value& element : value.as_array()) bytes += 1 + printed_value_size(element);
    } else if (value.is_object()) {
        for (const auto& [key, member] : value.as_object()) {
            bytes += printed_size(key) + 1 + printed_value_size(member);
        }
    }
    return bytes;
}

std::size_t printed_size(const Chunk& chunk) noexcept {
    std::size_t bytes = printed_size(chunk.content) + printed_size(chunk.chunk_id) +
                        printed_size(chunk.document_id) + kBytesPerDimension * chunk.vector.size();
    if (chunk.title) bytes += printed_size(*chunk.title);
    if (chunk.section_title) bytes += printed_size(*chunk.section_title);
    for (const std::string& scope : chunk.visibility_scope) bytes += printed_size(scope);
    for (const auto& [key, member] : chunk.metadata)
        bytes += printed_size(key) + printed_value_size(member);
    return bytes;
}

Result<> charge(const CallLimits& limits, std::size_t bytes) {
    if (!limits.bytes) return {};
    switch (limits.bytes->take(bytes)) {
        case ByteBudget::Taken::Yes:
            break;
        case ByteBudget::Taken::OverLimit:
            return invalid_argument("the answer is too large: one may hold " +
                                    std::to_string(limits.bytes->limit()) +
                                    " bytes of text and metadata; ask for fewer hits, chunks or "
                                    "neighbours");
        case ByteBudget::Taken::OverParent:
            return fail(ErrorCode::Unavailable,
                        "requests and answers use all the memory set aside for them; try again "
                        "later, or ask for less");
    }
    return {};
}

Result<> charge(const CallLimits& limits, const Chunk& chunk, std::size_t dimensions) {
    if (!limits.bytes) return {};
    return charge(limits, printed_size(chunk) + kBytesPerDimension * dimensions);
}

CallLimits apart(const CallLimits& limits, std::size_t most) {
    CallLimits own = limits;
    if (own.bytes) own.bytes = most > 0 ? own.bytes->apart(most) : own.bytes->apart();
    return own;
}

CallLimits apart_as_one_answer(const CallLimits& limits) {
    return apart(limits, limits.bytes ? limits.bytes->limit() : 0);
}

CallLimits as_another_answer(const CallLimits& limits) {
    CallLimits own = limits;
    if (own.bytes) own.bytes = own.bytes->another();
    return own;
}

}  // namespace braid::core
