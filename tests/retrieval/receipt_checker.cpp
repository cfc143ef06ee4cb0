#include "retrieval/receipt_checker.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

namespace braid::retrieval {
namespace {

double number(const Value& object, const char* key) {
    const Value* const value = object.find(key);
    return value != nullptr ? value->as_double() : std::nan("");
}

std::string text(const Value& object, const char* key) {
    const Value* const value = object.find(key);
    return value != nullptr ? value->as_string() : std::string();
}

class Checker {
public:
    void check_answer(const Value& answer) {
        double place = 0;
        for (const Value& hit : answer.find("chunks")->as_array()) {
            where_ = "hit " + text(hit, "chunk_id");
            if (place > 0) expect(number(hit, "rank"), place + 1, "rank");
            place = number(hit, "rank");
            const Value& receipt = *hit.find("receipt");
            check_receipt(receipt);
            expect(number(hit, "score"), number(receipt, "score"), "score");
            check_hop(hit, receipt);
        }
    }

    std::string complaints() const { return out_.str(); }

private:
    void expect(double found, double wanted, const std::string& what) {
        if (found == wanted) return;
        out_.precision(17);
        out_ << where_ << ": " << what << " is " << found << ", should be " << wanted << "\n";
    }

    void check_hop(const Value& hit, const Value& receipt) {
        const Value* const hop = hit.find("metadata")->find("hop");
        if (hop == nullptr || text(*receipt.find("fusion"), "method") != "multi_hop") return;
        expect(number(receipt.find("sources")->as_array().at(0), "weight"),
               std::pow(0.9, hop->as_double()), "decay");
    }

    // NOLINTNEXTLINE(misc-no-recursion): receipts nest two levels
    void check_receipt(const Value& receipt) {
        const Value& fusion = *receipt.find("fusion");
        const std::string method = text(fusion, "method");
        const std::string preset = text(fusion, "preset");
        if (method == "auto") check_choice(*fusion.find("choice"), receipt);
        double sum = 0;
        double largest = -HUGE_VAL;
        const Array& sources = receipt.find("sources")->as_array();
        for (const Value& source : sources) {
            if (const Value* const nested = source.find("receipt")) {
                check_receipt(*nested);
                expect(number(source, "score"), number(*nested, "score"), "nested score");
            }
            const double contribution = contribution_of(fusion, method, preset, source);
            expect(number(source, "contribution"), contribution,
                   "contribution of " + text(source, "source"));
            sum += contribution;
            largest = std::max(largest, contribution);
        }
        double fused = sum;
        if (method == "dbsf" && preset.empty()) fused = sum / static_cast<double>(sources.size());
        if (method == "dbsf" && preset == "haystack") fused = largest;
        if (method == "rrf" && preset == "haystack") {
            fused = sum / (number(fusion, "sources_fused") / number(fusion, "k"));
        }
        if (method == "none") fused = number(sources.at(0), "score");
        expect(number(receipt, "fused"), fused, "fused");
        check_stages(receipt, fused);
    }

    double contribution_of(const Value& fusion, const std::string& method,
                           const std::string& preset, const Value& source) {
        const double weight = number(source, "weight");
        const double score = number(source, "score");
        if (method == "none") return score;
        if (method == "multi_hop") return score < 0 ? score / weight : score * weight;
        if (method == "rrf") {
            const double k = number(fusion, "k");
            const double rank = number(source, "rank");
            if (preset == "qdrant") return weight > 0 ? 1 / (k + (rank + 1) / weight - 1) : 0;
            if (preset == "haystack") {
                return weight * number(fusion, "sources_fused") / (k + rank);
            }
            return weight / (k + rank);
        }
        const double normalized = normalized_of(*fusion.find("lists")->find(text(source, "source")),
                                                method, preset, score);
        expect(number(source, "normalized"), normalized, "normalized");
        return weight * normalized;
    }

    /// The weights that "auto" should have come to.
    void check_choice(const Value& choice, const Value& receipt) {
        double dense = number(choice, "base");
        for (const Value& signal : choice.find("signals")->as_array()) {
            dense +=
                number(signal, "coefficient") * (number(signal, "value") - number(signal, "usual"));
        }
        dense = std::min(std::max(dense, number(choice, "lowest")), number(choice, "highest"));
        expect(number(choice, "dense_weight"), dense, "weight of the dense leg");
        for (const Value& source : receipt.find("sources")->as_array()) {
            const bool is_dense = text(source, "source") == "dense";
            expect(number(source, "weight"), is_dense ? dense : 1 - dense, "weight");
        }
    }

    static double normalized_of(const Value& list, const std::string& method,
                                const std::string& preset, double score) {
        if (method == "weighted_sum" || method == "auto") {
            const double low = number(list, "min");
            const double high = number(list, "max");
            if (preset == "elastic" && high - low < 1e-6) return score;
            if (high == low) return preset == "llamaindex" && high <= 0 ? 0 : 1;
            return (score - low) / (high - low);
        }
        const double mean = number(list, "mean");
        const double std = number(list, "std");
        if (std == 0) {
            if (preset == "llamaindex") return mean > 0 ? 1 : 0;
            return preset == "haystack" ? 0 : 0.5;
        }
        if (preset.empty()) return 1 / (1 + std::exp(-((score - mean) / std)));
        const double low = mean - 3 * std;
        const double high = mean + 3 * std;
        return (score - low) / (high - low);
    }

    void check_stages(const Value& receipt, double fused) {
        double score = fused;
        for (const Value& stage : receipt.find("stages")->as_array()) {
            const std::string operation = text(stage, "operation");
            const double value = number(stage, "value");
            if (operation == "multiply") score *= value;
            if (operation == "divide") score /= value;
            if (operation == "add") score += value;
            if (operation == "replace") score = value;
            if (operation == "keep" && score < value) expect(score, value, "kept score");
            expect(number(stage, "score"), score, "score after " + text(stage, "stage"));
            check_detail(stage, value);
        }
        expect(number(receipt, "score"), score, "score");
    }

    void check_detail(const Value& stage, double value) {
        const Value* const detail = stage.find("detail");
        if (detail == nullptr) return;
        if (text(stage, "stage") == "mmr") {
            const double lambda = number(*detail, "lambda");
            expect(value,
                   lambda * number(*detail, "relevance") -
                       (1 - lambda) * number(*detail, "similarity"),
                   "mmr");
        }
        if (text(stage, "stage") == "decay_by_age") {
            const double over =
                std::max(0.0, number(*detail, "age_days") - number(*detail, "offset_days"));
            expect(value,
                   std::max({std::exp2(-over / number(*detail, "half_life_days")),
                             number(*detail, "floor"), 1e-9}),
                   "decay");
        }
    }

    std::string where_;
    std::ostringstream out_;
};

}  // namespace

std::string check_receipts(const Value& answer) {
    Checker checker;
    checker.check_answer(answer);
    return checker.complaints();
}

}  // namespace braid::retrieval
