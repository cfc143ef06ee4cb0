#pragma once

#include <string>

namespace braid::text {

/// Takes off what people leave out when they type a query. `word` is case folded and composed
/// (NFC); `buffer` is scratch.
///
/// - Latin and Greek letters lose every accent (é, ş, ế, ά); æ œ ø ł đ ð þ ħ ŧ ı become ae oe o l d
/// d
///   th h t i.
/// - Cyrillic: ё becomes е and stress marks go; й, ї, ў and other letters in their own right stay.
/// - Hebrew points and Arabic vowel signs go; alef with hamza or madda becomes alef.
/// - Marks of other scripts are part of the spelling and stay.
void fold_accents(std::string& word, std::string& buffer, std::u32string_view native = {});

/// The accented letters that a language's stemmer looks at: they must stay until a word is stemmed.
/// Accents of other languages go before, or `Café` and `cafe` would end as different German stems.
std::u32string_view native_letters(std::string_view language) noexcept;

}  // namespace braid::text
