#include "braid/eval/experiments.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "braid/core/numbers.hpp"
#include "braid/eval/lines.hpp"
#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"

namespace braid::eval {
namespace {

constexpr std::size_t kFewestKeys = 20;  // of a side; an interval of fewer says little
constexpr double kSignificant = 0.05;

Result<ExperimentAnswer> answer_of(json::Fields& fields) {
    ExperimentAnswer out;
    BRAID_TRY(out.id, fields.required("id", fields.string("id")));
    BRAID_TRY(auto key, fields.string("key"));
    out.key = std::move(key).value_or("");
    BRAID_TRY(out.side, fields.required("side", fields.string("side")));
    BRAID_TRY(out.query, fields.required("query", fields.string("query")));
    BRAID_TRY(out.documents, fields.required("documents", fields.strings("documents")));
    BRAID_TRY(out.chunks, fields.required("chunks", fields.strings("chunks")));
    BRAID_TRY(auto teams, fields.strings("teams"));
    out.teams = std::move(teams).value_or(std::vector<std::string>{});
    if (out.side != "a" && out.side != "b" && out.side != "both") {
        return invalid_argument("\"side\" must be \"a\", \"b\" or \"both\"");
    }
    const bool sized = out.documents.size() == out.chunks.size() &&
                       (out.side != "both" || out.teams.size() == out.chunks.size());
    if (!sized) {
        return invalid_argument("\"documents\", \"chunks\" and \"teams\" differ in length");
    }
    return out;
}

class LogReader {
public:
    Result<> read(std::string_view line) {
        BRAID_TRY(const Value json, json::parse(line));
        BRAID_TRY(json::Fields fields, json::Fields::of(json));
        BRAID_TRY(const auto event, fields.required("event", fields.string("event")));
        BRAID_TRY(auto name, fields.required("experiment", fields.string("experiment")));
        if (event == "answer") {
            BRAID_TRY(ExperimentAnswer answer, answer_of(fields));
            answer.experiment = name;
            if (std::ranges::count(log.names, name) == 0) log.names.push_back(std::move(name));
            places_[answer.id] = log.answers.size();
            log.answers.push_back(std::move(answer));
            return {};
        }
        if (event != "click") return invalid_argument("\"event\" is neither answer nor click");
        BRAID_TRY(const auto id, fields.required("id", fields.string("id")));
        BRAID_TRY(const auto chunk, fields.required("chunk", fields.string("chunk")));
        add_click(id, chunk);
        return {};
    }

    ExperimentLog log;

private:
    void add_click(const std::string& id, const std::string& chunk) {
        const auto found = places_.find(id);
        if (found == places_.end()) {
            ++log.lost_clicks;
            return;
        }
        ExperimentAnswer& answer = log.answers[found->second];
        const auto at = std::ranges::find(answer.chunks, chunk);
        if (at == answer.chunks.end()) {
            ++log.lost_clicks;
            return;
        }
        const auto place = static_cast<std::size_t>(at - answer.chunks.begin());
        if (std::ranges::count(answer.clicks, place) == 0) answer.clicks.push_back(place);
    }

    std::unordered_map<std::string, std::size_t> places_;
};

/// The answers of each key; where it is unknown, each for itself.
using ByKey = std::map<std::string, std::vector<const ExperimentAnswer*>>;

ByKey by_key(const ExperimentLog& log, std::string_view experiment, std::string_view side) {
    ByKey out;
    for (const ExperimentAnswer& answer : log.answers) {
        if (answer.experiment != experiment || answer.side != side) continue;
        out[answer.key.empty() ? "\n" + answer.id : answer.key].push_back(&answer);
    }
    return out;
}

double reciprocal_of(const ExperimentAnswer& answer) {
    if (answer.clicks.empty()) return 0;
    return 1.0 / static_cast<double>(std::ranges::min(answer.clicks) + 1);
}

/// What is measured of each key, and its draws.
struct Sampled {
    std::vector<double> means;
    std::vector<std::vector<double>> draws;  // [column]
};

Sampled sample(const Matrix& values, const ExperimentOptions& options, std::uint64_t seed) {
    Sampled out;
    for (std::size_t c = 0; c < values.columns(); ++c) {
        double sum = 0;
        for (std::size_t r = 0; r < values.rows(); ++r) sum += values.row(r)[c];
        out.means.push_back(sum / static_cast<double>(values.rows()));
    }
    out.draws = bootstrap_means(values, options.resamples, seed);
    return out;
}

KeyMean interval_of(double mean, std::vector<double> draws, double confidence) {
    return {mean, percentile_interval(draws, confidence)};
}

std::optional<Sampled> sample_side(const ByKey& keys, const ExperimentOptions& options,
                                   std::uint64_t seed) {
    if (keys.empty()) return std::nullopt;
    Matrix values(keys.size(), 2);
    std::size_t row = 0;
    for (const auto& [key, answers] : keys) {
        const auto n = static_cast<double>(answers.size());
        auto out = values.row(row++);
        for (const ExperimentAnswer* const answer : answers) {
            out[0] += (answer->clicks.empty() ? 0.0 : 1.0) / n;
            out[1] += reciprocal_of(*answer) / n;
        }
    }
    return sample(values, options, seed);
}

SideReport side_report(const ByKey& keys, const Sampled& sampled, double confidence) {
    SideReport out;
    out.keys = keys.size();
    for (const auto& [key, answers] : keys) out.answers += answers.size();
    out.clicked = interval_of(sampled.means[0], sampled.draws[0], confidence);
    out.reciprocal = interval_of(sampled.means[1], sampled.draws[1], confidence);
    return out;
}

/// b less a; the keys of both are others, so each has its own draws.
KeyMean gain_of(const Sampled& a, const Sampled& b, std::size_t column, double confidence) {
    std::vector<double> draws(a.draws[column].size());
    for (std::size_t i = 0; i < draws.size(); ++i)
        draws[i] = b.draws[column][i] - a.draws[column][i];
    return interval_of(b.means[column] - a.means[column], std::move(draws), confidence);
}

/// Two-sided: as far from half as this, or farther.
double sign_test(std::size_t wins, std::size_t losses) {
    const auto n = static_cast<double>(wins + losses);
    if (n == 0) return 1;
    const auto fewer = static_cast<double>(std::min(wins, losses));
    double tail = 0;
    for (double k = 0; k <= fewer; ++k) {
        tail += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                         n * std::log(2.0));
    }
    return std::min(1.0, 2 * tail);
}

/// 1: b has more clicks, -1: a has, 0: as many.
int winner_of(const ExperimentAnswer& answer) {
    std::ptrdiff_t more = 0;
    for (const std::size_t place : answer.clicks) more += answer.teams[place] == "b" ? 1 : -1;
    return more > 0 ? 1 : more < 0 ? -1 : 0;
}

std::optional<InterleavingReport> interleaving_report(const ByKey& keys,
                                                      const ExperimentOptions& options) {
    if (keys.empty()) return std::nullopt;
    InterleavingReport out;
    out.keys = keys.size();
    std::vector<double> preferences;  // of keys with a win
    for (const auto& [key, answers] : keys) {
        double b_less_a = 0;
        double wins = 0;
        for (const ExperimentAnswer* const answer : answers) {
            const int winner = winner_of(*answer);
            ++out.answers;
            ++(winner > 0 ? out.b_wins : winner < 0 ? out.a_wins : out.ties);
            b_less_a += winner;
            wins += winner == 0 ? 0 : 1;
        }
        if (wins > 0) preferences.push_back(b_less_a / wins);
    }
    out.p_value = sign_test(out.b_wins, out.a_wins);
    if (preferences.empty()) return out;
    Matrix values(preferences.size(), 1);
    for (std::size_t i = 0; i < preferences.size(); ++i) values.row(i)[0] = preferences[i];
    Sampled sampled = sample(values, options, options.seed);
    out.preference = interval_of(sampled.means[0], std::move(sampled.draws[0]), options.confidence);
    return out;
}

Result<std::string> chosen_name(const ExperimentLog& log, const ExperimentOptions& options) {
    if (log.answers.empty()) return invalid_argument("the log holds no answer");
    if (options.experiment.empty() && log.names.size() == 1) return log.names.front();
    std::string names;
    for (const std::string& name : log.names) names += (names.empty() ? "" : ", ") + name;
    if (options.experiment.empty()) {
        return invalid_argument("the log holds several experiments; name one: " + names);
    }
    if (std::ranges::count(log.names, options.experiment) == 0) {
        return fail(ErrorCode::NotFound, "the log holds no experiment \"" + options.experiment +
                                             "\"; it holds " + names);
    }
    return options.experiment;
}

Value mean_value(const KeyMean& mean) {
    return Object{{"mean", mean.mean}, {"interval", Array{mean.interval.low, mean.interval.high}}};
}

Value side_value(const SideReport& side) {
    return Object{{"answers", side.answers},
                  {"keys", side.keys},
                  {"clicked", mean_value(side.clicked)},
                  {"reciprocal_rank", mean_value(side.reciprocal)}};
}

std::string mean_text(const KeyMean& mean, bool sign = false) {
    const auto number = [&](double x) { return (sign && x >= 0 ? "+" : "") + core::fixed(x, 3); };
    return number(mean.mean) + " (" + number(mean.interval.low) + " to " +
           number(mean.interval.high) + ")";
}

void add_side(std::string_view name, const std::optional<SideReport>& side, std::string& out) {
    if (!side) return;
    out += std::string(name) + "   " + core::count_of(side->answers, "answer", "answers") + ", " +
           core::count_of(side->keys, "key", "keys") + ": clicked " + mean_text(side->clicked) +
           ", reciprocal rank " + mean_text(side->reciprocal) + "\n";
}

}  // namespace

Result<ExperimentLog> parse_experiment_log(std::string_view text, std::string_view source) {
    LogReader reader;
    const std::size_t whole = text.find_last_of('\n') + 1;  // 0: not one line has its end
    reader.log.unread = whole < text.size() ? 1 : 0;
    Lines lines(text.substr(0, whole), source);
    for (;;) {
        BRAID_TRY(const auto line, lines.next());
        if (!line) break;
        if (auto read = reader.read(*line); !read) return lines.complain(read.error().message);
    }
    return std::move(reader.log);
}

Result<ExperimentReport> report_experiment(const ExperimentLog& log,
                                           const ExperimentOptions& options) {
    ExperimentReport report;
    BRAID_TRY(report.experiment, chosen_name(log, options));
    const ByKey a = by_key(log, report.experiment, "a");
    const ByKey b = by_key(log, report.experiment, "b");
    const auto a_sampled = sample_side(a, options, options.seed);
    const auto b_sampled = sample_side(b, options, options.seed + 1);
    if (a_sampled) report.a = side_report(a, *a_sampled, options.confidence);
    if (b_sampled) report.b = side_report(b, *b_sampled, options.confidence);
    if (a_sampled && b_sampled) {
        report.clicked_gain = gain_of(*a_sampled, *b_sampled, 0, options.confidence);
        report.reciprocal_gain = gain_of(*a_sampled, *b_sampled, 1, options.confidence);
    }
    report.interleaved = interleaving_report(by_key(log, report.experiment, "both"), options);
    report.lost_clicks = log.lost_clicks;
    return report;
}

Value to_value(const ExperimentReport& report) {
    Object out{{"experiment", Value(report.experiment)}, {"lost_clicks", report.lost_clicks}};
    if (report.a) out.set("a", side_value(*report.a));
    if (report.b) out.set("b", side_value(*report.b));
    if (report.clicked_gain) out.set("clicked_gain", mean_value(*report.clicked_gain));
    if (report.reciprocal_gain) {
        out.set("reciprocal_rank_gain", mean_value(*report.reciprocal_gain));
    }
    if (const auto& mixed = report.interleaved) {
        out.set("interleaved", Object{{"answers", mixed->answers},
                                      {"keys", mixed->keys},
                                      {"a_wins", mixed->a_wins},
                                      {"b_wins", mixed->b_wins},
                                      {"ties", mixed->ties},
                                      {"preference", mean_value(mixed->preference)},
                                      {"p_value", mixed->p_value}});
    }
    return out;
}

std::string to_text(const ExperimentReport& report) {
    std::string out = "experiment " + report.experiment + "\n";
    add_side("a", report.a, out);
    add_side("b", report.b, out);
    if (report.clicked_gain && report.reciprocal_gain) {
        const Interval& interval = report.reciprocal_gain->interval;
        const bool few = std::min(report.a->keys, report.b->keys) < kFewestKeys;
        out += "b minus a: clicked " + mean_text(*report.clicked_gain, true) +
               ", reciprocal rank " + mean_text(*report.reciprocal_gain, true) + "\n";
        out += few                 ? "Too few keys to decide: each side needs 20.\n"
               : interval.low > 0  ? "b is better.\n"
               : interval.high < 0 ? "a is better.\n"
                                   : "Not decided: the interval of the difference includes 0.\n";
    } else if (report.a || report.b) {
        out += "Only one side has answered so far.\n";
    }
    if (const auto& mixed = report.interleaved) {
        out += "interleaved   " + core::count_of(mixed->answers, "answer", "answers") + ", " +
               core::count_of(mixed->keys, "key", "keys") + ": a wins " +
               core::grouped(mixed->a_wins) + ", b wins " + core::grouped(mixed->b_wins) +
               ", ties " + core::grouped(mixed->ties) + "\n";
        out += "preference for b " + mean_text(mixed->preference, true) + ", p " +
               core::fixed(mixed->p_value, 3) + "\n";
        const bool decided = mixed->p_value < kSignificant;
        out += decided && mixed->preference.interval.low > 0    ? "b is better.\n"
               : decided && mixed->preference.interval.high < 0 ? "a is better.\n"
                                                                : "Not decided.\n";
    }
    if (report.lost_clicks > 0) {
        out += core::count_of(report.lost_clicks, "click", "clicks") +
               " on answers that are not in the log\n";
    }
    return out;
}

std::string clicks_of(const ExperimentLog& log) {
    std::string out;
    for (const ExperimentAnswer& answer : log.answers) {
        Array shown;
        Array clicked;
        std::unordered_set<std::string_view> seen;
        std::unordered_set<std::string_view> chosen;
        for (const std::size_t place : answer.clicks) chosen.insert(answer.documents[place]);
        for (const std::string& document : answer.documents) {
            if (!seen.insert(document).second) continue;
            shown.emplace_back(document);
            if (chosen.contains(document)) clicked.emplace_back(document);
        }
        out += json::print(Value(Object{{"query", Value(answer.query)},
                                        {"shown", std::move(shown)},
                                        {"clicked", std::move(clicked)}})) +
               "\n";
    }
    return out;
}

}  // namespace braid::eval
