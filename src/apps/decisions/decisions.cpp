#include "braid/apps/decisions/decisions.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/fusion/fuse.hpp"
#include "braid/json/fields.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/request_json.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::apps {
namespace {

using json::Fields;

constexpr std::string_view kCollection = "decisions";
constexpr std::size_t kDepth = 50;
constexpr double kSemanticWeight = 0.7;

/// Over lower-cased runs of word characters; with Okapi as rank-bm25 has it.
Schema decisions_schema(const std::string& embedder, bool okapi) {
    Schema schema;
    schema.text_fields = {{"content", 1.0}};
    schema.analyzer = "simple";
    schema.language = "none";
    schema.bm25 = {.variant = okapi ? Bm25Variant::Okapi : Bm25Variant::Lucene,
                   .k1 = 1.5,
                   .b = 0.75,
                   .epsilon = 0.25};
    schema.vectors.embedder = embedder;
    return schema;
}

struct Question {
    std::string mode = "semantic";
    std::size_t top_k = 10;
    double weight = kSemanticWeight;
    std::vector<Request> searches;  // one per list: the semantic one first
    std::vector<std::string> unused;

    bool semantic() const { return mode != "keyword"; }
    bool keyword() const { return mode != "semantic"; }
};

Result<Question> read_question(const Object& params, const service::Caller& caller,
                               const service::Operations& operations) {
    Question question;
    Fields fields(params);
    BRAID_TRY(const auto mode, fields.choice("retrieval_mode", {"semantic", "keyword", "hybrid"}));
    if (mode) question.mode = *mode;
    BRAID_TRY(const auto weight, fields.number("hybrid_weight", 0, 1));
    question.weight = weight.value_or(kSemanticWeight);
    if (weight && question.mode != "hybrid") question.unused.emplace_back("hybrid_weight");
    BRAID_TRY(question.top_k, service::read_size(fields, "top_k", 10, 1, caller.limits.top_k));
    Object request{{"profile", "decisions"}, {"collection", kCollection}};
    BRAID_TRY(std::string query, fields.required("query", fields.string("query")));
    request.set("query", std::move(query));
    for (const std::string_view key :
         {"category", "stakes", "project", "query_embedding", "deadline_ms"}) {
        const Value* const given = fields.any(key);
        if (given != nullptr) request.set(key, *given);
    }
    BRAID_CHECK(fields.finish());
    BRAID_TRY(Request search,
              wire::request_from_value(request, operations.database().vocabulary()));
    BRAID_CHECK(operations.check(search, caller));
    const std::size_t depth = std::max(kDepth, 2 * question.top_k);
    search.top_k = search.dense_top_k = search.sparse_top_k = depth;
    if (question.semantic()) {
        search.strategy = Strategy::Dense;
        search.sparse_top_k.reset();
        question.searches.push_back(search);
    }
    if (question.keyword()) {
        search.strategy = Strategy::Sparse;
        search.dense_top_k.reset();
        search.sparse_top_k = depth;
        search.query_embedding.clear();
        question.searches.push_back(std::move(search));
    }
    return question;
}

/// One list that was found; none if its search failed.
struct Found {
    std::string_view name;
    double weight = 1;
    std::optional<Answer> answer;
    std::vector<fusion::Entry> entries;
};

/// What was found, fused and written down.
class Reply {
public:
    explicit Reply(Question question) : question_(std::move(question)) {
        warn(question_.unused, unused_);
    }

    /// The error if no search succeeded.
    Result<> take(std::vector<Result<Answer>> answers) {
        const bool both = answers.size() == 2;
        std::optional<Error> first;
        found_.reserve(answers.size());
        for (std::size_t i = 0; i < answers.size(); ++i) {
            const bool semantic = question_.semantic() && i == 0;
            Found& found = found_.emplace_back();
            found.name = semantic ? "semantic" : "keyword";
            if (both) found.weight = semantic ? question_.weight : 1 - question_.weight;
            if (answers[i]) {
                found.answer = *std::move(answers[i]);
                add_entries(found, semantic);
                continue;
            }
            complete_ = false;
            warnings_.emplace_back("the " + std::string(found.name) +
                                   " search failed: " + answers[i].error().message);
            if (!first) first = std::move(answers[i]).error();
        }
        const bool any = std::ranges::any_of(
            found_, [](const Found& found) { return found.answer.has_value(); });
        if (!any && first) return tl::unexpected(*std::move(first));
        return {};
    }

    Result<Value> write() const {
        std::vector<fusion::RankedList> lists;
        lists.reserve(found_.size());
        for (const Found& found : found_) {
            lists.push_back({found.name, found.weight, found.entries});
        }
        BRAID_TRY(const fusion::Fused fused,
                  fusion::fuse(lists, {.method = FusionMethod::WeightedSum}));
        Array decisions;
        Object scores;
        const std::size_t shown = std::min(question_.top_k, fused.hits.size());
        decisions.reserve(shown);
        scores.reserve(shown);
        for (const fusion::FusedHit& hit : std::span(fused.hits).first(shown)) {
            Object score{{"semantic", Value()}, {"keyword", Value()}, {"combined", hit.score}};
            for (const Found& found : found_) {
                if (found.answer) score.set(found.name, 0.0);
            }
            for (const fusion::Part& part : hit.parts) {
                score.set(found_[part.list].name, part.normalized.value_or(0.0));
            }
            scores.set(hit.id, std::move(score));
            decisions.emplace_back(*objects_.at(hit.id));
        }
        return Value(Object{{"decisions", std::move(decisions)},
                            {"scores", std::move(scores)},
                            {"retrieval_mode", Value(question_.mode)},
                            {"complete", complete_},
                            {"warnings", service::strings_to_array(warnings_)},
                            {"unused", service::strings_to_array(unused_)}});
    }

    void warn(std::string warning) { warnings_.push_back(std::move(warning)); }

private:
    static void warn(const std::vector<std::string>& from, std::vector<std::string>& to) {
        for (const std::string& text : from) {
            if (std::ranges::find(to, text) == to.end()) to.push_back(text);
        }
    }

    void add_entries(Found& found, bool semantic) {
        if (!found.answer) return;
        const Answer& answer = *found.answer;
        complete_ = complete_ && answer.complete;
        warn(answer.warnings, warnings_);
        found.entries.reserve(answer.hits.size());
        for (const Hit& hit : answer.hits) {
            // A word that most decisions hold may weigh nothing, or less; then it found nothing.
            if (!semantic && hit.score <= 0) continue;
            found.entries.push_back({hit.chunk.chunk_id, hit.score, found.entries.size()});
            objects_.emplace(hit.chunk.chunk_id, &hit.chunk.metadata);
        }
    }

    Question question_;
    std::vector<Found> found_;  // reserved before it is filled: entries and objects borrow from it
    std::map<std::string_view, const Object*> objects_;
    bool complete_ = true;
    std::vector<std::string> warnings_;
    std::vector<std::string> unused_;
};

Result<Chunk> chunk_of(const Value& decision, const core::Vocabulary& vocabulary,
                       std::vector<std::string>& warnings) {
    BRAID_TRY(const Value chunk, decision_chunk(decision));
    BRAID_TRY(wire::ChunkInput input, wire::chunk_from_value(chunk, vocabulary));
    for (std::string& warning : input.warnings) {
        warnings.push_back("decision \"" + input.chunk.chunk_id + "\": " + std::move(warning));
    }
    return std::move(input.chunk);
}

}  // namespace

std::string searchable_text(const Object& decision) {
    std::string text;
    bool first = true;
    const auto join = [&](const Value* part) {
        if (part != nullptr && !part->is_string()) return;
        if (!std::exchange(first, false)) text += ' ';
        if (part != nullptr) text += part->as_string();
    };
    for (const std::string_view key : {"summary", "decision", "context"}) join(decision.find(key));
    const Value* const reasons = decision.find("reasons");
    if (reasons == nullptr || !reasons->is_array()) return text;
    for (const Value& reason : reasons->as_array()) {
        if (reason.is_object()) join(reason.find("text"));
    }
    return text;
}

Result<Value> decision_chunk(const Value& decision) {
    if (!decision.is_object()) {
        return invalid_argument("a decision must be an object, got " + json::shown(decision));
    }
    const Object& object = decision.as_object();
    const Value* const id = object.find("id");
    if (id == nullptr || id->is_null()) return invalid_argument("\"id\" is required");
    return Object{{"_id", *id}, {"text", Value(searchable_text(object))}, {"metadata", decision}};
}

Object decisions_form(bool okapi) {
    const Value whole = wire::schema_to_value(decisions_schema("none", okapi));
    Object form;
    for (const std::string_view key : {"text_fields", "analyzer", "language", "bm25"}) {
        form.set(key, *whole.find(key));
    }
    return form;
}

Result<Value> Decisions::query(const Object& params, const service::Caller& caller) const {
    BRAID_TRY(Question question, read_question(params, caller, operations_));
    auto answers = operations_.search_batch(question.searches, caller);
    const bool missing = std::ranges::all_of(answers, [](const Result<Answer>& answer) {
        return !answer && answer.error().code == ErrorCode::NotFound;
    });
    Reply reply(std::move(question));
    if (missing) {
        reply.warn("no decision has been stored yet");
    } else {
        BRAID_CHECK(reply.take(std::move(answers)));
    }
    return reply.write();
}

Result<Value> Decisions::index(const Object& params, const service::Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const Array* const decisions, fields.array("decisions"));
    if (decisions == nullptr) return invalid_argument("\"decisions\" is required");
    BRAID_CHECK(fields.finish());
    if (decisions->size() > caller.limits.chunks) {
        return invalid_argument("\"decisions\" may hold at most " +
                                std::to_string(caller.limits.chunks));
    }
    const std::string collection(kCollection);
    BRAID_CHECK(caller.require(service::Access::Write, collection));
    const std::string home = caller.namespaces.usual();
    BRAID_CHECK(caller.namespaces.require(home));
    std::vector<std::string> warnings;
    std::vector<Chunk> chunks;
    chunks.reserve(decisions->size());
    for (std::size_t i = 0; i < decisions->size(); ++i) {
        auto chunk = chunk_of((*decisions)[i], operations_.database().vocabulary(), warnings);
        if (!chunk) {
            return fail("decisions[" + std::to_string(i) + "]", std::move(chunk).error());
        }
        chunks.push_back(*std::move(chunk));
    }
    const auto ensure = [&](bool okapi) {
        const Schema schema = decisions_schema(operations_.options().embedder, okapi);
        return operations_.ensure_collection(collection, &schema);
    };
    auto created = ensure(true);
    if (!created && created.error().code == ErrorCode::Unsupported) {
        created = ensure(false);
        warnings.emplace_back(kDecisionsWithoutOkapi);
    }
    if (!created) return tl::unexpected<Error>(std::move(created).error());
    WriteReport report;
    if (!chunks.empty()) {
        BRAID_TRY(report, operations_.write(collection, std::move(chunks), home, caller));
    }
    for (std::string& warning : report.warnings) warnings.push_back(std::move(warning));
    return Value(Object{{"indexed", report.written},
                        {"replaced", report.replaced},
                        {"created", *created},
                        {"warnings", service::strings_to_array(warnings)}});
}

}  // namespace braid::apps
