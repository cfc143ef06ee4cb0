#pragma once

#include <string>
#include <string_view>

namespace braid::ingest {

struct DecodedText {
    std::string text;      // UTF-8, without a byte order mark
    std::string encoding;  // "UTF-8", "UTF-16LE", "windows-1252", "Shift_JIS", …
    bool exact = true;     // false: some bytes were no characters and became U+FFFD
};

/// Reads a text whatever its encoding: by its byte order mark, else as UTF-8 if it is that, else as
/// `declared` (what the file says of itself; empty: nothing), else as the encoding its bytes speak
/// for: UTF-16 without a mark, the older ones of Japan, China, Taiwan and Korea, Cyrillic, and
/// windows-1252 for all that is left.
DecodedText decode_text(std::string bytes, std::string_view declared = {});

}  // namespace braid::ingest
