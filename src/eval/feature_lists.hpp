#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "braid/eval/run_queries.hpp"
#include "braid/eval/trec.hpp"
#include "braid/rank/features.hpp"
#include "braid/result.hpp"

namespace braid::eval {

/// A candidate as its receipt describes it to a learned ranking.
struct FeatureRow {
    std::string chunk;
    std::string document;
    rank::Vector features{};
    std::int32_t relevance = 0;  // of its document; 0 if nobody judged it
    double weight = 1;           // in training
};

/// The candidates of one query, in the order in which they were found.
struct FeatureList {
    std::string query;
    std::vector<FeatureRow> rows;
};

/// The request with the stage that writes features into receipts, for so many candidates.
Request with_features(Request request, std::size_t candidates);

/// What the receipts of an answer to such a request say. InvalidArgument if they have no features,
/// or others than this version's.
Result<FeatureList> features_in(const std::string& query, const Answer& answer);

/// Searches every query and reads its candidates' features. `request.documents` is the number of
/// candidates. Fails, naming the query, if one fails.
Result<std::vector<FeatureList>> collect_features(std::span<const Query> queries,
                                                  const RunRequest& request,
                                                  const AnswerBatch& answer);

/// Grades every row by the judgements of its document; queries that nobody judged go.
std::vector<FeatureList> judged_lists(std::vector<FeatureList> lists, const Qrels& qrels);

/// LETOR's form of SVMlight's lines: `2 qid:7 1:0.52 2:1.0 … # document chunk`, features counted
/// from 1, zeros too; below 0 a grade is 0. The first line is a comment that names the features.
/// Queries have numbers, in their order; their own ids stand in a comment before each.
std::string write_letor(std::span<const FeatureList> lists);

}  // namespace braid::eval
