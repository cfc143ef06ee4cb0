#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "braid/rank/features.hpp"
#include "braid/result.hpp"

namespace braid::rank {

/// Rows of judged candidates, query after query.
struct TrainingData {
    std::vector<Vector> rows;
    std::vector<int> grades;            // of each row, 0 to 30
    std::vector<double> weights;        // of each row; empty: 1
    std::vector<std::int32_t> queries;  // how many rows each query has
};

/// That the parts fit together, and something is relevant; else InvalidArgument.
Result<> check_training_data(const TrainingData& data);

struct TrainingOptions {
    int trees = 100;
    int leaves = 8;
    double learning_rate = 0.05;
    int min_rows_per_leaf = 50;
    double l2 = 10;
    /// Weight of "fused_norm", from which the trees start; they learn what it gets wrong.
    double prior = 6;
    Vector linear{};  // weights of other features, part of where the trees start
    std::uint32_t seed = 1;
};

/// LightGBM's library, loaded when it is asked for: nothing else needs it. It stays loaded. One
/// thread at a time.
class Lightgbm {
public:
    /// NotFound if there is no such file, Unsupported if it is no LightGBM of version 4.
    static Result<Lightgbm> load(const std::filesystem::path& library);

    /// LambdaMART over the data, with the features' monotone constraints; the model as text. The
    /// same data give the same model, on one machine. InvalidArgument if the data do not fit
    /// together, or no row is relevant.
    Result<std::string> train(const TrainingData& data, const TrainingOptions& options) const;

    /// What LightGBM itself says to some rows, without the prior.
    Result<std::vector<double>> predict(const std::string& model,
                                        std::span<const Vector> rows) const;

private:
    struct Api;
    explicit Lightgbm(std::shared_ptr<const Api> api) : api_(std::move(api)) {}

    std::shared_ptr<const Api> api_;
};

}  // namespace braid::rank
