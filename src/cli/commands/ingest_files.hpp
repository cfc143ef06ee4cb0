#pragma once

#include <string>
#include <vector>

#include "braid/ingest/directory.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

/// Whether a path is read as JSON lines, one chunk each: standard input and pipes, files named so,
/// and files whose first line is a whole JSON object, unless their names say otherwise. All else
/// are documents, to be cut into chunks.
bool is_lines(const std::string& path);

/// There must be something to read in the only path that was given. NotFound, InvalidArgument.
Result<> check_only_path(const std::string& path, const ingest::Listing& listing);

/// What became of the files that were not stored, in lines for people.
std::vector<std::string> file_lines(const ingest::DirectoryReport& report,
                                    const ingest::DirectoryOptions& options);

/// The same for programs: an entry for every file and folder that was seen.
Value files_to_value(const std::vector<ingest::FileOutcome>& files);

}  // namespace braid::cli
