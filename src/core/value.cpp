#include "braid/value.hpp"

#include <algorithm>
#include <cmath>

namespace braid {
namespace {

/// Converting the integer would round it; the double's whole part is exact.
std::partial_ordering compare(std::int64_t a, double b) noexcept {
    if (std::isnan(b)) return std::partial_ordering::unordered;
    constexpr double above = 0x1p63;  // no double lies between it and INT64_MAX
    if (b >= above) return std::partial_ordering::less;
    if (b < -above) return std::partial_ordering::greater;
    const auto whole = static_cast<std::int64_t>(b);
    if (a != whole) return a <=> whole;
    return 0.0 <=> b - static_cast<double>(whole);
}

}  // namespace

Object::Object() = default;
Object::Object(const Object&) = default;
Object::Object(Object&&) noexcept = default;
Object& Object::operator=(const Object&) = default;
Object& Object::operator=(Object&&) noexcept = default;
Object::~Object() = default;

Object::Object(std::initializer_list<Member> members) {
    members_.reserve(members.size());
    for (const Member& member : members) {
        if (Value* const present = find(member.first)) {
            *present = member.second;
        } else {
            members_.push_back(member);
        }
    }
}

const Value* Object::find(std::string_view key) const noexcept {
    for (const Member& member : members_) {
        if (member.first == key) return &member.second;
    }
    return nullptr;
}

Value* Object::find(std::string_view key) noexcept {
    for (Member& member : members_) {
        if (member.first == key) return &member.second;
    }
    return nullptr;
}

Value& Object::set(std::string_view key, Value value) {
    if (Value* present = find(key)) return *present = std::move(value);
    return members_.emplace_back(std::string(key), std::move(value)).second;
}

bool Object::erase(std::string_view key) {
    return std::erase_if(members_, [&](const Member& member) { return member.first == key; }) > 0;
}

bool operator==(const Object& a, const Object& b) {
    return a.size() == b.size() &&
           std::all_of(a.begin(), a.end(), [&](const Object::Member& member) {
               const Value* other = b.find(member.first);
               return other != nullptr && *other == member.second;
           });
}

std::string_view Value::type_name() const noexcept {
    switch (data_.index()) {
        case 0:
            return "null";
        case 1:
            return "boolean";
        case 2:
        case 3:
            return "number";
        case 4:
            return "string";
        case 5:
            return "array";
        default:
            return "object";
    }
}

// NOLINTNEXTLINE(bugprone-exception-escape): what is read as an object is one
const Value* find_path(const Object& object, std::string_view path) noexcept {
    if (const Value* whole = object.find(path)) return whole;
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos;
         dot = path.find('.', dot + 1)) {
        const Value* head = object.find(path.substr(0, dot));
        if (head == nullptr || !head->is_object()) continue;
        if (const Value* found = find_path(head->as_object(), path.substr(dot + 1))) return found;
    }
    return nullptr;
}

// NOLINTNEXTLINE(bugprone-exception-escape): the caller has seen that both are numbers
std::partial_ordering compare_numbers(const Value& a, const Value& b) noexcept {
    if (a.is_int())
        return b.is_int() ? a.as_int() <=> b.as_int() : compare(a.as_int(), b.as_double());
    if (b.is_int()) return 0 <=> compare(b.as_int(), a.as_double());
    return a.as_double() <=> b.as_double();
}

bool operator==(const Value& a, const Value& b) {
    if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
    return a.data_ == b.data_;
}

}  // namespace braid
