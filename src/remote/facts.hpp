#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

/// What filters and facets ask of a chunk, as words of one keyword field: the field's name, a
/// letter for the type, and the value in a form whose byte order is the value's own. An equality is
/// then one word, an order a range of words, and every type keeps its own order, whatever the
/// cluster would have made of the JSON.
namespace braid::remote {

/// Letters of types. Lists give words for each element; 'l' before a word marks those.
enum class FactKind : char {
    Boolean = 'b',
    DateText = 'd',  // a text that says a time, by its bytes
    Exists = 'e',
    Json = 'j',  // a list or an object as a whole, hashed
    Element = 'l',
    Number = 'n',
    Text = 's',  // one that says no time
    Time = 't',
    Null = 'z',
};

/// Where the cluster keeps what a filter calls `field`.
struct FactPlace {
    std::string field;     // of the index
    std::string prefix;    // of its words
    bool is_id = false;    // the words are the ids themselves, without letters
    bool is_name = false;  // never read as a time

    friend bool operator==(const FactPlace&, const FactPlace&) = default;
};
FactPlace place_of(std::string_view field);

/// A word for a value of a kind under a place.
std::string fact(const FactPlace& place, FactKind kind, std::string_view encoded);

/// Fixed width, in the order of the numbers; equal ones are equal, 2 and 2.0 too.
std::string encode_number(const Value& number);
std::optional<Value> decode_number(std::string_view encoded);
std::string encode_time(Timestamp time);
/// Long ones are cut, with a hash of the whole at the end.
std::string encode_text(std::string_view text);
/// Of a list or an object.
std::string encode_json(const Value& value);

/// The words of every field of a chunk, and its texts for searches within them (Contains).
struct Facts {
    std::vector<std::string> words;
    std::vector<std::string> texts;
};
Facts facts_of(const Chunk& chunk, const Schema& schema);

/// The letter and the value of one scalar, list or object, as a filter's operand has them.
struct EncodedValue {
    FactKind kind;
    std::string encoded;
};
EncodedValue encode(const Value& value, bool is_name);

/// The value that a word behind its prefix says, for facets; none for words that are no values.
std::optional<Value> facet_value(std::string_view word);

/// Words that say that a chunk has a field of the metadata, as a regular expression, and what
/// filters call the field; none for names that are kept as a hash.
std::string metadata_field_words();
std::optional<std::string> metadata_field(std::string_view word);

}  // namespace braid::remote
