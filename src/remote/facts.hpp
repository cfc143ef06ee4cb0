#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

/// What filters and facets ask about a chunk, as words of one keyword field: the field's name, a
/// letter for the type, and the value in a form whose byte order is the value's own. An equality is
/// then one word, a comparison is a range of words, and every type keeps its own order, whatever
/// the cluster would have made of the JSON.
namespace braid::remote {

/// Letters for types. Lists give words for each element, marked by an 'l' before the word.
enum class FactKind : char {
    Boolean = 'b',
    DateText = 'd',  // a text that denotes a time, by its bytes
    Exists = 'e',
    Json = 'j',  // a list or an object as a whole, hashed
    Element = 'l',
    Number = 'n',
    Text = 's',  // a text that denotes no time
    Time = 't',
    Null = 'z',
};

/// Where the cluster keeps what a filter calls `field`.
struct FactPlace {
    std::string field;     // in the index
    std::string prefix;    // of its words
    bool is_id = false;    // the words are the ids themselves, without type letters
    bool is_name = false;  // never read as a time

    friend bool operator==(const FactPlace&, const FactPlace&) = default;
};
FactPlace place_of(std::string_view field);

/// A word for a value of some type at some place.
std::string fact(const FactPlace& place, FactKind kind, std::string_view encoded);

/// Fixed width, in numeric order; equal numbers give equal words, 2 and 2.0 too.
std::string encode_number(const Value& number);
std::optional<Value> decode_number(std::string_view encoded);
std::string encode_time(Timestamp time);
/// Long values are cut, with a hash of the whole at the end.
std::string encode_text(std::string_view text);
/// For a list or an object.
std::string encode_json(const Value& value);

/// The words for every field of a chunk, and its texts for searches within them (Contains).
struct Facts {
    std::vector<std::string> words;
    std::vector<std::string> texts;
};
Facts facts_of(const Chunk& chunk, const Schema& schema);

/// Type letter and value of one scalar, list or object, as they occur in a filter's operand.
struct EncodedValue {
    FactKind kind;
    std::string encoded;
};
EncodedValue encode(const Value& value, bool is_name);

/// The value behind a word's prefix, for facets; none for words that stand for no value.
std::optional<Value> facet_value(std::string_view word);

/// A regular expression for the words that say that a chunk has a metadata field, and the name that
/// filters use for the field; none for names kept as a hash.
std::string metadata_field_words();
std::optional<std::string> metadata_field(std::string_view word);

}  // namespace braid::remote
