#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "braid/value.hpp"

namespace braid::ingest {

/// What became of a file. Stored: it is new or changed. Skipped: braid is not meant to read it, or
/// it holds no text.
enum class FileState : std::uint8_t { Stored, Unchanged, Skipped, Failed };

/// "stored".
std::string_view file_state_name(FileState state);

struct FileOutcome {
    std::string path;  // a folder that is left out as a whole ends with '/'
    FileState state = FileState::Stored;
    std::string reason;       // why it was skipped or failed
    std::string document_id;  // if it was stored
    std::uint64_t chunks = 0;
    std::uint64_t failed_lines = 0;  // lines that could not be read, in a file that could
    std::string format;              // "markdown"; empty if it was not read
    std::string encoding;            // if it is a text
};

std::size_t count_of_state(const std::vector<FileOutcome>& outcomes, FileState state);

/// The reasons why files were skipped, with counts, the most frequent first: "12 hidden, 3
/// unsupported (.png), 1 empty". Empty if none were.
std::string skipped_by_reason(const std::vector<FileOutcome>& outcomes);

/// For programs: an entry for every file and folder seen.
Value files_to_value(const std::vector<FileOutcome>& files);

}  // namespace braid::ingest
