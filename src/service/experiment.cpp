#include "braid/service/experiment.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "braid/core/clock.hpp"
#include "braid/core/rfc3339.hpp"
#include "braid/core/sha256.hpp"
#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/request_json.hpp"

namespace braid::service {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::size_t kKeyLetters = 16;  // of a key's hash, in the log

std::uint64_t number_of(std::string_view hex) {
    std::uint64_t number = 0;
    for (const char digit : hex) number = number * 16 + kHexDigits.find(digit);
    return number;
}

/// From 0 up to 1, the same for the same text.
double share_of(std::string_view text) {
    constexpr std::size_t kDigits = 13;
    return static_cast<double>(number_of(core::sha256_hex(text).substr(0, kDigits))) /
           static_cast<double>(std::uint64_t{1} << (4 * kDigits));
}

Result<Request> changed(const Request& request, const Object& side,
                        const core::Vocabulary& vocabulary) {
    Value json = wire::request_to_value(request);
    for (const auto& [key, value] : side) json.as_object().set(key, value);
    return wire::request_from_value(json, vocabulary);
}

Result<Object> read_side(json::Fields& fields, std::string_view key,
                         const core::Vocabulary& vocabulary) {
    BRAID_TRY(const Object* const given, fields.object(key));
    if (given == nullptr) return Object{};
    for (const std::string_view own : {"query", "query_embedding", "cursor"}) {
        if (given->find(own) != nullptr) {
            return invalid_argument("\"" + std::string(key) + "\" may not have \"" +
                                    std::string(own) + "\": it comes with the request");
        }
    }
    Request any;
    any.query = "-";
    if (const auto tried = changed(any, *given, vocabulary); !tried) {
        return invalid_argument("\"" + std::string(key) + "\": " + tried.error().message);
    }
    return *given;
}

Array ids_of(const std::vector<Hit>& hits, bool documents) {
    Array out;
    for (const Hit& hit : hits) {
        const std::string& document = hit.chunk.document_id;
        out.emplace_back(documents && !document.empty() ? document : hit.chunk.chunk_id);
    }
    return out;
}

}  // namespace

Result<ExperimentPlan> read_experiment(std::string_view json, const core::Vocabulary& vocabulary) {
    BRAID_TRY(const Value value, json::parse(json));
    BRAID_TRY(json::Fields fields, json::Fields::of(value));
    ExperimentPlan plan;
    BRAID_TRY(plan.name, fields.required("name", fields.string("name")));
    if (plan.name.empty()) return invalid_argument("\"name\" is empty");
    BRAID_TRY(plan.a, read_side(fields, "a", vocabulary));
    BRAID_TRY(plan.b, read_side(fields, "b", vocabulary));
    BRAID_TRY(const auto method, fields.choice("method", {"split", "interleave"}));
    plan.interleave = method == "interleave";
    BRAID_TRY(const auto share, fields.number("share"));
    plan.share = share.value_or(plan.share);
    BRAID_CHECK(fields.finish());
    if (!(plan.share > 0 && plan.share < 1)) {
        return invalid_argument("\"share\" must be above 0 and below 1");
    }
    if (plan.a == plan.b) return invalid_argument("\"a\" and \"b\" are the same");
    return plan;
}

Interleaved interleave(const std::vector<Hit>& a, const std::vector<Hit>& b, std::size_t most,
                       std::uint64_t seed) {
    Interleaved out;
    std::set<std::pair<std::string_view, std::string_view>> taken;
    std::mt19937_64 coin(seed);
    std::size_t at_a = 0;
    std::size_t at_b = 0;
    const auto pick = [&](const std::vector<Hit>& from, std::size_t& at, const char* team) {
        while (at < from.size() && out.hits.size() < most) {
            const Hit& hit = from[at++];
            if (!taken.emplace(hit.collection, hit.chunk.chunk_id).second) continue;
            out.hits.push_back(hit);
            out.hits.back().rank = out.hits.size();
            out.teams.emplace_back(team);
            return;
        }
    };
    while (out.hits.size() < most && (at_a < a.size() || at_b < b.size())) {
        const bool a_first = (coin() & 1U) == 0;
        if (a_first) pick(a, at_a, "a");
        pick(b, at_b, "b");
        if (!a_first) pick(a, at_a, "a");
    }
    return out;
}

Experiment::Experiment(ExperimentPlan plan, LineSink log)
    : plan_(std::move(plan)), log_(std::move(log)), ids_(std::random_device{}()) {}

std::string Experiment::side_of(std::string_view key) const {
    if (plan_.interleave) return "both";
    return share_of(plan_.name + '\n' + std::string(key)) < plan_.share ? "b" : "a";
}

std::string Experiment::new_id() {
    const std::scoped_lock lock(mutex_);
    std::string id;
    for (std::uint64_t bits = ids_(); id.size() < 16; bits >>= 4U) id += kHexDigits[bits & 15U];
    return id;
}

Result<Answer> Experiment::side_answer(const Object& side, const Request& request,
                                       const core::Vocabulary& vocabulary,
                                       const Search& search) const {
    BRAID_TRY(const Request own, changed(request, side, vocabulary));
    return search(own);
}

Result<Answer> Experiment::mixed_answer(const Request& request, const std::string& id,
                                        const core::Vocabulary& vocabulary, const Search& search,
                                        std::vector<std::string>& teams) const {
    BRAID_TRY(Answer answer, side_answer(plan_.a, request, vocabulary, search));
    BRAID_TRY(const Answer other, side_answer(plan_.b, request, vocabulary, search));
    const std::size_t most = std::max(answer.hits.size(), other.hits.size());
    Interleaved mixed = interleave(answer.hits, other.hits, most, number_of(id));
    answer.hits = std::move(mixed.hits);
    teams = std::move(mixed.teams);
    answer.complete = answer.complete && other.complete;
    answer.cursor.reset();  // of one side
    return answer;
}

Result<Answer> Experiment::answer(const Request& request, const std::string& key,
                                  const core::Vocabulary& vocabulary, const Search& search) {
    if (!request.cursor.empty()) return search(request);
    const std::string id = new_id();
    const std::string side = side_of(key.empty() ? id : key);
    std::vector<std::string> teams;
    auto answer = side == "both"
                      ? mixed_answer(request, id, vocabulary, search, teams)
                      : side_answer(side == "a" ? plan_.a : plan_.b, request, vocabulary, search);
    if (!answer) {
        auto plain = search(request);
        if (plain) {
            plain->warnings.push_back(
                "the experiment \"" + plan_.name +
                "\" did not take part in this answer: " + answer.error().message);
        }
        return plain;
    }
    answer->experiment = ExperimentSide{plan_.name, side, id};
    log_answer(*answer, key, teams);
    return answer;
}

void Experiment::log_answer(const Answer& answer, std::string_view key,
                            const std::vector<std::string>& teams) {
    const ExperimentSide& side = *answer.experiment;
    Object line{
        {"time", Value(core::print_rfc3339(core::system_now()))},
        {"event", "answer"},
        {"experiment", Value(side.experiment)},
        {"id", Value(side.id)},
        {"key", Value(key.empty() ? std::string() : core::sha256_hex(key).substr(0, kKeyLetters))},
        {"side", Value(side.side)},
        {"query", Value(answer.query)},
        {"documents", ids_of(answer.hits, true)},
        {"chunks", ids_of(answer.hits, false)},
        {"ms", answer.timings.total_ms}};
    if (!teams.empty()) {
        Array list;
        for (const std::string& team : teams) list.emplace_back(team);
        line.set("teams", std::move(list));
    }
    std::vector<std::string> chunks;
    for (const Hit& hit : answer.hits) chunks.push_back(hit.chunk.chunk_id);
    {
        const std::scoped_lock lock(mutex_);
        shown_[side.id] = std::move(chunks);
        if (recent_.size() < kRemembered) {
            recent_.push_back(side.id);
        } else {
            shown_.erase(std::exchange(recent_[oldest_], side.id));
            oldest_ = (oldest_ + 1) % kRemembered;
        }
    }
    if (log_) log_(json::print(Value(std::move(line))));
}

Result<> Experiment::clicked(const std::string& id, const std::string& chunk_id) {
    std::size_t rank = 0;
    {
        const std::scoped_lock lock(mutex_);
        const auto found = shown_.find(id);
        if (found == shown_.end()) {
            return fail(ErrorCode::NotFound, "no recent answer has the id \"" + id + "\"");
        }
        const auto place = std::ranges::find(found->second, chunk_id);
        if (place == found->second.end()) {
            return fail(ErrorCode::NotFound, "that answer did not show \"" + chunk_id + "\"");
        }
        rank = static_cast<std::size_t>(place - found->second.begin()) + 1;
    }
    if (log_) {
        log_(json::print(Value(Object{{"time", Value(core::print_rfc3339(core::system_now()))},
                                      {"event", "click"},
                                      {"experiment", Value(plan_.name)},
                                      {"id", Value(id)},
                                      {"chunk", Value(chunk_id)},
                                      {"rank", rank}})));
    }
    return {};
}

}  // namespace braid::service
