#include "braid/docs/chunk_codec.hpp"

#include <bit>
#include <cstring>

namespace braid::docs {
namespace {

using store::ByteReader;
using store::ByteWriter;

enum class Tag : std::uint8_t { Null, False, True, Int, Double, String, Array, Object };

void write_object(ByteWriter& out, const Object& object);

void write_any(ByteWriter& out, const Value& value) {
    const auto tag = [&](Tag t) { out.u8(static_cast<std::uint8_t>(t)); };
    if (value.is_null()) return tag(Tag::Null);
    if (value.is_bool()) return tag(value.as_bool() ? Tag::True : Tag::False);
    if (value.is_int()) {
        tag(Tag::Int);
        out.u64(static_cast<std::uint64_t>(value.as_int()));
    } else if (value.is_double()) {
        tag(Tag::Double);
        out.f64(value.as_double());
    } else if (value.is_string()) {
        tag(Tag::String);
        out.string(value.as_string());
    } else if (value.is_array()) {
        tag(Tag::Array);
        out.varint(value.as_array().size());
        for (const Value& element : value.as_array()) write_any(out, element);
    } else {
        tag(Tag::Object);
        write_object(out, value.as_object());
    }
}

void write_object(ByteWriter& out, const Object& object) {
    out.varint(object.size());
    for (const auto& [key, member] : object) {
        out.string(key);
        write_any(out, member);
    }
}

Result<Object> read_object(ByteReader& in, std::size_t depth);

Result<Value> read_any(ByteReader& in, std::size_t depth) {
    if (depth > kMaxMetadataDepth) return in.corrupt("metadata nested too deeply");
    BRAID_TRY(const std::uint8_t tag, in.u8("value tag"));
    switch (static_cast<Tag>(tag)) {
        case Tag::Null:
            return Value();
        case Tag::False:
            return Value(false);
        case Tag::True:
            return Value(true);
        case Tag::Int: {
            BRAID_TRY(const std::uint64_t bits, in.u64("integer"));
            return Value(static_cast<std::int64_t>(bits));
        }
        case Tag::Double: {
            BRAID_TRY(const double number, in.f64("number"));
            return Value(number);
        }
        case Tag::String: {
            BRAID_TRY(const std::string_view text, in.string("string"));
            return Value(text);
        }
        case Tag::Array: {
            BRAID_TRY(const std::size_t count, in.count(1, "array length"));
            Array array;
            array.reserve(count);
            for (std::size_t i = 0; i < count; ++i) {
                BRAID_TRY(Value element, read_any(in, depth + 1));
                array.push_back(std::move(element));
            }
            return Value(std::move(array));
        }
        case Tag::Object: {
            BRAID_TRY(Object object, read_object(in, depth + 1));
            return Value(std::move(object));
        }
    }
    return in.corrupt("unknown value tag " + std::to_string(tag));
}

Result<Object> read_object(ByteReader& in, std::size_t depth) {
    BRAID_TRY(const std::size_t count, in.count(2, "member count"));
    Object object;
    object.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        BRAID_TRY(const std::string_view key, in.string("member name"));
        BRAID_TRY(Value value, read_any(in, depth));
        object.set(key, std::move(value));
    }
    return object;
}

void write_strings(ByteWriter& out, const std::vector<std::string>& strings) {
    out.varint(strings.size());
    for (const std::string& text : strings) out.string(text);
}

Result<std::vector<std::string>> read_strings(ByteReader& in, std::string_view what) {
    BRAID_TRY(const std::size_t count, in.count(1, what));
    std::vector<std::string> strings;
    strings.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        BRAID_TRY(const std::string_view text, in.string(what));
        strings.emplace_back(text);
    }
    return strings;
}

void write_vector(ByteWriter& out, const std::vector<float>& vector) {
    out.varint(vector.size());
    if constexpr (std::endian::native == std::endian::little) {
        out.bytes(std::as_bytes(std::span(vector)));
    } else {
        for (const float x : vector) out.f32(x);
    }
}

Result<std::vector<float>> read_vector(ByteReader& in) {
    BRAID_TRY(const std::size_t count, in.count(sizeof(float), "vector length"));
    std::vector<float> vector(count);
    if constexpr (std::endian::native == std::endian::little) {
        BRAID_TRY(const auto bytes, in.read_records(count, sizeof(float), "vector"));
        if (count > 0) std::memcpy(vector.data(), bytes.data(), bytes.size());
    } else {
        for (float& x : vector) {
            BRAID_TRY(x, in.f32("vector element"));
        }
    }
    return vector;
}

// Which optional fields follow.
constexpr std::uint8_t kHasIndex = 1;
constexpr std::uint8_t kHasTitle = 2;
constexpr std::uint8_t kHasSection = 4;
constexpr std::uint8_t kHasCreated = 8;
constexpr std::uint8_t kHasSensitivity = 16;
constexpr std::uint8_t kHasScopes = 32;  // updates only
constexpr std::uint8_t kHasExpiry = 64;
constexpr std::uint8_t kChunkFlags =
    kHasIndex | kHasTitle | kHasSection | kHasCreated | kHasSensitivity | kHasExpiry;
constexpr std::uint8_t kUpdateFlags = kHasCreated | kHasSensitivity | kHasScopes | kHasExpiry;

std::uint8_t flag(bool present, std::uint8_t bit) {
    return present ? bit : std::uint8_t{0};
}

Result<std::optional<std::string>> read_optional(ByteReader& in, bool present,
                                                 std::string_view what) {
    if (!present) return std::optional<std::string>();
    BRAID_TRY(const std::string_view text, in.string(what));
    return std::optional<std::string>(text);
}

void write_time(ByteWriter& out, const std::optional<Timestamp>& time) {
    if (time) out.u64(static_cast<std::uint64_t>(time->micros));
}

Result<std::optional<Timestamp>> read_time(ByteReader& in, bool present, std::string_view what) {
    if (!present) return std::optional<Timestamp>();
    BRAID_TRY(const std::uint64_t bits, in.u64(what));
    return std::optional<Timestamp>(Timestamp{static_cast<std::int64_t>(bits)});
}

}  // namespace

void write_value(ByteWriter& out, const Value& value) {
    write_any(out, value);
}

Result<Value> read_value(ByteReader& in) {
    return read_any(in, 1);
}

std::optional<std::string_view> text_of_value(std::string_view bytes) {
    ByteReader in(std::as_bytes(std::span(bytes)));
    const auto tag = in.u8("value tag");
    if (!tag || static_cast<Tag>(*tag) != Tag::String) return std::nullopt;
    const auto text = in.string("string");
    return text ? std::optional(*text) : std::nullopt;
}

void write_chunk(ByteWriter& out, const Chunk& chunk) {
    const unsigned flags = flag(chunk.chunk_index.has_value(), kHasIndex) |
                           flag(chunk.title.has_value(), kHasTitle) |
                           flag(chunk.section_title.has_value(), kHasSection) |
                           flag(chunk.created_at.has_value(), kHasCreated) |
                           flag(chunk.sensitivity.has_value(), kHasSensitivity) |
                           flag(chunk.expires_at.has_value(), kHasExpiry);
    out.u8(static_cast<std::uint8_t>(flags));
    out.string(chunk.chunk_id);
    out.string(chunk.document_id);
    out.string(chunk.content);
    if (chunk.chunk_index) out.u64(static_cast<std::uint64_t>(*chunk.chunk_index));
    if (chunk.title) out.string(*chunk.title);
    if (chunk.section_title) out.string(*chunk.section_title);
    write_time(out, chunk.created_at);
    write_time(out, chunk.expires_at);
    if (chunk.sensitivity) out.string(*chunk.sensitivity);
    write_strings(out, chunk.visibility_scope);
    write_object(out, chunk.metadata);
    write_vector(out, chunk.vector);
}

std::size_t chunk_bytes(const Chunk& chunk) {
    store::ByteWriter out;
    write_chunk(out, chunk);
    return out.size();
}

Result<Chunk> read_chunk(ByteReader& in) {
    BRAID_TRY(const std::uint8_t flags, in.u8("chunk flags"));
    if ((flags & ~kChunkFlags) != 0) return in.corrupt("unknown chunk flags");
    Chunk chunk;
    BRAID_TRY(chunk.chunk_id, in.string("chunk_id"));
    BRAID_TRY(chunk.document_id, in.string("document_id"));
    BRAID_TRY(chunk.content, in.string("content"));
    if ((flags & kHasIndex) != 0) {
        BRAID_TRY(const std::uint64_t index, in.u64("chunk_index"));
        chunk.chunk_index = static_cast<std::int64_t>(index);
    }
    BRAID_TRY(chunk.title, read_optional(in, (flags & kHasTitle) != 0, "title"));
    BRAID_TRY(chunk.section_title, read_optional(in, (flags & kHasSection) != 0, "section_title"));
    BRAID_TRY(chunk.created_at, read_time(in, (flags & kHasCreated) != 0, "created_at"));
    BRAID_TRY(chunk.expires_at, read_time(in, (flags & kHasExpiry) != 0, "expires_at"));
    BRAID_TRY(chunk.sensitivity, read_optional(in, (flags & kHasSensitivity) != 0, "sensitivity"));
    BRAID_TRY(chunk.visibility_scope, read_strings(in, "visibility_scope"));
    BRAID_TRY(chunk.metadata, read_object(in, 1));
    BRAID_TRY(chunk.vector, read_vector(in));
    return chunk;
}

Result<std::optional<std::int64_t>> read_chunk_index(ByteReader& in) {
    BRAID_TRY(const std::uint8_t flags, in.u8("chunk flags"));
    if ((flags & ~kChunkFlags) != 0) return in.corrupt("unknown chunk flags");
    for (const std::string_view what : {"chunk_id", "document_id", "content"}) {
        BRAID_CHECK(in.string(what));
    }
    if ((flags & kHasIndex) == 0) return std::optional<std::int64_t>();
    BRAID_TRY(const std::uint64_t index, in.u64("chunk_index"));
    return std::optional(static_cast<std::int64_t>(index));
}

void write_update(ByteWriter& out, const MetadataUpdate& update) {
    const unsigned flags = flag(update.created_at.has_value(), kHasCreated) |
                           flag(update.sensitivity.has_value(), kHasSensitivity) |
                           flag(update.visibility_scope.has_value(), kHasScopes) |
                           flag(update.expires_at.has_value(), kHasExpiry);
    out.u8(static_cast<std::uint8_t>(flags));
    out.string(update.chunk_id);
    write_time(out, update.created_at);
    write_time(out, update.expires_at);
    if (update.sensitivity) out.string(*update.sensitivity);
    if (update.visibility_scope) write_strings(out, *update.visibility_scope);
    write_object(out, update.metadata);
}

Result<MetadataUpdate> read_update(ByteReader& in) {
    BRAID_TRY(const std::uint8_t flags, in.u8("update flags"));
    if ((flags & ~kUpdateFlags) != 0) return in.corrupt("unknown update flags");
    MetadataUpdate update;
    BRAID_TRY(update.chunk_id, in.string("chunk_id"));
    BRAID_TRY(update.created_at, read_time(in, (flags & kHasCreated) != 0, "created_at"));
    BRAID_TRY(update.expires_at, read_time(in, (flags & kHasExpiry) != 0, "expires_at"));
    BRAID_TRY(update.sensitivity, read_optional(in, (flags & kHasSensitivity) != 0, "sensitivity"));
    if ((flags & kHasScopes) != 0) {
        BRAID_TRY(update.visibility_scope, read_strings(in, "visibility_scope"));
    }
    BRAID_TRY(update.metadata, read_object(in, 1));
    return update;
}

void merge_patch(Object& target, const Object& patch) {
    for (const auto& [key, value] : patch) {
        if (value.is_null()) {
            target.erase(key);
        } else if (value.is_object()) {
            Value* present = target.find(key);
            if (present == nullptr || !present->is_object()) {
                present = &target.set(key, Object{});
            }
            merge_patch(present->as_object(), value.as_object());
        } else {
            target.set(key, value);
        }
    }
}

}  // namespace braid::docs
