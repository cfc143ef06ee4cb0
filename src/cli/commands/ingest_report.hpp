#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "braid/ingest/directory.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

/// What one `ingest` did, for the report at its end.
struct IngestTotals {
    bool created = false;         // the collection
    std::uint64_t stored = 0;     // chunks
    std::uint64_t replaced = 0;   // of them
    std::uint64_t unchanged = 0;  // chunks of lines that were there
    std::uint64_t removed = 0;
    std::uint64_t failed_lines = 0;
    double seconds = 0;
    ingest::DirectoryReport texts;
    std::vector<std::string> warnings;  // the first ones
    std::uint64_t warning_count = 0;
};

/// For people: what was stored, how fast, where the time went, and what became of the other files.
std::vector<std::string> report_lines(const IngestTotals& totals, const std::string& collection,
                                      const ingest::DirectoryOptions& options);

/// The error of a run that could not read everything; none if it could.
Result<> failures_of(const IngestTotals& totals);
/// The error that ended a run, with what was stored before it.
Error with_count(Error error, const IngestTotals& totals);

/// For programs; lists every file.
Value report_value(const IngestTotals& totals, const std::string& collection,
                   const std::vector<std::string>& paths, const ingest::DirectoryOptions& options);

}  // namespace braid::cli
