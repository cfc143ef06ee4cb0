#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/eval/resample.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::eval {

/// One answer of an experiment (docs/experiments.md), with what was clicked of it.
struct ExperimentAnswer {
    std::string experiment;
    std::string id;
    std::string key;   // whose; empty: unknown, each answer is somebody's own
    std::string side;  // "a", "b" or "both"
    std::string query;
    std::vector<std::string> documents;
    std::vector<std::string> chunks;
    std::vector<std::string> teams;   // of "both": "a" or "b" for each chunk
    std::vector<std::size_t> clicks;  // places in `chunks`, each once
};

struct ExperimentLog {
    std::vector<ExperimentAnswer> answers;
    std::size_t lost_clicks = 0;     // whose answer is not in the log
    std::size_t unread = 0;          // a line at the end that was cut off by a crash
    std::vector<std::string> names;  // of the experiments in it
};

/// Reads the lines that `braid serve --ab-log` writes. InvalidArgument names a line that is
/// none; a last line without its end is passed over.
Result<ExperimentLog> parse_experiment_log(std::string_view text, std::string_view source);

/// A mean over keys, each counting once however often it asked, with its interval.
struct KeyMean {
    double mean = 0;
    Interval interval;
};

struct SideReport {
    std::size_t answers = 0;
    std::size_t keys = 0;
    KeyMean clicked;     // share of answers with a click
    KeyMean reciprocal;  // 1 / rank of the first hit clicked; 0 without
};

struct InterleavingReport {
    std::size_t answers = 0;
    std::size_t keys = 0;
    std::size_t a_wins = 0;  // answers with more clicks on hits of a
    std::size_t b_wins = 0;
    std::size_t ties = 0;  // as many on both, or none
    KeyMean preference;    // b's wins less a's, over all wins: from -1 to 1
    double p_value = 1;    // two-sided sign test of the wins
};

struct ExperimentReport {
    std::string experiment;
    std::optional<SideReport> a;
    std::optional<SideReport> b;
    std::optional<KeyMean> clicked_gain;  // b less a; both must have answers
    std::optional<KeyMean> reciprocal_gain;
    std::optional<InterleavingReport> interleaved;
    std::size_t lost_clicks = 0;
};

struct ExperimentOptions {
    std::string experiment;  // empty: the only one in the log
    std::size_t resamples = 2000;
    double confidence = 0.95;
    std::uint64_t seed = 1;
};

/// Bootstrap over keys: answers to one person are not independent. InvalidArgument if the log has
/// no answers, or several experiments and none is named; NotFound for one it has not.
Result<ExperimentReport> report_experiment(const ExperimentLog& log,
                                           const ExperimentOptions& options);

Value to_value(const ExperimentReport& report);
std::string to_text(const ExperimentReport& report);

/// Lines of `{"query", "shown", "clicked"}` by documents, as `braid tune --clicks` and `braid rank
/// train --clicks` read them: one for each answer.
std::string clicks_of(const ExperimentLog& log);

}  // namespace braid::eval
