#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace braid {

class Value;
using Array = std::vector<Value>;

/// The members of a JSON object, in the order they were written. Keys are unique.
class Object {
public:
    using Member = std::pair<std::string, Value>;
    using Iterator = std::vector<Member>::iterator;
    using ConstIterator = std::vector<Member>::const_iterator;

    Object();
    Object(const Object&);
    Object(Object&&) noexcept;
    Object& operator=(const Object&);
    Object& operator=(Object&&) noexcept;
    ~Object();
    Object(std::initializer_list<Member> members);

    /// Null if there is no such member.
    const Value* find(std::string_view key) const noexcept;
    Value* find(std::string_view key) noexcept;

    /// Replaces the member of that name, or appends it.
    Value& set(std::string_view key, Value value);
    bool erase(std::string_view key);

    bool empty() const noexcept;
    std::size_t size() const noexcept;
    ConstIterator begin() const noexcept;
    ConstIterator end() const noexcept;
    Iterator begin() noexcept;
    Iterator end() noexcept;
    void reserve(std::size_t count);

    /// Equal if both hold the same members, in any order.
    friend bool operator==(const Object& a, const Object& b);

private:
    std::vector<Member> members_;
};

/// A JSON value. Integers that fit 64 bits stay exact; other numbers are doubles. A number equals
/// another if they denote the same number (1 == 1.0). src/json parses and prints.
class Value {
    using Data =
        std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object>;

public:
    // NOLINTBEGIN(google-explicit-constructor): a Value is written as the literal it holds
    Value() noexcept = default;
    Value(std::nullptr_t) noexcept {}
    Value(bool b) noexcept : data_(b) {}
    Value(int n) noexcept : data_(static_cast<std::int64_t>(n)) {}
    Value(unsigned n) noexcept : data_(static_cast<std::int64_t>(n)) {}
    Value(long n) noexcept : data_(static_cast<std::int64_t>(n)) {}
    Value(long long n) noexcept : data_(static_cast<std::int64_t>(n)) {}
    Value(unsigned long n) noexcept : Value(static_cast<unsigned long long>(n)) {}
    Value(unsigned long long n) noexcept
        : data_(n <= INT64_MAX ? Data(static_cast<std::int64_t>(n))
                               : Data(static_cast<double>(n))) {}
    Value(double d) noexcept : data_(d) {}
    Value(const char* s) : data_(std::string(s)) {}
    Value(std::string_view s) : data_(std::string(s)) {}
    Value(std::string s) noexcept : data_(std::move(s)) {}
    Value(Array a) noexcept : data_(std::move(a)) {}
    Value(Object o) noexcept : data_(std::move(o)) {}
    template <class T>
    Value(const std::optional<T>& maybe) {
        if (maybe) *this = Value(*maybe);
    }
    // NOLINTEND(google-explicit-constructor)

    bool is_null() const noexcept { return std::holds_alternative<std::monostate>(data_); }
    bool is_bool() const noexcept { return std::holds_alternative<bool>(data_); }
    bool is_int() const noexcept { return std::holds_alternative<std::int64_t>(data_); }
    bool is_double() const noexcept { return std::holds_alternative<double>(data_); }
    bool is_number() const noexcept { return is_int() || is_double(); }
    bool is_string() const noexcept { return std::holds_alternative<std::string>(data_); }
    bool is_array() const noexcept { return std::holds_alternative<Array>(data_); }
    bool is_object() const noexcept { return std::holds_alternative<Object>(data_); }

    // Each requires the matching is_…().
    bool as_bool() const { return std::get<bool>(data_); }
    std::int64_t as_int() const { return std::get<std::int64_t>(data_); }
    /// Any number; integers are converted.
    double as_double() const {
        return is_int() ? static_cast<double>(as_int()) : std::get<double>(data_);
    }
    const std::string& as_string() const { return std::get<std::string>(data_); }
    std::string& as_string() { return std::get<std::string>(data_); }
    const Array& as_array() const { return std::get<Array>(data_); }
    Array& as_array() { return std::get<Array>(data_); }
    const Object& as_object() const { return std::get<Object>(data_); }
    Object& as_object() { return std::get<Object>(data_); }

    /// "null", "boolean", "number", "string", "array" or "object", for messages.
    std::string_view type_name() const noexcept;

    /// Member of an object; null if this is not an object or has no such member.
    const Value* find(std::string_view key) const noexcept {
        const auto* const object = std::get_if<Object>(&data_);
        return object != nullptr ? object->find(key) : nullptr;
    }
    friend bool operator==(const Value& a, const Value& b);

private:
    Data data_;
};

// Defined here because they need a complete Value.
inline bool Object::empty() const noexcept {
    return members_.empty();
}
inline std::size_t Object::size() const noexcept {
    return members_.size();
}
inline Object::ConstIterator Object::begin() const noexcept {
    return members_.begin();
}
inline Object::ConstIterator Object::end() const noexcept {
    return members_.end();
}
inline Object::Iterator Object::begin() noexcept {
    return members_.begin();
}
inline Object::Iterator Object::end() noexcept {
    return members_.end();
}
inline void Object::reserve(std::size_t count) {
    members_.reserve(count);
}

/// The order of two numbers, exact even between integers and doubles; unordered if one is NaN.
/// Requires is_number() of both.
std::partial_ordering compare_numbers(const Value& a, const Value& b) noexcept;

/// Value under a dotted path ("author.name"), or null. A member whose own name has the dots wins.
const Value* find_path(const Object& object, std::string_view path) noexcept;

}  // namespace braid
