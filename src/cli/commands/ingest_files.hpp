#pragma once

#include <string>
#include <vector>

#include "braid/cli/args/arguments.hpp"
#include "braid/ingest/directory.hpp"
#include "braid/result.hpp"

namespace braid::cli {

/// What the flags of `ingest` say about folders and documents.
Result<ingest::DirectoryOptions> directory_options(const Arguments& arguments);

/// Whether a path is read as JSON lines, one chunk each: standard input and pipes, files named
/// accordingly, and files whose first line is a whole JSON object, unless their names say
/// otherwise. Everything else is a document, to be cut into chunks.
bool is_lines(const std::string& path);

/// If only one path is given, it must contain something to read. NotFound, InvalidArgument.
Result<> check_only_path(const std::string& path, const ingest::Listing& listing);

/// All of standard input. InvalidArgument if it is longer than a file may be.
Result<std::string> read_piped(const ingest::DirectoryOptions& options);

/// Which files there are, with their sizes and times, as one text for comparison.
std::string state_of(const std::vector<std::string>& paths, const ingest::WalkOptions& walk);

/// Looks every second until the state differs from `before`, and then updates it. False if told to
/// stop.
bool wait_for_change(const std::vector<std::string>& paths, const ingest::DirectoryOptions& options,
                     std::string& before);

/// What became of the files that were not stored, in lines for people.
std::vector<std::string> file_lines(const ingest::DirectoryReport& report,
                                    const ingest::DirectoryOptions& options);

}  // namespace braid::cli
