#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

class ByteBudget;

inline constexpr std::string_view kDefaultCollection = "default";
inline constexpr std::string_view kDefaultNamespace = "default";
/// The average share of the exact hits that dense search aims for by default.
inline constexpr double kUsualRecall = 0.98;

/// Microseconds since 1970-01-01T00:00:00Z; written as RFC 3339.
struct Timestamp {
    std::int64_t micros = 0;

    friend auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

/// Changes with every write to a chunk and never repeats; versions have no order. 0 means "does not
/// exist". At most 2^53 - 1, which JSON can carry.
using Version = std::uint64_t;

enum class Strategy { Dense, Sparse, Hybrid, MultiHop };
enum class FusionMethod { Rrf, WeightedSum, Dbsf, Auto };
/// How the hits of several collections compare: by their ranks within each collection, or by their
/// scores, as if all chunks were in one.
enum class Across { Ranks, Scores };

/// How dense scores compare vectors. Higher is better in each: Euclidean enters as -distance.
enum class Metric { Cosine, Dot, Euclidean };

/// How a stored vector holds its numbers. A vector is rounded once, when it is written: what is
/// stored is what is compared.
enum class Precision : std::uint8_t { F32 = 0, F16 = 1, Int8 = 2 };

/// "dense", "sparse", "hybrid", "multi_hop"; the inverse also takes "semantic" and "keyword".
std::string_view name_of(Strategy strategy) noexcept;
std::optional<Strategy> strategy_by_name(std::string_view name) noexcept;
/// "rrf", "weighted_sum", "dbsf", "auto".
std::string_view name_of(FusionMethod method) noexcept;
std::optional<FusionMethod> fusion_by_name(std::string_view name) noexcept;
/// "ranks", "scores".
std::string_view name_of(Across across) noexcept;
std::optional<Across> across_by_name(std::string_view name) noexcept;
/// "cosine", "dot", "euclidean".
std::string_view name_of(Metric metric) noexcept;
std::optional<Metric> metric_by_name(std::string_view name) noexcept;
/// "f32", "f16", "int8".
std::string_view name_of(Precision precision) noexcept;
std::optional<Precision> precision_by_name(std::string_view name) noexcept;

/// Who a call is made for.
struct Principal {
    std::string name{};  // for logs and audit; grants nothing
    /// Sees chunks up to this level; nullopt sees all levels and all scopes (no principals
    /// configured).
    std::optional<std::string> clearance{};
    std::vector<std::string> scopes{};

    bool sees_everything() const noexcept { return !clearance.has_value(); }
    friend bool operator==(const Principal&, const Principal&) = default;
};

/// The access levels, lowest first. A chunk without `sensitivity` has `default_level`.
struct AccessLevels {
    std::vector<std::string> names{"public", "normal", "sensitive", "restricted"};
    std::string default_level = "normal";

    friend bool operator==(const AccessLevels&, const AccessLevels&) = default;
};

/// When to give up: a point in time, or a request to stop. Loops check it every few thousand steps.
struct CallLimits {
    std::optional<std::chrono::steady_clock::time_point> deadline{};
    std::stop_token stop{};
    std::string traceparent = {};  // W3C trace context; goes with calls to other servers
    std::string realm = {};        // caches are not shared between realms
    bool interactive = false;      // a person is waiting: calls to other servers are not retried
    /// Counts the bytes copied for the answer, which fails beyond its limit; none: no limit.
    std::shared_ptr<ByteBudget> bytes = {};
    /// Also checked, from any thread at work; true stops the call. Must be cheap and not throw.
    std::function<bool()> gone = {};

    bool stopped() const { return stop.stop_requested() || (gone && gone()); }
    bool expired() const noexcept {
        return deadline && std::chrono::steady_clock::now() >= *deadline;
    }
};

/// The library never prints: it passes events to this callback, if set.
struct LogEvent {
    enum class Level { Debug, Info, Warning, Error };
    Level level = Level::Info;
    std::string_view name;     // stable: "leg_failed", "log_tail_cut"
    std::string_view message;  // for people
};
using LogSink = std::function<void(const LogEvent&)>;

}  // namespace braid
