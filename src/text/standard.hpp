#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "braid/text/chain.hpp"
#include "braid/text/stemmer.hpp"
#include "braid/text/stop_words.hpp"
#include "braid/text/token_writer.hpp"
#include "braid/text/unit_reader.hpp"

namespace braid::text {

/// The `standard` analyzer. Holds scratch: one object per thread.
class StandardTokenizer {
public:
    struct Options {
        std::string_view language;  // full name
        /// Off: plain ASCII words take the same path as all others. For comparison in tests.
        bool fast_ascii = true;
    };
    explicit StandardTokenizer(const Options& options);

    /// Requires text.size() < 4 GiB. `stop_words`: without the function words of the language.
    void run(std::string_view text, TokenWriter& writer, bool stop_words);

private:
    std::size_t plain_words(std::string_view text, std::size_t at);
    void chain(UnitReader& reader, std::string_view text);
    void pairs(UnitReader& reader);
    void write_word(const Piece& piece);
    void write_stem(std::uint32_t begin, std::uint32_t end);
    void write_unstemmed(const Piece& piece);

    Stemmer stemmer_;
    const StopWords& function_words_;
    bool turkish_;
    bool fast_ascii_;
    std::u32string_view native_letters_;
    Chain chain_;
    std::string word_;
    std::string buffer_;
    TokenWriter* writer_ = nullptr;
    bool stop_words_ = false;
    std::uint32_t position_ = 0;
};

}  // namespace braid::text
