#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "braid/collection.hpp"

namespace braid::core {

/// Collects what a check finds about one thing, "collection \"notes\"", and says which thing it is.
/// After a hundred problems it only counts: damage to one file may show everywhere in it.
class Findings {
public:
    /// The report must outlive it.
    Findings(std::string what, CheckReport& report) : what_(std::move(what)), report_(report) {}
    Findings(const Findings&) = delete;
    Findings& operator=(const Findings&) = delete;
    Findings(Findings&&) = delete;
    Findings& operator=(Findings&&) = delete;
    ~Findings() {
        if (problems_ <= kMaxListed) return;
        add(report_.problems, "and " + std::to_string(problems_ - kMaxListed) + " more problems");
    }

    void problem(const std::string& message) {
        if (++problems_ <= kMaxListed) add(report_.problems, message);
    }
    void unfinished(const std::string& message) { add(report_.unfinished, message); }
    void note(const std::string& message) { add(report_.notes, message); }

    /// Restores the state in which the report was `before`.
    void take_back(CheckReport before) {
        report_ = std::move(before);
        problems_ = 0;
    }

    std::uint64_t problems() const noexcept { return problems_; }
    CheckReport& report() noexcept { return report_; }

private:
    static constexpr std::uint64_t kMaxListed = 100;

    void add(std::vector<std::string>& lines, const std::string& message) const {
        lines.push_back(what_ + ": " + message);
    }

    std::string what_;
    CheckReport& report_;
    std::uint64_t problems_ = 0;
};

}  // namespace braid::core
