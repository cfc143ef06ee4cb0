#include "braid/eval/feature_lists.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "braid/eval/measures.hpp"
#include "braid/json/json.hpp"

namespace braid::eval {
namespace {

constexpr std::string_view kStage = "features";

/// The line of the receipt that holds the vector; null if there is none.
const Object* detail_of(const Receipt& receipt) {
    for (const ReceiptStage& stage : receipt.stages) {
        if (stage.stage == kStage) return &stage.detail;
    }
    return nullptr;
}

Result<rank::Vector> vector_in(const Object& detail) {
    const Value* const version = detail.find("version");
    const Value* const named = detail.find("features");
    if (version == nullptr || *version != Value(rank::kFeatureVersion) || named == nullptr ||
        !named->is_object()) {
        return invalid_argument("the answer has features of another version");
    }
    rank::Vector out{};
    for (std::size_t i = 0; i < rank::kFeatures; ++i) {
        const Value* const value = named->find(rank::features()[i].name);
        if (value == nullptr || !value->is_number()) {
            return invalid_argument("a receipt lacks the feature \"" +
                                    std::string(rank::features()[i].name) + "\"");
        }
        out[i] = value->as_double();
    }
    return out;
}

}  // namespace

Request with_features(Request request, std::size_t candidates) {
    request.stages.push_back({std::string(kStage), {{"candidates", candidates}}});
    request.top_k = candidates;
    return request;
}

Result<FeatureList> features_in(const std::string& query, const Answer& answer) {
    FeatureList list{query, {}};
    for (const Hit& hit : answer.hits) {
        const Object* const detail = detail_of(hit.receipt);
        if (detail == nullptr) {
            if (!list.rows.empty()) break;  // hits from below the depth of the legs
            return invalid_argument("the answer's receipts have no features");
        }
        FeatureRow& row = list.rows.emplace_back();
        row.chunk = hit.chunk.chunk_id;
        row.document = hit.chunk.document_id.empty() ? hit.chunk.chunk_id : hit.chunk.document_id;
        BRAID_TRY(row.features, vector_in(*detail));
    }
    return list;
}

Result<std::vector<FeatureList>> collect_features(std::span<const Query> queries,
                                                  const RunRequest& request,
                                                  const AnswerBatch& answer) {
    if (queries.empty()) return invalid_argument("there are no queries");
    std::vector<FeatureList> lists;
    const Request asked = with_features(request.request, request.documents);
    for (std::size_t first = 0; first < queries.size(); first += request.batch) {
        const auto batch = queries.subspan(first, std::min(request.batch, queries.size() - first));
        std::vector<Request> requests(batch.size(), asked);
        for (std::size_t i = 0; i < batch.size(); ++i) {
            requests[i].query = batch[i].text;
            if (!request.vectors.empty()) requests[i].query_embedding = request.vectors[first + i];
        }
        auto answers = answer(requests);
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const auto named = [&](Error error) {
                return fail("query \"" + batch[i].id + "\"", std::move(error));
            };
            if (!answers[i]) return named(std::move(answers[i]).error());
            if (!answers[i]->complete) {
                return named({ErrorCode::Unavailable,
                              "the answer is incomplete: " + (answers[i]->warnings.empty()
                                                                  ? std::string("no reason given")
                                                                  : answers[i]->warnings.back())});
            }
            auto list = features_in(batch[i].id, *answers[i]);
            if (!list) return named(std::move(list).error());
            if (!list->rows.empty()) lists.push_back(*std::move(list));
        }
        if (request.progress) request.progress(first + batch.size());
    }
    return lists;
}

std::vector<FeatureList> judged_lists(std::vector<FeatureList> lists, const Qrels& qrels) {
    std::unordered_map<std::string_view, const JudgedQuery*> judged;
    for (const JudgedQuery& query : qrels.queries) judged.emplace(query.query, &query);
    std::erase_if(lists, [&](const FeatureList& list) { return !judged.contains(list.query); });
    for (FeatureList& list : lists) {
        const JudgedQuery& judgements = *judged.at(list.query);
        for (FeatureRow& row : list.rows) {
            row.relevance = std::max(0, relevance_in(judgements, row.document));
        }
    }
    return lists;
}

std::string write_letor(std::span<const FeatureList> lists) {
    std::string out = "#";
    for (std::size_t i = 0; i < rank::kFeatures; ++i) {
        out += " " + std::to_string(i + 1) + ":" + std::string(rank::features()[i].name);
    }
    out += '\n';
    for (std::size_t q = 0; q < lists.size(); ++q) {
        out += "# qid:" + std::to_string(q + 1) + " " + json::print(Value(lists[q].query)) + "\n";
        for (const FeatureRow& row : lists[q].rows) {
            out += std::to_string(row.relevance) + " qid:" + std::to_string(q + 1);
            for (std::size_t i = 0; i < rank::kFeatures; ++i) {
                out += " " + std::to_string(i + 1) + ":";
                json::print_to(out, Value(row.features[i]));
            }
            out += " # " + json::print(Value(row.document)) + " " + json::print(Value(row.chunk)) +
                   "\n";
        }
    }
    return out;
}

}  // namespace braid::eval
