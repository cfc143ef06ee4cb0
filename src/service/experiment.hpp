#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "braid/answer.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/service/log.hpp"
#include "braid/value.hpp"

namespace braid::core {
struct Vocabulary;
}

namespace braid::service {

/// Two ways to answer the same requests: docs/experiments.md.
struct ExperimentPlan {
    std::string name;
    Object a;                 // members that replace those of a request
    Object b;                 //
    bool interleave = false;  // both answer, and the answers are mixed; else a key has one of them
    double share = 0.5;       // of the keys that have b
};

/// Reads `{"name", "a", "b", "method": "split" or "interleave", "share"}`. InvalidArgument says
/// what is wrong, including a member of "a" or "b" that no request has.
Result<ExperimentPlan> read_experiment(std::string_view json, const core::Vocabulary& vocabulary);

/// Answers requests by one side or by both, and logs what was shown and clicked. Safe for
/// concurrent use.
class Experiment {
public:
    using Search = std::function<Result<Answer>(const Request&)>;

    /// Lines of JSON go to `log`.
    Experiment(ExperimentPlan plan, LineSink log);

    /// The side of a key; "both" if answers are mixed. An empty key gets either, at random.
    std::string side_of(std::string_view key) const;

    /// `search` runs a request with the rights of whoever asked. Pages after the first do not take
    /// part. If a side fails, the request is answered unchanged, with a warning.
    Result<Answer> answer(const Request& request, const std::string& key,
                          const core::Vocabulary& vocabulary, const Search& search);

    /// Somebody chose a chunk of an answer. NotFound if no recent answer had this id or showed that
    /// chunk.
    Result<> clicked(const std::string& id, const std::string& chunk_id);

private:
    static constexpr std::size_t kRemembered = 10'000;  // answers

    std::string new_id();
    Result<Answer> side_answer(const Object& side, const Request& request,
                               const core::Vocabulary& vocabulary, const Search& search) const;
    Result<Answer> mixed_answer(const Request& request, const std::string& id,
                                const core::Vocabulary& vocabulary, const Search& search,
                                std::vector<std::string>& teams) const;
    void log_answer(const Answer& answer, std::string_view key,
                    const std::vector<std::string>& teams);

    const ExperimentPlan plan_;
    const LineSink log_;
    std::mutex mutex_;  // of what follows
    std::mt19937_64 ids_;
    std::unordered_map<std::string, std::vector<std::string>> shown_;  // chunks, by answer
    std::vector<std::string> recent_;  // ids; the oldest is forgotten for a new one
    std::size_t oldest_ = 0;
};

struct Interleaved {
    std::vector<Hit> hits;
    std::vector<std::string> teams;  // "a" or "b" for each
};

/// Team-draft interleaving (Radlinski, Kurup and Joachims, CIKM 2008): in each round both sides, in
/// an order decided by a coin, add their best hit that is not there yet. The same seed gives the
/// same list.
Interleaved interleave(const std::vector<Hit>& a, const std::vector<Hit>& b, std::size_t most,
                       std::uint64_t seed);

}  // namespace braid::service
