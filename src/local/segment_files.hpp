#pragma once

#include <cstdint>
#include <string>

#include "braid/core/findings.hpp"
#include "braid/local/log_reading.hpp"
#include "braid/local/manifest.hpp"
#include "braid/result.hpp"
#include "braid/store/directory.hpp"
#include "braid/text/analyzer.hpp"
#include "braid/types.hpp"

namespace braid::local {

/// Checks every segment that a manifest names, and the file of their dead rows. Returns how many
/// rows are dead.
Result<std::uint64_t> check_segments(const store::Directory& files, const Manifest& manifest,
                                     const text::Analyzer& analyzer, core::Findings& findings,
                                     const CallLimits& limits);

/// Makes the reading of a collection's logs begin with what its segments hold: with all of it, or
/// with what the records ask for. The directory must outlive the reading.
Result<> begin_reading(const store::Directory& files, const Manifest& manifest,
                       const text::Analyzer& analyzer, bool all, LogReading& reading);

/// Unsupported if a newer braid wrote one of the files: they are whole, and what this one cannot
/// read of them must not pass for damage.
Result<> refuse_newer_files(const store::Directory& files, const Manifest& manifest);

/// Reads what can be read of damaged segments. What cannot be read goes into the findings.
Result<> salvage_segments(const store::Directory& files, const Manifest& manifest,
                          LogReading& reading, core::Findings& findings);

/// Copies a file of any size, durably.
Result<> copy_file(const store::Directory& from, const std::string& name, store::Directory& to);

}  // namespace braid::local
