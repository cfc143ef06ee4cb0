#include "braid/rank/lightgbm.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include <dlfcn.h>

#include "braid/core/shared_library.hpp"

namespace braid::rank {

// The part of LightGBM's C API (include/LightGBM/c_api.h) that is used here.
struct Lightgbm::Api {
    using Handle = void*;

    const char* (*last_error)() = nullptr;
    int (*dataset_from_matrix)(const void* data, int type, std::int32_t rows, std::int32_t columns,
                               int row_major, const char* parameters, Handle reference,
                               Handle* out) = nullptr;
    int (*dataset_set_field)(Handle data, const char* name, const void* values, int count,
                             int type) = nullptr;
    int (*dataset_free)(Handle data) = nullptr;
    int (*booster_create)(Handle data, const char* parameters, Handle* out) = nullptr;
    int (*booster_load)(const char* model, int* iterations, Handle* out) = nullptr;
    int (*booster_update)(Handle booster, int* finished) = nullptr;
    int (*booster_save)(Handle booster, int first, int count, int importance, std::int64_t size,
                        std::int64_t* needed, char* out) = nullptr;
    int (*booster_predict)(Handle booster, const void* data, int type, std::int32_t rows,
                           std::int32_t columns, int row_major, int kind, int first, int count,
                           const char* parameters, std::int64_t* written, double* out) = nullptr;
    int (*booster_free)(Handle booster) = nullptr;

    Result<> check(int status, const char* doing) const {
        if (status == 0) return {};
        return fail(ErrorCode::Unavailable,
                    std::string("LightGBM failed ") + doing + ": " + last_error());
    }
};

namespace {

constexpr std::string_view kLibrary = "LightGBM";

constexpr int kFloat = 0;
constexpr int kDouble = 1;
constexpr int kInt = 2;
constexpr int kRowMajor = 1;
constexpr int kMaxGrade = 30;

using Handle = void*;

/// Frees what it holds.
class Held {
public:
    explicit Held(int (*release)(Handle)) : release_(release) {}
    ~Held() {
        if (handle != nullptr) release_(handle);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held(Held&&) = delete;
    Held& operator=(Held&&) = delete;

    Handle handle = nullptr;

private:
    int (*release_)(Handle);
};

template <class Function>
bool find(void* library, const char* name, Function& into) {
    into = reinterpret_cast<Function>(dlsym(library, name));
    return into != nullptr;
}

std::string parameters_of(const TrainingOptions& options) {
    std::string constraints;
    for (const Feature& feature : features()) {
        constraints += (constraints.empty() ? "" : ",") + std::to_string(feature.monotone);
    }
    // Gains as nDCG's: the grade itself.
    std::string gains = "0";
    for (int grade = 1; grade <= kMaxGrade; ++grade) gains += "," + std::to_string(grade);
    // One thread, and the same histograms every time: the same data give the same trees.
    return "objective=lambdarank metric=None lambdarank_truncation_level=20 verbosity=-1 "
           "num_threads=1 deterministic=true force_row_wise=true use_missing=false max_bin=255 "
           "feature_fraction=0.7 bagging_fraction=0.8 bagging_freq=1 "
           "monotone_constraints_method=advanced monotone_constraints=" +
           constraints + " label_gain=" + gains + " num_leaves=" + std::to_string(options.leaves) +
           " learning_rate=" + std::to_string(options.learning_rate) +
           " min_data_in_leaf=" + std::to_string(options.min_rows_per_leaf) +
           " lambda_l2=" + std::to_string(options.l2) + " seed=" + std::to_string(options.seed);
}

}  // namespace

Result<> check_training_data(const TrainingData& data) {
    const std::size_t rows = data.rows.size();
    std::size_t counted = 0;
    for (const std::int32_t count : data.queries) {
        if (count <= 0)
            return invalid_argument("nothing can be learned from a query without candidates");
        counted += static_cast<std::size_t>(count);
    }
    if (data.grades.size() != rows || counted != rows ||
        (!data.weights.empty() && data.weights.size() != rows) ||
        rows > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        return invalid_argument("the training data are inconsistent");
    }
    if (std::ranges::any_of(data.grades, [](int g) { return g < 0 || g > kMaxGrade; })) {
        return invalid_argument("grades must be from 0 to " + std::to_string(kMaxGrade));
    }
    if (std::ranges::all_of(data.grades, [](int g) { return g == 0; })) {
        return invalid_argument("none of the candidates is relevant: there is nothing to learn");
    }
    return {};
}

Result<Lightgbm> Lightgbm::load(const std::filesystem::path& library) {
    // Never closed: OpenMP's threads outlive any use of it.
    BRAID_TRY(void* const handle, core::open_library(library, kLibrary));
    auto api = std::make_shared<Api>();
    if (!find(handle, "LGBM_GetLastError", api->last_error) ||
        !find(handle, "LGBM_DatasetCreateFromMat", api->dataset_from_matrix) ||
        !find(handle, "LGBM_DatasetSetField", api->dataset_set_field) ||
        !find(handle, "LGBM_DatasetFree", api->dataset_free) ||
        !find(handle, "LGBM_BoosterCreate", api->booster_create) ||
        !find(handle, "LGBM_BoosterLoadModelFromString", api->booster_load) ||
        !find(handle, "LGBM_BoosterUpdateOneIter", api->booster_update) ||
        !find(handle, "LGBM_BoosterSaveModelToString", api->booster_save) ||
        !find(handle, "LGBM_BoosterPredictForMat", api->booster_predict) ||
        !find(handle, "LGBM_BoosterFree", api->booster_free)) {
        return core::cannot_use(library, kLibrary, "it lacks a function of version 4's C API");
    }
    return Lightgbm(std::move(api));
}

Result<std::string> Lightgbm::train(const TrainingData& data,
                                    const TrainingOptions& options) const {
    BRAID_CHECK(check_training_data(data));
    const Api& api = *api_;
    const std::string parameters = parameters_of(options);
    const auto rows = static_cast<std::int32_t>(data.rows.size());
    Held dataset(api.dataset_free);
    BRAID_CHECK(api.check(
        api.dataset_from_matrix(data.rows.data(), kDouble, rows, static_cast<int>(kFeatures),
                                kRowMajor, parameters.c_str(), nullptr, &dataset.handle),
        "to read the features"));
    const auto set = [&](const char* name, const void* values, std::size_t count, int type) {
        return api.check(
            api.dataset_set_field(dataset.handle, name, values, static_cast<int>(count), type),
            "to read the judgements");
    };
    const std::vector<float> labels(data.grades.begin(), data.grades.end());
    const std::vector<float> weights(data.weights.begin(), data.weights.end());
    std::vector<double> start;
    const std::size_t fused = feature_index("fused_norm");
    for (const Vector& row : data.rows) {
        double score = options.prior * row[fused];
        for (std::size_t f = 0; f < kFeatures; ++f) score += options.linear[f] * row[f];
        start.push_back(score);
    }
    BRAID_CHECK(set("label", labels.data(), labels.size(), kFloat));
    BRAID_CHECK(set("group", data.queries.data(), data.queries.size(), kInt));
    BRAID_CHECK(set("init_score", start.data(), start.size(), kDouble));
    if (!weights.empty()) BRAID_CHECK(set("weight", weights.data(), weights.size(), kFloat));

    Held booster(api.booster_free);
    BRAID_CHECK(api.check(api.booster_create(dataset.handle, parameters.c_str(), &booster.handle),
                          "to begin"));
    for (int i = 0; i < options.trees; ++i) {
        int finished = 0;
        BRAID_CHECK(api.check(api.booster_update(booster.handle, &finished), "to learn"));
        if (finished != 0) break;
    }
    std::int64_t size = 0;
    constexpr int kAll = -1;
    BRAID_CHECK(api.check(api.booster_save(booster.handle, 0, kAll, 0, 0, &size, nullptr),
                          "to write its model"));
    std::string model(static_cast<std::size_t>(size), '\0');
    BRAID_CHECK(api.check(api.booster_save(booster.handle, 0, kAll, 0, size, &size, model.data()),
                          "to write its model"));
    model.resize(model.find('\0') == std::string::npos ? model.size() : model.find('\0'));
    return model;
}

Result<std::vector<double>> Lightgbm::predict(const std::string& model,
                                              std::span<const Vector> rows) const {
    const Api& api = *api_;
    Held booster(api.booster_free);
    int iterations = 0;
    BRAID_CHECK(api.check(api.booster_load(model.c_str(), &iterations, &booster.handle),
                          "to read its model"));
    std::vector<double> scores(rows.size());
    if (rows.empty()) return scores;
    std::int64_t written = 0;
    constexpr int kRawScore = 1;
    BRAID_CHECK(api.check(
        api.booster_predict(booster.handle, rows.data(), kDouble,
                            static_cast<std::int32_t>(rows.size()), static_cast<int>(kFeatures),
                            kRowMajor, kRawScore, 0, -1, "", &written, scores.data()),
        "to score"));
    return scores;
}

}  // namespace braid::rank
