#include "braid/server/http/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "braid/core/resident_memory.hpp"
#include "braid/json/json.hpp"

namespace braid::server {
namespace {

constexpr std::array<std::pair<std::string_view, double Timings::*>, 8> kStages{{
    {"preprocess", &Timings::preprocess_ms},
    {"load", &Timings::load_ms},
    {"embed", &Timings::embed_ms},
    {"dense", &Timings::dense_ms},
    {"sparse", &Timings::sparse_ms},
    {"fusion", &Timings::fusion_ms},
    {"hydrate", &Timings::hydrate_ms},
    {"total", &Timings::total_ms},
}};

void append_number(std::string& out, double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15) {
        out += std::to_string(static_cast<std::int64_t>(value));
    } else {
        json::print_to(out, Value(value));
    }
}

void sample(std::string& out, std::string_view name, std::string_view labels, double value) {
    out += name;
    if (!labels.empty()) ((out += '{') += labels) += '}';
    out += ' ';
    append_number(out, value);
    out += '\n';
}

std::string label(std::string_view name, std::string_view value) {
    return std::string(name) + "=\"" + label_value(value) + "\"";
}

}  // namespace

std::string label_value(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '\\' || c == '"') out += '\\';
        out += c;
    }
    return out;
}

void write_header(std::string& out, std::string_view name, std::string_view type,
                  std::string_view help) {
    (((out += "# HELP ") += name) += ' ') += help;
    (((out += "\n# TYPE ") += name) += ' ') += type;
    out += '\n';
}

void write_metric(std::string& out, std::string_view name, std::string_view type,
                  std::string_view help, double value) {
    write_header(out, name, type, help);
    sample(out, name, "", value);
}

void Histogram::observe(double seconds) noexcept {
    const auto* const bound = std::ranges::lower_bound(kBounds, seconds);
    ++counts_[static_cast<std::size_t>(bound - kBounds.begin())];
    nanoseconds_ += static_cast<std::uint64_t>(std::max(seconds, 0.0) * 1e9);
}

void Histogram::write(std::string& out, std::string_view name, std::string_view labels) const {
    const std::string buckets = std::string(name) + "_bucket";
    const std::string before = labels.empty() ? "" : std::string(labels) + ",";
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        sum += counts_[i];
        std::string bound = "+Inf";
        if (i < kBounds.size()) {
            bound.clear();
            append_number(bound, kBounds[i]);
        }
        sample(out, buckets, before + label("le", bound), static_cast<double>(sum));
    }
    sample(out, std::string(name) + "_sum", labels, static_cast<double>(nanoseconds_) / 1e9);
    sample(out, std::string(name) + "_count", labels, static_cast<double>(sum));
}

Metrics::Metrics(std::span<const std::string_view> routes) {
    for (const std::string_view route : routes) routes_.try_emplace(std::string(route));
    routes_.try_emplace("none");
}

void Metrics::request(std::string_view route, int status, std::chrono::nanoseconds took) {
    auto found = routes_.find(route);
    if (found == routes_.end()) found = routes_.find("none");
    found->second.duration.observe(std::chrono::duration<double>(took).count());
    const std::lock_guard lock(mutex_);
    ++found->second.statuses[status];
}

void Metrics::stages(const Timings& timings) {
    for (std::size_t i = 0; i < kStages.size(); ++i) {
        const double ms = timings.*kStages[i].second;
        if (ms > 0) stages_[i].observe(ms / 1000);
    }
}

void Metrics::answered(const Answer& answer) {
    stages(answer.timings);
    ++(answer.complete ? complete_ : incomplete_);
    if (answer.query_embedding_cached) {
        ++(*answer.query_embedding_cached ? embedding_hits_ : embedding_misses_);
    }
    chunks_returned_ += answer.hits.size();
    candidates_ += answer.total_candidates;
}

void Metrics::packed(const Context& context) {
    stages(context.timings);
    ++(context.complete ? complete_ : incomplete_);
}

void Metrics::refused(std::string_view code) {
    const std::lock_guard lock(mutex_);
    const auto found = refused_.find(code);
    if (found != refused_.end()) {
        ++found->second;
    } else {
        refused_.emplace(std::string(code), 1);
    }
}

void Metrics::write(std::string& out) const {
    const std::lock_guard lock(mutex_);
    write_header(out, "braid_http_requests_total", "counter", "Requests, by route and status.");
    for (const auto& [route, counted] : routes_) {
        for (const auto& [status, count] : counted.statuses) {
            sample(out, "braid_http_requests_total",
                   label("route", route) + "," + label("status", std::to_string(status)),
                   static_cast<double>(count));
        }
    }
    write_header(out, "braid_http_request_duration_seconds", "histogram",
                 "Time from the whole request to the answer.");
    for (const auto& [route, counted] : routes_) {
        if (counted.statuses.empty()) continue;
        counted.duration.write(out, "braid_http_request_duration_seconds", label("route", route));
    }
    write_header(out, "braid_http_refused_total", "counter", "Requests refused, by error code.");
    for (const auto& [code, count] : refused_) {
        sample(out, "braid_http_refused_total", label("code", code), static_cast<double>(count));
    }
    write_metric(out, "braid_http_requests_running", "gauge", "Requests running.",
                 static_cast<double>(running_));
    write_header(out, "braid_stage_duration_seconds", "histogram",
                 "Time of one stage of a search.");
    for (std::size_t i = 0; i < kStages.size(); ++i) {
        stages_[i].write(out, "braid_stage_duration_seconds", label("stage", kStages[i].first));
    }
    write_header(out, "braid_answers_total", "counter", "Answers, by whether every leg ran.");
    sample(out, "braid_answers_total", R"(complete="true")", static_cast<double>(complete_));
    sample(out, "braid_answers_total", R"(complete="false")", static_cast<double>(incomplete_));
    write_header(out, "braid_query_embeddings_total", "counter",
                 "Query vectors, by whether they were cached.");
    sample(out, "braid_query_embeddings_total", R"(cache="hit")",
           static_cast<double>(embedding_hits_));
    sample(out, "braid_query_embeddings_total", R"(cache="miss")",
           static_cast<double>(embedding_misses_));
    write_metric(out, "braid_candidates_total", "counter", "Candidates handed to fusion.",
                 static_cast<double>(candidates_));
    write_metric(out, "braid_chunks_returned_total", "counter", "Chunks in answers.",
                 static_cast<double>(chunks_returned_));
}

void write_process_metrics(std::string& out) {
    if (const std::uint64_t resident = core::resident_bytes(); resident > 0) {
        write_metric(out, "process_resident_memory_bytes", "gauge", "Resident memory.",
                     static_cast<double>(resident));
    }
    timespec used{};
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0) {
        write_metric(out, "process_cpu_seconds_total", "counter", "Processor time used.",
                     static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9);
    }
    std::error_code error;
    std::size_t open = 0;
    for (auto entry = std::filesystem::directory_iterator("/proc/self/fd", error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        ++open;
    }
    if (!error) {
        write_metric(out, "process_open_fds", "gauge", "Open file descriptors.",
                     static_cast<double>(open));
    }
}

}  // namespace braid::server
