#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "braid/request.hpp"

namespace braid::core {

/// Another name for a key of the request: `{"limit", "top_k"}`.
struct KeyAlias {
    std::string name;
    std::string key;
};

/// A key of the request that stands for a condition on a field. Its value is a text, or a list of
/// which one must match.
struct FilterShorthand {
    std::string name;
    std::string field;
    bool optional_list = false;  // only a list; an empty one is no condition
};

/// What a hit says a second time under another name.
enum class HitMember {
    ChunkId,
    DocumentId,
    Namespace,
    ChunkIndex,
    Content,
    Score,
    DenseNormalized,  // 0 where the leg ran and did not find it, null where it did not run
    SparseNormalized,
};
struct HitAlias {
    std::string name;
    HitMember member;
};
struct HitAliases {
    std::string profile;  // of the answers that have them
    std::vector<HitAlias> names;
};

/// Collections that hold the same documents, whole and in parts. Equal ids in them are one record,
/// and an answer shows each document once, by a chunk of `preferred` if one was found.
struct SharedDocuments {
    std::vector<std::string> collections;
    std::string preferred;
};

/// An environment variable that changes a number of a built-in profile.
struct ProfileVariable {
    std::string_view name;
    std::string_view profile;
    bool whole = false;  // no fractions
    double min = 0;
    double max = 0;
    void (*set)(Profile& profile, double value) = nullptr;
};

/// What applications call things, as data: the layers below them read it and know no application.
/// Empty: braid's own names alone.
struct Vocabulary {
    std::vector<Profile> profiles;  // besides "default" and "service"
    std::vector<ProfileVariable> variables;
    std::vector<KeyAlias> keys;
    std::vector<FilterShorthand> shorthands;
    std::vector<HitAliases> hits;
    std::vector<SharedDocuments> shared_documents;
    /// Metadata that names a chunk's document where nothing else does; empty: none.
    std::string document_key;
};
using VocabularyPtr = std::shared_ptr<const Vocabulary>;

/// The built-in profiles and the vocabulary's.
std::vector<Profile> known_profiles(const Vocabulary& vocabulary);

}  // namespace braid::core
