#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "braid/core/rfc3339.hpp"
#include "braid/retrieval/builtin_stages.hpp"
#include "braid/text/unit_reader.hpp"

namespace braid::retrieval {
namespace {

using Kind = StageEffect::Kind;
using Op = Filter::Op;

constexpr double kMicrosPerDay = 86'400e6;
constexpr double kMostDays = 100'000;
constexpr double kLeastFactor =
    1e-9;  // a score must not vanish: what is divided by it must stay finite
constexpr double kMostFactor = 1e9;

/// The score times a factor; a negative one is divided, so that more than 1 always raises it.
StageEffect scaled(double score, double factor, Object detail = {}) {
    return {score < 0 ? Kind::Divide : Kind::Multiply, factor, std::move(detail), false};
}

std::optional<Timestamp> date_of(const Chunk& chunk) {
    if (chunk.created_at) return chunk.created_at;
    const Value* const text = chunk.metadata.find("created_at");
    if (text == nullptr || !text->is_string()) return std::nullopt;
    const auto date = core::parse_rfc3339(text->as_string());
    return date ? std::optional(*date) : std::nullopt;
}

/// Case folded, without what cannot be seen.
std::string folded(std::string_view text) {
    std::string out;
    text::UnitReader reader(text, false);
    for (reader.seek(0); !reader.at_end(); reader.advance()) out += reader.unit().text;
    return out;
}

/// Chunks without a date are left out unless they are to be kept.
class FilterByRecency final : public Stage {
public:
    FilterByRecency(double days, bool keep_undated) : days_(days), keep_undated_(keep_undated) {}

    Result<std::vector<StageEffect>> run(const StageInput& input) override {
        return std::vector<StageEffect>(input.hits.size());
    }

    std::optional<Filter> leg_filter(Timestamp now) const override {
        const Timestamp since{now.micros - static_cast<std::int64_t>(days_ * kMicrosPerDay)};
        const std::string limit = core::print_rfc3339(since);
        const Filter no_field = Filter::compare(Op::Exists, "created_at", false);
        std::vector<Filter> ways{
            Filter::compare(Op::Gt, "created_at", limit),
            Filter::all_of({no_field, Filter::compare(Op::Gt, "metadata.created_at", limit)})};
        if (keep_undated_) {
            ways.push_back(Filter::all_of(
                {no_field, Filter::compare(Op::Exists, "metadata.created_at", false)}));
        }
        return Filter{Op::Or, {}, {}, std::move(ways)};
    }

private:
    double days_;
    bool keep_undated_;
};

class BoostSectionMatches final : public Stage {
public:
    BoostSectionMatches(const std::vector<std::string>& sections, double factor) : factor_(factor) {
        sections_.reserve(sections.size());
        for (const std::string& section : sections) sections_.push_back(folded(section));
    }

    Result<std::vector<StageEffect>> run(const StageInput& input) override {
        std::vector<StageEffect> effects(input.hits.size());
        for (std::size_t i = 0; i < effects.size(); ++i) {
            const StageHit& hit = input.hits[i];
            if (hit.score > 0 && is_priority(hit.chunk)) {
                effects[i] = {Kind::Multiply, factor_, {}, false};
            }
        }
        return effects;
    }

private:
    bool is_priority(const Chunk& chunk) const {
        constexpr std::string_view joint = " > ";  // between the headings above a chunk
        if (!chunk.section_title) return false;
        std::string_view heading = *chunk.section_title;
        if (const auto last = heading.rfind(joint); last != std::string_view::npos) {
            heading.remove_prefix(last + joint.size());
        }
        return std::ranges::find(sections_, folded(heading)) != sections_.end();
    }

    std::vector<std::string> sections_;
    double factor_;
};

/// Halves the score for every half-life of age beyond the offset. Undated chunks stay as they are.
class DecayByAge final : public Stage {
public:
    DecayByAge(double half_life_days, double offset_days, double floor)
        : half_life_days_(half_life_days), offset_days_(offset_days), floor_(floor) {}

    Result<std::vector<StageEffect>> run(const StageInput& input) override {
        std::vector<StageEffect> effects(input.hits.size());
        for (std::size_t i = 0; i < effects.size(); ++i) {
            const auto date = date_of(input.hits[i].chunk);
            if (!date) continue;
            const double age =
                (static_cast<double>(input.now.micros) - static_cast<double>(date->micros)) /
                kMicrosPerDay;
            const double over = std::max(0.0, age - offset_days_);
            const double factor =
                std::max({std::exp2(-over / half_life_days_), floor_, kLeastFactor});
            effects[i] = scaled(input.hits[i].score, factor,
                                {{"age_days", age},
                                 {"half_life_days", half_life_days_},
                                 {"offset_days", offset_days_},
                                 {"floor", floor_}});
        }
        return effects;
    }

private:
    double half_life_days_;
    double offset_days_;
    double floor_;
};

class BoostFields final : public Stage {
public:
    BoostFields(Filter filter, double factor) : filter_(std::move(filter)), factor_(factor) {}

    Result<std::vector<StageEffect>> run(const StageInput& input) override {
        std::vector<StageEffect> effects(input.hits.size());
        for (std::size_t i = 0; i < effects.size(); ++i) {
            if (input.hits[i].matches) effects[i] = scaled(input.hits[i].score, factor_);
        }
        return effects;
    }
    const Filter* filter() const override { return &filter_; }

private:
    Filter filter_;
    double factor_;
};

}  // namespace

Result<std::unique_ptr<Stage>> make_filter_by_recency(Parameters& parameters) {
    BRAID_TRY(const double days, parameters.number("days", 30, 0, kMostDays));
    BRAID_TRY(const bool keep_undated, parameters.boolean("keep_undated", false));
    return std::make_unique<FilterByRecency>(days, keep_undated);
}

Result<std::unique_ptr<Stage>> make_boost_section_matches(Parameters& parameters) {
    BRAID_TRY(const auto sections,
              parameters.strings("sections", {"overview", "summary", "introduction"}));
    BRAID_TRY(const double factor, parameters.number("factor", 1.2, kLeastFactor, kMostFactor));
    return std::make_unique<BoostSectionMatches>(sections, factor);
}

Result<std::unique_ptr<Stage>> make_decay_by_age(Parameters& parameters) {
    BRAID_TRY(const double half_life,
              parameters.number("half_life_days", 30, kLeastFactor, kMostDays));
    BRAID_TRY(const double offset, parameters.number("offset_days", 0, 0, kMostDays));
    BRAID_TRY(const double floor, parameters.number("floor", 0, 0, 1));
    return std::make_unique<DecayByAge>(half_life, offset, floor);
}

Result<std::unique_ptr<Stage>> make_boost_fields(Parameters& parameters) {
    BRAID_TRY(const double factor, parameters.number("factor", 1.2, kLeastFactor, kMostFactor));
    const Value* const json = parameters.any("filter");
    if (json == nullptr || !json->is_object()) {
        return parameters.complaint("filter", "a filter such as {\"category\": \"guide\"}");
    }
    auto filter = parse_filter(*json);
    if (!filter) return fail("the stage \"boost_fields\"", std::move(filter).error());
    return std::make_unique<BoostFields>(*std::move(filter), factor);
}

}  // namespace braid::retrieval
