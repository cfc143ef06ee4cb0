#include "braid/core/rfc3339.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>

namespace braid::core {
namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kMinutesPerDay = 1440;
constexpr std::int64_t kSecondsPerDay = kMinutesPerDay * 60;

tl::unexpected<Error> bad(std::string_view text, std::string_view why) {
    static constexpr std::size_t kShown = 64;
    std::string message = "'" + std::string(text.substr(0, kShown));
    if (text.size() > kShown) message += "...";
    message += "' is not an RFC 3339 timestamp: ";
    message += why;
    return invalid_argument(std::move(message));
}

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Takes fields off the front of a timestamp. After a field that is not there, ok() is false.
class Fields {
public:
    explicit Fields(std::string_view text) noexcept : rest_(text) {}

    /// Exactly `digits` digits.
    int number(std::size_t digits) noexcept {
        if (rest_.size() < digits) return missing();
        int value = 0;
        for (std::size_t i = 0; i < digits; ++i) {
            if (!is_digit(rest_[i])) return missing();
            value = value * 10 + (rest_[i] - '0');
        }
        rest_.remove_prefix(digits);
        return value;
    }

    /// One of the characters of `any`; '\0' if the next is none of them.
    char one_of(std::string_view any) noexcept {
        if (rest_.empty() || any.find(rest_.front()) == std::string_view::npos) {
            missing();
            return '\0';
        }
        const char taken = rest_.front();
        rest_.remove_prefix(1);
        return taken;
    }

    /// The fraction of a second in microseconds, more digits cut; 0 if none is written.
    std::int64_t fraction() noexcept {
        if (rest_.empty() || rest_.front() != '.') return 0;
        rest_.remove_prefix(1);
        if (rest_.empty() || !is_digit(rest_.front())) return missing();
        std::int64_t micros = 0;
        std::int64_t unit = kMicrosPerSecond;
        while (!rest_.empty() && is_digit(rest_.front())) {
            unit /= 10;
            micros += unit * (rest_.front() - '0');
            rest_.remove_prefix(1);
        }
        return micros;
    }

    bool ok() const noexcept { return ok_; }
    bool at_end() const noexcept { return rest_.empty(); }

private:
    int missing() noexcept {
        ok_ = false;
        return 0;
    }

    std::string_view rest_;
    bool ok_ = true;
};

struct TimeOfDay {
    int minutes = 0;
    int second = 0;  // 60 in a leap second
    std::int64_t micros = 0;
};

// Each reads one piece off `fields` into `out` and returns why it could not, or "".

/// Midnight of the date, in minutes since 1970.
std::string_view read_date(Fields& fields, std::int64_t& out) noexcept {
    const int year = fields.number(4);
    fields.one_of("-");
    const int month = fields.number(2);
    fields.one_of("-");
    const int day = fields.number(2);
    if (!fields.ok()) return "it does not start with a date like 2025-12-25";
    if (month < 1 || month > 12) return "the month is not 01 to 12";
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return "the month does not have this day";
    out = std::int64_t{std::chrono::sys_days(date).time_since_epoch().count()} * kMinutesPerDay;
    return {};
}

std::string_view read_time(Fields& fields, TimeOfDay& out) noexcept {
    fields.one_of("Tt ");
    const int hour = fields.number(2);
    fields.one_of(":");
    const int minute = fields.number(2);
    fields.one_of(":");
    const int second = fields.number(2);
    const std::int64_t micros = fields.fraction();
    if (!fields.ok()) return "no time like T10:00:00 follows the date";
    if (hour > 23) return "the hour is not 00 to 23";
    if (minute > 59) return "the minute is not 00 to 59";
    if (second > 60) return "the second is not 00 to 59";
    out = {hour * 60 + minute, second, micros};
    return {};
}

std::string_view read_offset(Fields& fields, int& minutes_east) noexcept {
    const char sign = fields.one_of("Zz+-");
    if (!fields.ok()) return "no offset follows the time: end it with Z or +hh:mm";
    if (sign == 'Z' || sign == 'z') {
        minutes_east = 0;
        return {};
    }
    const int hours = fields.number(2);
    fields.one_of(":");
    const int minutes = fields.number(2);
    if (!fields.ok() || hours > 23 || minutes > 59) return "the offset is not like +01:00";
    minutes_east = (hours * 60 + minutes) * (sign == '+' ? 1 : -1);
    return {};
}

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
    return a / b - (a % b < 0 ? 1 : 0);
}

}  // namespace

Result<Timestamp> parse_rfc3339(std::string_view text) {
    Fields fields(text);
    std::int64_t midnight = 0;
    if (const auto why = read_date(fields, midnight); !why.empty()) return bad(text, why);
    if (fields.at_end()) return Timestamp{midnight * 60 * kMicrosPerSecond};

    TimeOfDay time;
    int minutes_east = 0;
    if (const auto why = read_time(fields, time); !why.empty()) return bad(text, why);
    if (const auto why = read_offset(fields, minutes_east); !why.empty()) return bad(text, why);
    if (!fields.at_end()) return bad(text, "something follows the offset");

    const std::int64_t minutes = midnight + time.minutes - minutes_east;
    if (time.second == 60) {
        const std::int64_t next = minutes + 1;
        if (floor_div(next, kMinutesPerDay) * kMinutesPerDay != next) {
            return bad(text, "second 60 exists only as 23:59:60 UTC");
        }
        return Timestamp{next * 60 * kMicrosPerSecond - 1};
    }
    return Timestamp{(minutes * 60 + time.second) * kMicrosPerSecond + time.micros};
}

std::string print_rfc3339(Timestamp time) {
    const std::int64_t seconds = floor_div(time.micros, kMicrosPerSecond);
    // Not micros - seconds * 10^6, which overflows for the smallest timestamps.
    const std::int64_t rest = time.micros % kMicrosPerSecond;
    const std::int64_t micros = rest < 0 ? rest + kMicrosPerSecond : rest;
    const std::int64_t day_number = floor_div(seconds, kSecondsPerDay);
    const auto of_day = static_cast<int>(seconds - day_number * kSecondsPerDay);

    // The calendar repeats every 400 years (146,097 days). Dates are looked up in 1970 to 2369 and
    // moved by whole cycles, because std::chrono::year ends at 32767 and a Timestamp does not.
    static constexpr std::int64_t kCycleDays = 146'097;
    static constexpr std::int64_t kCycleYears = 400;
    const std::int64_t cycle = floor_div(day_number, kCycleDays);
    const std::chrono::year_month_day date{std::chrono::sys_days(
        std::chrono::days(static_cast<int>(day_number - cycle * kCycleDays)))};
    const std::int64_t year = static_cast<int>(date.year()) + cycle * kCycleYears;

    std::array<char, 64> text{};
    const bool writable = year >= 0 && year <= 9999;
    const int length = std::snprintf(
        text.data(), text.size(),
        writable ? "%04lld-%02u-%02uT%02d:%02d:%02d" : "%+07lld-%02u-%02uT%02d:%02d:%02d",
        static_cast<long long>(year), static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day()), of_day / 3600, of_day / 60 % 60, of_day % 60);
    std::string printed(text.data(), static_cast<std::size_t>(length));
    if (micros != 0) {
        std::string digits = std::to_string(micros);
        digits.insert(0, 6 - digits.size(), '0');
        digits.erase(digits.find_last_not_of('0') + 1);
        printed += "." + digits;
    }
    printed += 'Z';
    return printed;
}

}  // namespace braid::core
