#pragma once

#include <string>
#include <string_view>

namespace braid::ingest {

struct DecodedText {
    std::string text;      // UTF-8, without a byte order mark
    std::string encoding;  // "UTF-8", "UTF-16LE", "windows-1252", "Shift_JIS", …
    bool exact = true;     // false: some bytes were not characters and became U+FFFD
};

/// Reads a text whatever its encoding: by its byte order mark; otherwise as UTF-8 if it is valid;
/// otherwise as `declared` (what the file says about itself; empty: nothing); otherwise as the
/// encoding its bytes suggest: UTF-16 without a mark, the older encodings of Japan, China, Taiwan
/// and Korea, Cyrillic, and windows-1252 for everything else.
DecodedText decode_text(std::string bytes, std::string_view declared = {});

}  // namespace braid::ingest
