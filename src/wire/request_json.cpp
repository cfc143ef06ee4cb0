#include "braid/wire/request_json.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "braid/core/vocabulary.hpp"
#include "braid/json/fields.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/profile_json.hpp"
#include "braid/wire/request_reading.hpp"
#include "braid/wire/stage_json.hpp"

namespace braid::wire {
namespace {

using json::Fields;

constexpr std::int64_t kMaxTopK = 10'000;
constexpr std::int64_t kMaxDepth = 100'000;
constexpr std::int64_t kMaxHops = 100;
constexpr std::int64_t kMaxNeighbors = 100;
constexpr std::int64_t kMaxDeadlineMs = 86'400'000;

template <auto Member>
Result<> read_text(Reading& in, std::string_view key) {
    BRAID_TRY(auto text, in.fields.string(key));
    if (text) in.request.*Member = *std::move(text);
    return {};
}

template <auto Member>
Result<> read_switch(Reading& in, std::string_view key) {
    BRAID_TRY(const auto on, in.fields.boolean(key));
    if (on) in.request.*Member = *on;
    return {};
}

Result<> read_typos(Reading& in, std::string_view key) {
    BRAID_TRY(const auto choice, in.fields.choice(key, {"auto", "off"}));
    if (choice) in.request.typos = *choice == "auto";
    return {};
}

template <auto Member, std::int64_t Max>
Result<> read_count(Reading& in, std::string_view key) {
    BRAID_TRY(const auto count, in.fields.integer(key, 1, Max));
    if (count) in.request.*Member = static_cast<std::size_t>(*count);
    return {};
}

Result<> read_name(std::string_view key, const Fields& fields, const std::string& name,
                   std::vector<std::string>& names) {
    if (name.empty()) return invalid_argument(fields.complaint(key, "the name of a collection"));
    if (std::ranges::find(names, name) != names.end()) {
        return invalid_argument("\"" + fields.path_of(key) + "\" names \"" + name + "\" twice");
    }
    names.push_back(name);
    return {};
}

Result<> read_collection(Reading& in, std::string_view key) {
    BRAID_TRY(const auto name, in.fields.string(key));
    if (!name) return {};
    return read_name(key, in.fields, *name, in.request.collections);
}

Result<> read_collections(Reading& in, std::string_view key) {
    BRAID_TRY(const auto names, in.fields.strings(key));
    if (!names) return {};
    if (names->empty())
        return invalid_argument(in.fields.complaint(key, "a list of at least one name"));
    for (const std::string& name : *names) {
        BRAID_CHECK(read_name(key, in.fields, name, in.request.collections));
    }
    return {};
}

Result<> read_namespace(Reading& in, std::string_view key) {
    BRAID_TRY(auto name, in.fields.string(key));
    if (!name) return {};
    if (name->empty()) return invalid_argument(in.fields.complaint(key, "a name"));
    in.request.namespace_ = *std::move(name);
    return {};
}

Result<> read_embedding(Reading& in, std::string_view key) {
    const Value* const member = in.fields.any(key);
    if (member == nullptr || member->is_null()) return {};
    BRAID_TRY(in.request.query_embedding, vector_from_value(*member, in.fields.path_of(key)));
    return {};
}

/// A profile's name, or one that the request brings with it.
Result<> read_profile(Reading& in, std::string_view key) {
    const Value* const member = in.fields.any(key);
    if (member != nullptr && member->is_object()) {
        BRAID_TRY(in.request.own_profile, own_profile_from_value(*member, in.vocabulary));
        return {};
    }
    if (member != nullptr && !member->is_null() && !member->is_string()) {
        return invalid_argument(in.fields.complaint(key, "a profile's name, or an object"));
    }
    return read_text<&Request::profile>(in, key);
}

Result<> read_strategy(Reading& in, std::string_view key) {
    BRAID_TRY(const auto name, in.fields.string(key));
    if (!name) return {};
    in.request.strategy = strategy_by_name(*name);
    if (!in.request.strategy) {
        return invalid_argument(in.fields.complaint(
            key,
            "\"dense\" (\"semantic\"), \"sparse\" (\"keyword\"), \"hybrid\" or \"multi_hop\""));
    }
    return {};
}

Result<> read_threshold(Reading& in, std::string_view key) {
    BRAID_TRY(in.request.score_threshold, in.fields.number(key));
    return {};
}

Result<> read_recall(Reading& in, std::string_view key) {
    BRAID_TRY(in.request.recall, in.fields.number(key));
    if (in.request.recall && !(*in.request.recall > 0 && *in.request.recall <= 1)) {
        return invalid_argument(in.fields.complaint(key, "a number above 0 and at most 1"));
    }
    return {};
}

Result<> read_stage_list(Reading& in, std::string_view key) {
    BRAID_TRY(auto stages, read_stages(in.fields, key));
    if (stages) in.request.stages = *std::move(stages);
    return {};
}

/// false, true (one on each side) or how many.
Result<> read_neighbors(Reading& in, std::string_view key) {
    const Value* const member = in.fields.any(key);
    if (member == nullptr || member->is_null()) return {};
    if (member->is_bool()) {
        in.request.expand_neighbors = member->as_bool() ? 1 : 0;
        return {};
    }
    BRAID_TRY(const auto count, in.fields.integer(key, 0, kMaxNeighbors));
    in.request.expand_neighbors = static_cast<std::size_t>(count.value_or(0));
    return {};
}

Result<> read_deadline(Reading& in, std::string_view key) {
    BRAID_TRY(in.request.deadline_ms, in.fields.integer(key, 1, kMaxDeadlineMs));
    return {};
}

struct Key {
    std::string_view name;
    std::string_view meaning;  // two keys of one meaning exclude each other
    ReadKey read;
};

constexpr auto kKeys = std::to_array<Key>({
    {"query", "query", read_text<&Request::query>},
    {"query_embedding", "query_embedding", read_embedding},
    {"collection", "collections", read_collection},
    {"collections", "collections", read_collections},
    {"namespace", "namespace", read_namespace},
    {"profile", "profile", read_profile},
    {"strategy", "strategy", read_strategy},
    {"top_k", "top_k", read_count<&Request::top_k, kMaxTopK>},
    {"limit", "top_k", read_count<&Request::top_k, kMaxTopK>},
    {"cursor", "cursor", read_text<&Request::cursor>},
    {"fusion", "fusion", read_fusion_key},
    {"fusion_method", "fusion", read_fusion_method},
    {"across", "across", read_across},
    {"dense_weight", "weights", read_dense_weight},
    {"weights", "weights", read_weights},
    {"bm25", "bm25", read_bm25_key},
    {"dense_top_k", "dense_top_k", read_count<&Request::dense_top_k, kMaxDepth>},
    {"sparse_top_k", "sparse_top_k", read_count<&Request::sparse_top_k, kMaxDepth>},
    {"max_hops", "max_hops", read_count<&Request::max_hops, kMaxHops>},
    {"hop_top_k", "hop_top_k", read_count<&Request::hop_top_k, kMaxTopK>},
    {"score_threshold", "score_threshold", read_threshold},
    {"filter", "filter", read_filter},
    {"metadata_filter", "filter", read_filter},
    {"document_ids", "document_ids", read_document_ids},
    {"sensitivity", "sensitivity", read_clause},
    {"created_after", "created_after", read_after},
    {"created_before", "created_before", read_before},
    {"expand_query", "expand_query", read_switch<&Request::expand_query>},
    {"use_hyde", "use_hyde", read_switch<&Request::use_hyde>},
    {"query_syntax", "query_syntax", read_switch<&Request::query_syntax>},
    {"typos", "typos", read_typos},
    {"keep_duplicates", "keep_duplicates", read_switch<&Request::keep_duplicates>},
    {"stages", "stages", read_stage_list},
    {"expand_neighbors", "expand_neighbors", read_neighbors},
    {"exact", "exact", read_switch<&Request::exact>},
    {"recall", "recall", read_recall},
    {"highlight", "highlight", read_switch<&Request::highlight>},
    {"explain", "explain", read_switch<&Request::explain>},
    {"deadline_ms", "deadline_ms", read_deadline},
});

constexpr std::string_view kText = "text";      // the question, beside
constexpr std::string_view kConfig = "config";  // the settings

bool is_given(const Object& object, std::string_view key) {
    const Value* const member = object.find(key);
    return member != nullptr && !member->is_null();
}

/// A key of the table, another name of one, or a shorthand of the vocabulary.
struct KnownKey {
    std::string_view name;
    const Key* key = nullptr;
    const core::FilterShorthand* shorthand = nullptr;
    /// Among all: in the table's order, other names after those that are read alike, shorthands
    /// after "document_ids".
    std::pair<std::size_t, std::size_t> place;

    std::string_view meaning() const { return key != nullptr ? key->meaning : name; }
    Result<> read(Reading& in) const {
        return key != nullptr ? key->read(in, name) : read_shorthand(in, *shorthand);
    }
};

std::size_t index_of(std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(kKeys, name, &Key::name) - kKeys.begin());
}

std::optional<KnownKey> key_by_name(std::string_view name, const core::Vocabulary& vocabulary) {
    const auto number = [](const auto& list, const auto& found) {
        return static_cast<std::size_t>(found - list.begin()) + 1;
    };
    if (const std::size_t own = index_of(name); own < kKeys.size()) {
        return KnownKey{name, &kKeys[own], nullptr, {own, 0}};
    }
    const auto alias = std::ranges::find(vocabulary.keys, name, &core::KeyAlias::name);
    if (alias != vocabulary.keys.end()) {
        const std::size_t meant = index_of(alias->key);
        if (meant == kKeys.size()) return std::nullopt;
        std::size_t last = meant;
        for (std::size_t i = meant; i < kKeys.size(); ++i) {
            if (kKeys[i].read == kKeys[meant].read) last = i;
        }
        return KnownKey{name, &kKeys[meant], nullptr, {last, number(vocabulary.keys, alias)}};
    }
    const auto found = std::ranges::find(vocabulary.shorthands, name, &core::FilterShorthand::name);
    if (found == vocabulary.shorthands.end()) return std::nullopt;
    return KnownKey{
        name, nullptr, &*found, {index_of("document_ids"), number(vocabulary.shorthands, found)}};
}

/// All of them, in their order.
std::vector<std::string_view> names_of_keys(const core::Vocabulary& vocabulary) {
    std::vector<KnownKey> all;
    const auto add = [&](std::string_view name) {
        if (auto known = key_by_name(name, vocabulary)) all.push_back(*known);
    };
    for (const Key& key : kKeys) add(key.name);
    for (const core::KeyAlias& alias : vocabulary.keys) add(alias.name);
    for (const core::FilterShorthand& shorthand : vocabulary.shorthands) add(shorthand.name);
    std::ranges::sort(all, {}, &KnownKey::place);
    std::vector<std::string_view> names;
    for (const KnownKey& known : all) names.push_back(known.name);
    return names;
}

/// Names the nearest known key.
Result<> refuse_unknown(const Object& object, const core::Vocabulary& vocabulary) {
    if (object.find(kText) != nullptr) {
        return invalid_argument(
            R"(unknown key "text"; put the question in "query" ("text" goes with "config"))");
    }
    Fields fields(object);
    for (const std::string_view name : names_of_keys(vocabulary)) fields.any(name);
    return fields.finish();
}

/// The keys of the object's members, in their order; of a member that is null none.
Result<std::vector<KnownKey>> given_keys(const Object& object, const core::Vocabulary& vocabulary) {
    std::vector<KnownKey> given;
    given.reserve(object.size());
    for (const auto& [name, value] : object) {
        const auto key = key_by_name(name, vocabulary);
        if (!key) BRAID_CHECK(refuse_unknown(object, vocabulary));
        if (!value.is_null()) given.push_back(*key);
    }
    std::ranges::sort(given, {}, &KnownKey::place);
    return given;
}

Result<> refuse_contradictions(std::span<const KnownKey> given) {
    for (auto first = given.begin(); first != given.end(); ++first) {
        for (auto second = first + 1; second != given.end(); ++second) {
            if (second->meaning() == first->meaning()) {
                return invalid_argument("\"" + std::string(first->name) + "\" and \"" +
                                        std::string(second->name) +
                                        "\" mean the same; give one of them");
            }
        }
    }
    return {};
}

/// `{"text", "namespace", "config": {...}}` with the members of `config` beside the others.
Result<Object> flattened(const Object& object) {
    Object flat;
    for (const auto& [key, value] : object) {
        if (key == kConfig) continue;
        if (key == kText && object.find("query") != nullptr) {
            return invalid_argument(R"("query" and "text" mean the same; give one of them)");
        }
        flat.set(key == kText ? "query" : std::string_view(key), value);
    }
    const Value& config = *object.find(kConfig);
    if (config.is_null()) return flat;
    if (!config.is_object()) {
        return invalid_argument("\"config\" must be an object, got " + json::shown(config));
    }
    for (const auto& [key, value] : config.as_object()) {
        if (key == kConfig || key == kText)
            return invalid_argument("unknown key \"config." + key + "\"");
        if (is_given(flat, key) && !value.is_null()) {
            return invalid_argument("\"" + key + "\" is given both in \"config\" and outside it");
        }
        if (!is_given(flat, key)) flat.set(key, value);
    }
    return flat;
}

/// Only what is given is looked at: a request names few of the many keys.
Result<Request> read_request(const Object& object, const core::Vocabulary& vocabulary) {
    BRAID_TRY(const std::vector<KnownKey> given, given_keys(object, vocabulary));
    BRAID_CHECK(refuse_contradictions(given));
    Reading in{vocabulary, Fields(object), {}, {}};
    for (const KnownKey& key : given) BRAID_CHECK(key.read(in));
    if (in.clauses.size() == 1) {
        in.request.filter = std::move(in.clauses.front());
    } else if (!in.clauses.empty()) {
        in.request.filter = Filter::all_of(std::move(in.clauses));
    }
    return std::move(in.request);
}

}  // namespace

Result<Request> request_from_value(const Value& json, const core::Vocabulary& vocabulary) {
    if (!json.is_object())
        return invalid_argument("a request must be an object, got " + json::shown(json));
    return request_from_value(json.as_object(), vocabulary);
}

Result<Request> request_from_value(const Object& json, const core::Vocabulary& vocabulary) {
    if (json.find(kConfig) == nullptr) return read_request(json, vocabulary);
    BRAID_TRY(const Object flat, flattened(json));
    return read_request(flat, vocabulary);
}

std::vector<std::string_view> request_keys(const core::Vocabulary& vocabulary) {
    std::vector<std::string_view> names = names_of_keys(vocabulary);
    names.push_back(kText);
    names.push_back(kConfig);
    return names;
}

}  // namespace braid::wire
