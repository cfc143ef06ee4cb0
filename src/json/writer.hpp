#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/json/json.hpp"
#include "braid/json/number.hpp"
#include "braid/json/quote.hpp"

namespace braid::json {

/// The name of a member, known when compiling and free of what would have to be escaped.
class Name {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): a name is written as the literal it holds
    consteval Name(const char* literal) : text_(literal) {
        for (const char c : text_) {
            if (c < ' ' || c > '~' || c == '"' || c == '\\')
                throw std::invalid_argument("a name that needs escaping");
        }
    }
    constexpr std::string_view text() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// Writes one JSON text piece by piece, in the bytes that print() gives for the same value, but
/// without making a Value first. The calls come in the order of the text: a name before each value
/// of an object, an end for each beginning. Names must differ within an object. Nothing is checked.
class Writer {
public:
    /// Appends to `out`, which must outlive it.
    explicit Writer(std::string& out) : out_(out) {}

    void begin_object() { begin('{'); }
    void end_object() { end('}'); }
    void begin_array() { begin('['); }
    void end_array() { end(']'); }

    void name(Name name) {
        out_ += comma_ ? ",\"" : "\"";
        out_ += name.text();
        out_ += "\":";
        comma_ = false;
    }
    /// One that is not known when compiling.
    void any_name(std::string_view name) {
        separate();
        append_quoted(out_, name);
        out_ += ':';
        comma_ = false;
    }

    /// Texts, numbers, booleans; Value and Object; null for an optional without a value.
    template <class T>
    void value(const T& value) {
        separate();
        append(value);
    }
    template <class T>
    void member(Name key, const T& member) {
        name(key);
        append(member);
        comma_ = true;
    }

private:
    void begin(char bracket) {
        separate();
        out_ += bracket;
        comma_ = false;
    }
    void end(char bracket) {
        out_ += bracket;
        comma_ = true;
    }
    void separate() {
        if (comma_) out_ += ',';
        comma_ = true;
    }

    template <class T>
    void append(const T& value) {
        if constexpr (std::same_as<T, bool>) {
            out_ += value ? "true" : "false";
        } else if constexpr (std::unsigned_integral<T>) {
            if (value <= INT64_MAX) {
                append_number(out_, static_cast<std::int64_t>(value));
            } else {
                append_number(out_, static_cast<double>(value));
            }
        } else if constexpr (std::integral<T>) {
            append_number(out_, static_cast<std::int64_t>(value));
        } else if constexpr (std::floating_point<T>) {
            append_number(out_, static_cast<double>(value));
        } else if constexpr (std::convertible_to<const T&, std::string_view>) {
            append_quoted(out_, value);
        } else {
            print_to(out_, value);
        }
    }
    template <class T>
    void append(const std::optional<T>& value) {
        if (value) {
            append(*value);
        } else {
            out_ += "null";
        }
    }

    std::string& out_;
    bool comma_ = false;  // something stands before what comes next
};

/// Takes the same calls as Writer and makes the Value. Names must live until what they name is
/// whole.
class ValueWriter {
public:
    void begin_object() { open_.push_back({Object(), std::exchange(name_, {})}); }
    void end_object() { close(); }
    void begin_array() { open_.push_back({Array(), std::exchange(name_, {})}); }
    void end_array() { close(); }
    void name(Name name) { name_ = name.text(); }
    void any_name(std::string_view name) { name_ = name; }

    template <class T>
    void value(const T& value) {
        add(Value(value));
    }
    template <class T>
    void member(Name key, const T& member) {
        name(key);
        add(Value(member));
    }

    /// What was written.
    Value take() { return std::move(whole_); }

private:
    struct Open {
        Value value;
        std::string_view name;  // its own, in what it stands in
    };

    void add(Value value) {
        if (open_.empty()) {
            whole_ = std::move(value);
        } else if (Value& last = open_.back().value; last.is_object()) {
            last.as_object().set(name_, std::move(value));
        } else {
            last.as_array().push_back(std::move(value));
        }
    }
    void close() {
        Open last = std::move(open_.back());
        open_.pop_back();
        name_ = last.name;
        add(std::move(last.value));
    }

    std::vector<Open> open_;
    std::string_view name_;  // of the next member
    Value whole_;
};

}  // namespace braid::json
