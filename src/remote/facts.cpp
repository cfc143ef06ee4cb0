#include "braid/remote/facts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "braid/core/hex.hpp"
#include "braid/core/rfc3339.hpp"
#include "braid/core/sha256.hpp"
#include "braid/core/utf8.hpp"
#include "braid/docs/field_view.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/docs/metadata_fields.hpp"
#include "braid/json/json.hpp"

namespace braid::remote {
namespace {

constexpr char kEnd = '\x01';  // ends a field's name
constexpr std::size_t kMaxName = 256;
constexpr std::size_t kMaxWord = 8'000;   // a cluster refuses words above 32,766 bytes
constexpr std::size_t kMaxText = 30'000;  // this much of a text is searched for substrings
constexpr std::uint64_t kSign = std::uint64_t{1} << 63U;

std::string hash_of(std::string_view text) {
    return core::sha256_hex(text).substr(0, 32);
}

/// The name itself, unless it is long or holds characters that end names.
std::string name_form(std::string_view name) {
    const bool odd = std::ranges::any_of(name, [](char c) { return c >= 0 && c < ' '; });
    return name.size() > kMaxName || odd ? "#" + hash_of(name) : std::string(name);
}

std::optional<std::uint64_t> number_of_hex(std::string_view text) {
    std::uint64_t number = 0;
    for (const char c : text) {
        const int digit = core::hex_digit(c);
        if (digit < 0) return std::nullopt;
        number = number << 4U | static_cast<std::uint64_t>(digit);
    }
    return number;
}

/// A canonical form, in which equal values are equal: members sorted, numbers encoded.
void append_canonical(std::string& out, const Value& value) {
    if (value.is_number()) {
        out += 'n' + encode_number(value);
    } else if (value.is_array()) {
        out += '[';
        for (const Value& element : value.as_array()) {
            append_canonical(out, element);
            out += ',';
        }
        out += ']';
    } else if (value.is_object()) {
        std::vector<const Object::Member*> members;
        for (const auto& member : value.as_object()) members.push_back(&member);
        std::ranges::sort(members, {}, [](const Object::Member* m) { return m->first; });
        out += '{';
        for (const Object::Member* const member : members) {
            json::print_to(out, Value(member->first));
            out += ':';
            append_canonical(out, member->second);
            out += ',';
        }
        out += '}';
    } else {
        json::print_to(out, value);
    }
}

class FactWriter {
public:
    explicit FactWriter(Facts& out) : out_(out) {}

    void add(const FactPlace& place, const docs::FieldView& view) {
        using Kind = docs::FieldView::Kind;
        if (view.missing()) return;
        out_.words.push_back(fact(place, FactKind::Exists, ""));
        switch (view.kind) {
            case Kind::Text:
                scalar(place, Value(view.text));
                break;
            case Kind::Integer:
                scalar(place, Value(view.integer));
                break;
            case Kind::Time:
                out_.words.push_back(fact(place, FactKind::Time, encode_time(view.time)));
                out_.words.push_back(
                    fact(place, FactKind::DateText, encode_text(core::print_rfc3339(view.time))));
                // A time contains nothing but itself.
                element(place, FactKind::Time, encode_time(view.time));
                break;
            case Kind::Scopes:
                for (const std::string& scope : *view.scopes) {
                    out_.words.push_back(fact(place, FactKind::Text, encode_text(scope)));
                    element(place, FactKind::Text, encode_text(scope));
                }
                break;
            case Kind::Json:
                scalar(place, *view.json);
                if (!view.json->is_array()) break;
                for (const Value& one : view.json->as_array()) list_element(place, one);
                break;
            case Kind::Missing:
                break;
        }
    }

private:
    void element(const FactPlace& place, FactKind kind, const std::string& encoded) {
        out_.words.push_back(
            fact(place, FactKind::Element, std::string(1, static_cast<char>(kind)) + encoded));
    }
    void scalar(const FactPlace& place, const Value& value) {
        value_words(place, value);
        if (value.is_string()) {
            out_.texts.push_back(place.prefix +
                                 std::string(core::cut_at_most(value.as_string(), kMaxText)));
        }
    }
    void value_words(const FactPlace& place, const Value& value) {
        const EncodedValue one = encode(value, place.is_name);
        out_.words.push_back(fact(place, one.kind, one.encoded));
        if (one.kind == FactKind::Time) {
            out_.words.push_back(fact(place, FactKind::DateText, encode_text(value.as_string())));
        }
    }
    void list_element(const FactPlace& place, const Value& value) {
        value_words(place, value);
        const EncodedValue one = encode(value, place.is_name);
        element(place, one.kind, one.encoded);
    }

    Facts& out_;
};

/// Every dotted path that leads to a value, each once.
void collect_paths(const Object& object, const std::string& before, std::set<std::string>& paths) {
    for (const auto& [name, value] : object) {
        const std::string path = before.empty() ? name : before + "." + name;
        paths.insert(path);
        if (value.is_object()) collect_paths(value.as_object(), path, paths);
    }
}

constexpr std::array<std::string_view, 6> kOwnFields{
    "chunk_index", "title", "section_title", "created_at", "sensitivity", "visibility_scope"};

}  // namespace

FactPlace place_of(std::string_view field) {
    const docs::Field known = docs::field_by_name(field);
    if (known == docs::Field::ChunkId) return {"id", "", true, true};
    if (known == docs::Field::DocumentId) return {"doc", "", true, true};
    if (known != docs::Field::Metadata) {
        return {"facts", '=' + std::string(field) + kEnd, false, docs::is_name(known)};
    }
    return {"facts", '.' + name_form(docs::metadata_path(field)) + kEnd, false, false};
}

std::string fact(const FactPlace& place, FactKind kind, std::string_view encoded) {
    if (place.is_id) return std::string(encoded);
    std::string word = place.prefix;
    word += static_cast<char>(kind);
    word += encoded;
    return word;
}

std::string encode_number(const Value& number) {
    // The largest double not above the number, and how far the number is above that.
    double base = number.as_double();
    std::uint64_t above = 0;
    if (number.is_int()) {
        const std::int64_t exact = number.as_int();
        if (static_cast<long double>(base) > static_cast<long double>(exact)) {
            base = std::nextafter(base, -std::numeric_limits<double>::infinity());
        }
        above = static_cast<std::uint64_t>(static_cast<long double>(exact) -
                                           static_cast<long double>(base));
    }
    if (base == 0) base = 0;  // no -0
    const auto bits = std::bit_cast<std::uint64_t>(base);
    return core::hex_of((bits & kSign) != 0 ? ~bits : bits | kSign, 16) + core::hex_of(above, 3);
}

std::optional<Value> decode_number(std::string_view encoded) {
    if (encoded.size() != 19) return std::nullopt;
    const auto ordered = number_of_hex(encoded.substr(0, 16));
    const auto above = number_of_hex(encoded.substr(16));
    if (!ordered || !above) return std::nullopt;
    const auto base =
        std::bit_cast<double>((*ordered & kSign) != 0 ? *ordered & ~kSign : ~*ordered);
    constexpr double kWhole = 9223372036854775808.0;  // 2^63
    if (base >= -kWhole && base < kWhole && base == std::floor(base)) {
        return Value(static_cast<std::int64_t>(base) + static_cast<std::int64_t>(*above));
    }
    return Value(base);
}

std::string encode_time(Timestamp time) {
    return core::hex_of(static_cast<std::uint64_t>(time.micros) ^ kSign, 16);
}

std::string encode_text(std::string_view text) {
    if (text.size() <= kMaxWord) return std::string(text);
    return std::string(core::cut_at_most(text, kMaxWord)) + kEnd + hash_of(text);
}

std::string encode_json(const Value& value) {
    std::string canonical;
    append_canonical(canonical, value);
    return hash_of(canonical);
}

EncodedValue encode(const Value& value, bool is_name) {
    if (value.is_null()) return {FactKind::Null, ""};
    if (value.is_bool()) return {FactKind::Boolean, value.as_bool() ? "1" : "0"};
    if (value.is_number()) return {FactKind::Number, encode_number(value)};
    if (value.is_string()) {
        const auto time = is_name ? std::nullopt : docs::time_of(value.as_string());
        if (time) return {FactKind::Time, encode_time(*time)};
        return {FactKind::Text, encode_text(value.as_string())};
    }
    return {FactKind::Json, encode_json(value)};
}

Facts facts_of(const Chunk& chunk, const Schema& schema) {
    Facts facts;
    FactWriter writer(facts);
    for (const std::string_view field : kOwnFields) {
        writer.add(place_of(field), docs::view_field(chunk, docs::field_by_name(field), field,
                                                     schema.levels.default_level));
    }
    std::set<std::string> paths;
    collect_paths(chunk.metadata, "", paths);
    for (const std::string& path : paths) {
        docs::FieldView view;
        view.json = find_path(chunk.metadata, path);
        if (view.json == nullptr) continue;
        view.kind = docs::FieldView::Kind::Json;
        writer.add(place_of("metadata." + path), view);
    }
    // Sorts last in every index: 2.19 fails on a pattern (facets) that sorts behind all words.
    facts.words.emplace_back("~");
    std::ranges::sort(facts.words);
    facts.words.erase(std::ranges::unique(facts.words).begin(), facts.words.end());
    return facts;
}

std::optional<Value> facet_value(std::string_view word) {
    if (word.empty()) return std::nullopt;
    const std::string_view encoded = word.substr(1);
    switch (static_cast<FactKind>(word.front())) {
        case FactKind::Boolean:
            return Value(encoded == "1");
        case FactKind::Number:
            return decode_number(encoded);
        case FactKind::Text:
        case FactKind::DateText:
            return Value(encoded);
        default:
            return std::nullopt;
    }
}

std::string metadata_field_words() {
    return std::string("\\.[^") + kEnd + "]*" + kEnd + static_cast<char>(FactKind::Exists);
}

std::optional<std::string> metadata_field(std::string_view word) {
    const std::size_t end = word.find(kEnd);
    if (!word.starts_with('.') || word.starts_with(".#") || end == std::string_view::npos) {
        return std::nullopt;
    }
    return docs::field_of_path(word.substr(1, end - 1));
}

}  // namespace braid::remote
