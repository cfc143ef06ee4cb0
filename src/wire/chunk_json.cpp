#include "braid/wire/chunk_json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "braid/core/blank.hpp"
#include "braid/core/rfc3339.hpp"
#include "braid/core/sha256.hpp"
#include "braid/core/vocabulary.hpp"
#include "braid/json/fields.hpp"
#include "braid/json/quote.hpp"

namespace braid::wire {
namespace {

using json::Fields;

constexpr std::size_t kMaxIdBytes = 512;

/// The one of two names that is there. Both are known keys afterwards.
Result<std::string_view> one_of(Fields& fields, std::string_view first, std::string_view second) {
    const Value* const a = fields.any(first);
    const Value* const b = fields.any(second);
    if (a != nullptr && b != nullptr && !a->is_null() && !b->is_null()) {
        return invalid_argument("\"" + std::string(first) + "\" and \"" + std::string(second) +
                                "\" mean the same; give one of them");
    }
    return b != nullptr && !b->is_null() ? second : first;
}

/// A string or an integer, as a string.
Result<std::optional<std::string>> read_id(Fields& fields, std::string_view key) {
    const Value* const member = fields.any(key);
    if (member == nullptr || member->is_null()) return std::nullopt;
    if (member->is_int()) return std::to_string(member->as_int());
    if (!member->is_string() || member->as_string().empty() ||
        member->as_string().size() > kMaxIdBytes) {
        return invalid_argument(fields.complaint(key, "a string of 1 to 512 bytes"));
    }
    return member->as_string();
}

Result<std::optional<Timestamp>> read_time(Fields& fields, std::string_view key) {
    BRAID_TRY(const auto text, fields.string(key));
    if (!text) return std::nullopt;
    const Result<Timestamp> time = core::parse_rfc3339(*text);
    if (!time)
        return invalid_argument(fields.complaint(key, "a time such as \"2025-12-25T10:00:00Z\""));
    return *time;
}

std::optional<std::vector<std::string>> scopes_of(const Value& value) {
    if (value.is_string()) return std::vector<std::string>{value.as_string()};
    if (!value.is_array()) return std::nullopt;
    std::vector<std::string> scopes;
    for (const Value& scope : value.as_array()) {
        if (!scope.is_string()) return std::nullopt;
        scopes.push_back(scope.as_string());
    }
    return scopes;
}

Result<> read_scopes(Fields& fields, std::string_view key, Chunk& chunk) {
    const Value* const member = fields.any(key);
    if (member == nullptr || member->is_null()) return {};
    auto scopes = scopes_of(*member);
    if (!scopes) return invalid_argument(fields.complaint(key, "a string or a list of strings"));
    chunk.visibility_scope = *std::move(scopes);
    return {};
}

/// Fills fields from the metadata of the same name.
class MetadataFiller {
public:
    MetadataFiller(ChunkInput& input, const core::Vocabulary& vocabulary)
        : input_(input), chunk_(input.chunk), vocabulary_(vocabulary) {}

    void fill(bool has_scope) {
        if (chunk_.document_id.empty()) fill_document_id();
        if (!chunk_.chunk_index) fill_index();
        if (!chunk_.created_at) fill_time();
        if (!chunk_.sensitivity) fill_sensitivity();
        if (!has_scope) fill_scope();
    }

private:
    const Value* found(std::string_view key) const {
        const Value* const value = chunk_.metadata.find(key);
        return value == nullptr || value->is_null() ? nullptr : value;
    }

    void warn(std::string_view key, const Value& value, std::string_view expected) {
        input_.warnings.push_back("\"metadata." + std::string(key) + "\" is not used as \"" +
                                  std::string(key) + "\": expected " + std::string(expected) +
                                  ", got " + json::shown(value));
    }

    void fill_document_id() {
        const std::string& key = vocabulary_.document_key;
        const Value* const value = key.empty() ? nullptr : found(key);
        if (value == nullptr) return;
        if (value->is_string() && !value->as_string().empty() &&
            value->as_string().size() <= kMaxIdBytes) {
            chunk_.document_id = value->as_string();
        } else {
            warn(key, *value, "a string of 1 to 512 bytes");
        }
    }

    void fill_index() {
        const Value* const value = found("chunk_index");
        if (value == nullptr) return;
        if (value->is_int()) {
            chunk_.chunk_index = value->as_int();
        } else {
            warn("chunk_index", *value, "an integer");
        }
    }

    void fill_time() {
        const Value* const value = found("created_at");
        if (value == nullptr) return;
        if (value->is_string()) {
            if (const auto time = core::parse_rfc3339(value->as_string())) {
                chunk_.created_at = *time;
                return;
            }
        }
        warn("created_at", *value, "a time such as \"2025-12-25T10:00:00Z\"");
    }

    void fill_sensitivity() {
        const Value* const value = found("sensitivity");
        if (value == nullptr) return;
        if (value->is_string()) {
            chunk_.sensitivity = value->as_string();
        } else {
            warn("sensitivity", *value, "a string");
        }
    }

    void fill_scope() {
        const Value* const value = found("visibility_scope");
        if (value == nullptr) return;
        if (auto scopes = scopes_of(*value)) {
            chunk_.visibility_scope = *std::move(scopes);
        } else {
            warn("visibility_scope", *value, "a string or a list of strings");
        }
    }

    ChunkInput& input_;
    Chunk& chunk_;
    const core::Vocabulary& vocabulary_;
};

Result<> read_text_members(Fields& fields, Chunk& chunk) {
    BRAID_TRY(const auto text_key, one_of(fields, "content", "text"));
    BRAID_TRY(auto content, fields.string(text_key));
    if (!content) return invalid_argument("no text (\"text\" or \"content\")");
    chunk.content = *std::move(content);
    BRAID_TRY(chunk.title, fields.string("title"));
    BRAID_TRY(chunk.section_title, fields.string("section_title"));
    if (chunk.title && chunk.title->empty()) chunk.title.reset();
    if (chunk.section_title && chunk.section_title->empty()) chunk.section_title.reset();
    return {};
}

Result<> read_other_members(Fields& fields, Chunk& chunk) {
    BRAID_TRY(chunk.chunk_index, fields.integer("chunk_index"));
    BRAID_TRY(const Object* const metadata, fields.object("metadata"));
    if (metadata != nullptr) chunk.metadata = *metadata;
    BRAID_TRY(chunk.created_at, read_time(fields, "created_at"));
    BRAID_TRY(chunk.expires_at, read_time(fields, "expires_at"));
    BRAID_TRY(chunk.sensitivity, fields.string("sensitivity"));
    BRAID_CHECK(read_scopes(fields, "visibility_scope", chunk));
    BRAID_TRY(const auto version, fields.integer("version", 0));
    chunk.version = static_cast<Version>(version.value_or(0));

    BRAID_TRY(const auto vector_key, one_of(fields, "vector", "embedding"));
    const Value* const vector = fields.any(vector_key);
    if (vector != nullptr && !vector->is_null()) {
        BRAID_TRY(chunk.vector, vector_from_value(*vector, std::string(vector_key)));
        if (chunk.vector.empty())
            return invalid_argument(fields.complaint(vector_key, "a list of numbers"));
    }
    return {};
}

}  // namespace

Result<ChunkInput> chunk_from_value(const Value& json, const core::Vocabulary& vocabulary) {
    if (!json.is_object())
        return invalid_argument("a chunk must be an object, got " + json::shown(json));
    ChunkInput input;
    Chunk& chunk = input.chunk;
    Fields fields(json.as_object());
    BRAID_TRY(const auto id_key, one_of(fields, "chunk_id", "_id"));
    BRAID_TRY(auto chunk_id, read_id(fields, id_key));
    BRAID_TRY(auto document_id, read_id(fields, "document_id"));
    BRAID_CHECK(read_text_members(fields, chunk));
    if (core::is_blank(chunk.content)) {
        if (!chunk_id)
            return invalid_argument("no text (\"text\" or \"content\" is blank), and no id");
        input.warnings.push_back("the text of \"" + *chunk_id + "\" is blank");
    }
    BRAID_CHECK(read_other_members(fields, chunk));
    BRAID_TRY(input.namespace_, fields.string("namespace"));
    if (auto finished = fields.finish(); !finished) {
        return invalid_argument(finished.error().message +
                                " (fields of your own go under \"metadata\")");
    }

    chunk.document_id = std::move(document_id).value_or("");
    const Value* const scope = json.find("visibility_scope");
    MetadataFiller(input, vocabulary).fill(scope != nullptr && !scope->is_null());
    chunk.chunk_id = chunk_id ? *std::move(chunk_id) : content_id(chunk.document_id, chunk.content);
    if (chunk.document_id.empty()) chunk.document_id = chunk.chunk_id;
    return input;
}

Result<> check_namespace(const ChunkInput& input, std::string_view of_call) {
    const auto& own = input.namespace_;
    if (!own || *own == of_call) return {};
    return invalid_argument("namespace " + json::quoted(*own) + " is not that of the call, " +
                            json::quoted(of_call));
}

Value chunk_to_value(const Chunk& chunk) {
    Object out{{"chunk_id", Value(chunk.chunk_id)}, {"document_id", Value(chunk.document_id)}};
    if (chunk.chunk_index) out.set("chunk_index", *chunk.chunk_index);
    if (chunk.title) out.set("title", *chunk.title);
    if (chunk.section_title) out.set("section_title", *chunk.section_title);
    out.set("content", chunk.content);
    out.set("metadata", chunk.metadata);
    if (chunk.created_at) out.set("created_at", core::print_rfc3339(*chunk.created_at));
    if (chunk.expires_at) out.set("expires_at", core::print_rfc3339(*chunk.expires_at));
    if (chunk.sensitivity) out.set("sensitivity", *chunk.sensitivity);
    if (!chunk.visibility_scope.empty()) {
        out.set("visibility_scope",
                Array(chunk.visibility_scope.begin(), chunk.visibility_scope.end()));
    }
    if (!chunk.vector.empty()) out.set("vector", vector_to_value(chunk.vector));
    if (chunk.version != 0) out.set("version", chunk.version);
    return out;
}

std::string content_id(const std::string& document_id, const std::string& content) {
    std::string key = document_id;
    key += '\0';
    key += content;
    return "c-" + core::sha256_hex(key).substr(0, 16);
}

Result<std::vector<float>> vector_from_value(const Value& json, const std::string& name) {
    if (!json.is_array()) {
        return invalid_argument("\"" + name + "\" must be a list of numbers, got " +
                                json::shown(json));
    }
    const Array& list = json.as_array();
    if (list.size() > kMaxDimension) {
        return invalid_argument("\"" + name + "\" has " + std::to_string(list.size()) +
                                " numbers; at most " + std::to_string(kMaxDimension) +
                                " are allowed");
    }
    std::vector<float> vector;
    vector.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        const double number =
            list[i].is_number() ? list[i].as_double() : std::numeric_limits<double>::quiet_NaN();
        // A double beyond the range of float would become infinite.
        if (!(std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max()))) {
            return invalid_argument("\"" + name + "[" + std::to_string(i) +
                                    "]\" must be a finite number, got " + json::shown(list[i]));
        }
        vector.push_back(static_cast<float>(number));
    }
    return vector;
}

Value vector_to_value(const std::vector<float>& vector) {
    Array list;
    list.reserve(vector.size());
    for (const float number : vector) list.emplace_back(static_cast<double>(number));
    return list;
}

}  // namespace braid::wire
