#pragma once

#include <optional>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::core {
struct Vocabulary;
}

namespace braid::wire {

/// One chunk as a user hands it in.
struct ChunkInput {
    Chunk chunk;
    std::optional<std::string> namespace_;  // none: the door's
    std::vector<std::string> warnings;      // what was found but could not be used
};

/// Reads one chunk, in BEIR's words (`_id`, `title`, `text`, `metadata`) or braid's (`chunk_id`,
/// `content`, `document_id`, `chunk_index`, `section_title`, `created_at`, `expires_at`,
/// `sensitivity`, `visibility_scope`, `vector` or `embedding`, `namespace`). Ids may be integers;
/// an empty title counts as none; `version` is read, though the store sets its own.
///
/// What is absent is filled: `document_id` from the metadata that the vocabulary names, else from
/// the id; `chunk_index`, `created_at`, `sensitivity` and `visibility_scope` from the metadata of
/// that name, where a value of the wrong type only gives a warning. A chunk without an id gets
/// content_id(), so that the same text twice is the same chunk.
///
/// A blank text is taken, with a warning, if the chunk has an id: real corpora hold such documents.
///
/// InvalidArgument: no text, a blank one without an id, an unknown key, a value that does not fit.
Result<ChunkInput> chunk_from_value(const Value& json, const core::Vocabulary& vocabulary);

/// InvalidArgument if the chunk names another namespace than that of the call it came by.
Result<> check_namespace(const ChunkInput& input, std::string_view of_call);

/// In braid's words, members without a value left out; the vector only if there is one.
Value chunk_to_value(const Chunk& chunk);
/// The inverse: nothing is filled in or left out.
Result<Chunk> stored_chunk_from_value(const Value& json);

/// "c-" and 16 hexadecimal digits of the SHA-256 of both, joined by a NUL.
std::string content_id(const std::string& document_id, const std::string& content);

/// A list of finite numbers as floats; messages call it `name`. InvalidArgument names the element.
Result<std::vector<float>> vector_from_value(const Value& json, const std::string& name);
Value vector_to_value(const std::vector<float>& vector);

}  // namespace braid::wire
