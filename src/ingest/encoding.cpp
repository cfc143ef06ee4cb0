#include "braid/ingest/encoding.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>

#include <iconv.h>

#include "braid/core/utf8.hpp"
#include "braid/ingest/source_document.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kSample = std::size_t{64} << 10;  // bytes looked at to find an encoding

/// What a file may say that it is in. Names are compared ignoring case, '-' and '_'. The C library
/// knows a thousand more: rarely used code, which no stranger's file shall select.
bool is_known_encoding(std::string_view name) {
    constexpr std::array<std::string_view, 19> kNames = {
        "utf8",      "utf16",   "utf16le",   "utf16be",  "utf32", "utf32le", "utf32be",
        "usascii",   "ascii",   "macintosh", "shiftjis", "sjis",  "eucjp",   "euckr",
        "iso2022jp", "gb18030", "gb2312",    "gbk",      "big5"};
    constexpr std::array<std::string_view, 7> kFamilies = {"iso8859", "latin", "windows12", "cp",
                                                           "koi8",    "ibm8",  "windows874"};
    std::string plain;
    for (const char c : lower_ascii(name)) {
        if (c != '-' && c != '_') plain += c;
    }
    if (std::ranges::find(kNames, plain) != kNames.end()) return true;
    return std::ranges::any_of(kFamilies, [&](std::string_view family) {
        if (!plain.starts_with(family)) return false;
        const std::string_view rest = std::string_view(plain).substr(family.size());
        return rest.size() <= 4 && std::ranges::all_of(rest, [](char c) {
                   return (c >= '0' && c <= '9') || c == 'r' || c == 'u';
               });
    });
}

/// Bytes that are not characters become U+FFFD and are counted. None if the encoding is unknown.
std::optional<std::pair<std::string, std::size_t>> converted(std::string_view bytes,
                                                             const std::string& encoding) {
    const iconv_t converter = iconv_open("UTF-8", encoding.c_str());
    // iconv_open says "none" by this value.
    // NOLINTNEXTLINE(performance-no-int-to-ptr,cppcoreguidelines-pro-type-cstyle-cast)
    if (converter == (iconv_t)-1) return std::nullopt;
    std::string out;
    std::size_t bad = 0;
    std::string input(bytes);
    char* in = input.data();
    std::size_t left = input.size();
    std::array<char, 16384> buffer{};
    while (true) {
        char* to = buffer.data();
        std::size_t room = buffer.size();
        const bool at_end = left == 0;
        const std::size_t done = at_end ? iconv(converter, nullptr, nullptr, &to, &room)
                                        : iconv(converter, &in, &left, &to, &room);
        const int error = errno;
        out.append(buffer.data(), buffer.size() - room);
        if (done != static_cast<std::size_t>(-1)) {
            if (at_end) break;
            continue;
        }
        if (error == E2BIG) continue;
        out += "\xEF\xBF\xBD";
        ++bad;
        if (error == EINVAL || left == 0) break;  // cut off inside a character
        ++in;
        --left;
    }
    iconv_close(converter);
    return std::pair(std::move(out), bad);
}

/// How the bytes of a sample pair up when read in each of East Asia's two-byte encodings.
struct Pairs {
    std::size_t high = 0;    // bytes from 0x80 on
    std::size_t beside = 0;  // those with another such byte next to them
    std::size_t mixed = 0;   // high bytes next to a plain letter: words in Western languages
    std::size_t pairs = 0;
    std::size_t euc = 0;            // both bytes from 0xA1 on
    std::size_t euc_kana = 0;       // EUC-JP
    std::size_t sjis_kana = 0;      // Shift_JIS
    std::size_t hangul = 0;         // EUC-KR: the 25 rows that hold all of Hangul
    std::size_t hanzi = 0;          // GB 2312: the rows of frequent characters, punctuation
    std::size_t big5 = 0;           // Big5: the rows of frequent characters, punctuation
    std::size_t small_letters = 0;  // windows-1251: lower-case Cyrillic
    std::size_t koi_letters = 0;    // KOI8-R: the same
};

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

Pairs pairs_of(std::string_view sample) {
    Pairs out;
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(sample[i]); };
    for (std::size_t i = 0; i < sample.size(); ++i) {
        if (at(i) < 0x80) continue;
        ++out.high;
        out.beside += (i > 0 && at(i - 1) >= 0x80) || (i + 1 < sample.size() && at(i + 1) >= 0x80);
        out.mixed += (i > 0 && is_letter(sample[i - 1])) ||
                     (i + 1 < sample.size() && is_letter(sample[i + 1]));
        out.small_letters += at(i) >= 0xE0;
        out.koi_letters += at(i) >= 0xC0 && at(i) < 0xE0;
    }
    for (std::size_t i = 0; i + 1 < sample.size(); ++i) {
        const unsigned lead = at(i);
        if (lead < 0x81) continue;
        const unsigned trail = at(++i);
        const bool euc = lead >= 0xA1 && trail >= 0xA1;
        ++out.pairs;
        out.euc += euc;
        out.euc_kana += euc && (lead == 0xA4 || lead == 0xA5);
        out.sjis_kana += (lead == 0x82 && trail >= 0x9F && trail <= 0xF1) ||
                         (lead == 0x83 && trail >= 0x40 && trail <= 0x96);
        out.hangul += euc && lead >= 0xB0 && lead <= 0xC8;
        out.hanzi += euc && ((lead >= 0xB0 && lead <= 0xD7) || lead <= 0xA3);
        out.big5 += ((lead >= 0xA4 && lead <= 0xC6) || lead == 0xA1) &&
                    ((trail >= 0x40 && trail <= 0x7E) || trail >= 0xA1);
    }
    return out;
}

/// The encoding suggested by bytes that are not UTF-8.
std::string guessed(std::string_view sample) {
    if (sample.find("\x1B$") != std::string_view::npos) return "ISO-2022-JP";
    std::size_t even = 0;
    std::size_t odd = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        if (sample[i] == 0) ++(i % 2 == 0 ? even : odd);
    }
    if (odd * 5 > sample.size() && even * 10 < odd) return "UTF-16LE";
    if (even * 5 > sample.size() && odd * 10 < even) return "UTF-16BE";
    const Pairs seen = pairs_of(sample);
    const auto share = [&](std::size_t count) {
        return seen.pairs == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(seen.pairs);
    };
    // Western text has single accented letters among plain ones.
    if (seen.high < 4 || seen.beside * 2 < seen.high) return "windows-1252";
    if (share(seen.euc_kana) > 0.3) return "EUC-JP";
    if (share(seen.sjis_kana) > 0.3) return "Shift_JIS";
    const bool western = seen.mixed * 2 > seen.high;
    if (share(seen.euc) > 0.95 && !western) {
        if (share(seen.hangul) > 0.9) return "EUC-KR";
        if (share(seen.hanzi) > 0.85) return "GB18030";
    }
    const bool cyrillic = (seen.small_letters + seen.koi_letters) * 10 > seen.high * 9;
    if (share(seen.big5) > 0.9 && share(seen.euc) < 0.95) return "Big5";
    if (western) return "windows-1252";
    if (cyrillic) return seen.small_letters > seen.koi_letters ? "windows-1251" : "KOI8-R";
    return share(seen.hanzi) > 0.6 ? "GB18030" : "windows-1252";
}

/// UTF-8 that is damaged somewhere, or cut off within a character: what no other encoding looks
/// like, since their bytes rarely make characters of UTF-8. With U+FFFD for what is no character.
std::optional<std::string> repaired_utf8(std::string_view bytes, bool declared) {
    std::size_t good = 0;
    std::size_t bad = 0;
    for (std::size_t at = 0; at < bytes.size();) {
        const core::Decoded next = core::decode_at(bytes, at);
        const bool damaged = next.code_point == core::kInvalidBytes;
        const bool at_an_end = at < 3 || at + 3 >= bytes.size();
        bad += damaged && !at_an_end;
        good += !damaged && next.length > 1;
        at += next.length;
    }
    constexpr std::size_t kGoodForEachBad = 4;
    if (good == 0 || good < bad * (declared ? 1 : kGoodForEachBad)) return std::nullopt;
    std::string text;
    text.reserve(bytes.size());
    for (std::size_t at = 0; at < bytes.size();) {
        const core::Decoded next = core::decode_at(bytes, at);
        text += next.code_point == core::kInvalidBytes ? std::string_view("\xEF\xBF\xBD")
                                                       : bytes.substr(at, next.length);
        at += next.length;
    }
    return text;
}

}  // namespace

DecodedText decode_text(std::string bytes, std::string_view declared) {
    std::string_view rest = bytes;
    std::string encoding;
    if (rest.starts_with("\xEF\xBB\xBF")) {
        rest.remove_prefix(3);
        encoding = "UTF-8";
    } else if (rest.starts_with(std::string_view("\xFF\xFE\0\0", 4))) {
        rest.remove_prefix(4);
        encoding = "UTF-32LE";
    } else if (rest.starts_with(std::string_view("\0\0\xFE\xFF", 4))) {
        rest.remove_prefix(4);
        encoding = "UTF-32BE";
    } else if (rest.starts_with("\xFF\xFE")) {
        rest.remove_prefix(2);
        encoding = "UTF-16LE";
    } else if (rest.starts_with("\xFE\xFF")) {
        rest.remove_prefix(2);
        encoding = "UTF-16BE";
    }
    const bool ascii =
        std::ranges::all_of(rest, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    // ISO-2022-JP is ASCII with escapes; those of terminals begin in another way.
    const bool plain = encoding.empty() && rest.find('\0') == std::string_view::npos &&
                       !(ascii && rest.find("\x1B$") != std::string_view::npos);
    if ((plain || encoding == "UTF-8") && core::is_valid_utf8(rest)) {
        bytes.erase(0, bytes.size() - rest.size());
        return {std::move(bytes), "UTF-8", true};
    }
    if (encoding.empty() && is_known_encoding(declared) && lower_ascii(declared) != "utf-8") {
        if (auto text = converted(rest, std::string(declared)); text && text->second == 0) {
            return {std::move(text->first), std::string(declared), true};
        }
    }
    if (plain || encoding == "UTF-8") {
        const bool said = encoding == "UTF-8" || lower_ascii(declared) == "utf-8";
        if (auto text = repaired_utf8(rest, said)) return {*std::move(text), "UTF-8", false};
    }
    if (encoding.empty() || encoding == "UTF-8") encoding = guessed(rest.substr(0, kSample));
    auto text = converted(rest, encoding);
    if (text && text->second > 0 && !encoding.starts_with("UTF-")) {
        // A few stray bytes do less harm than misreading every character.
        auto western = converted(rest, "windows-1252");
        if (encoding == "windows-1252") western = converted(rest, "ISO-8859-1");
        if (western && (encoding == "windows-1252" || text->second * 20 > rest.size())) {
            return {std::move(western->first),
                    encoding == "windows-1252" ? "ISO-8859-1" : "windows-1252",
                    western->second == 0};
        }
    }
    if (!text) text = converted(rest, "ISO-8859-1");
    if (!text) return {{}, encoding, false};
    return {std::move(text->first), encoding, text->second == 0};
}

}  // namespace braid::ingest
