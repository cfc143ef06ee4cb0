#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::json {

/// Depth no limit can exceed: values are walked, copied and destroyed recursively.
inline constexpr std::size_t kMaxDepth = 1024;

/// Bounds on a text. Beyond one, parsing fails with InvalidArgument before the memory is spent.
struct ParseLimits {
    std::size_t max_depth = 64;  // arrays and objects inside one another; at most kMaxDepth counts
    std::size_t max_bytes = std::size_t{64} << 20;
    /// Members of one object. An Object is searched one by one, so building it costs their square.
    std::size_t max_members = 1024;
};

/// Parses one JSON text, strictly as in RFC 8259 and UTF-8: no comments, no trailing commas, no
/// byte order mark. Duplicate keys and escapes of lone surrogates are errors. Integers that fit 64
/// bits stay exact; "-0" and all other numbers become the nearest double, one beyond the range of
/// double is an error.
///
/// Fails with InvalidArgument: "line 3, column 7: expected ':' after a key, found '}'". Lines and
/// columns count from 1, columns in code points.
Result<Value> parse(std::string_view text, const ParseLimits& limits = {});

/// The same for many texts: keeps its buffers, as large as the largest text it has seen. One thread
/// at a time.
class Parser {
public:
    explicit Parser(const ParseLimits& limits = {});
    Parser(Parser&& other) noexcept;
    Parser& operator=(Parser&& other) noexcept;
    Parser(const Parser&) = delete;
    Parser& operator=(const Parser&) = delete;
    ~Parser();

    Result<Value> parse(std::string_view text);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// On one line, without spaces. A double is printed with the fewest digits that read back as the
/// same double, and always with a point or an exponent, so that it stays one; NaN and infinities
/// become null. Bytes of a string that are not UTF-8 become U+FFFD.
std::string print(const Value& value);
/// Appends what print() returns.
void print_to(std::string& out, const Value& value);
void print_to(std::string& out, const Object& object);

/// One member or element per line, each level indented by `indent` more spaces. No newline at the
/// end.
std::string print_pretty(const Value& value, std::size_t indent = 2);

}  // namespace braid::json
