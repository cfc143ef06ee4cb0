#include "braid/sparse/term_dictionary.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "braid/core/nearest.hpp"
#include "braid/store/memory_sections.hpp"

namespace braid::sparse {
namespace {

struct Dictionary {
    store::MemorySections sections;
    std::map<std::string, TermEntry> terms;

    std::uint32_t version;

    /// Of the present version, or of the one with forward lists.
    explicit Dictionary(const std::set<std::string>& words, bool old = false)
        : version(old ? kForwardVersion : kListsVersion) {
        TermDictionaryWriter writer({version, 2});
        std::uint32_t id = 0;
        std::uint32_t singles = 0;
        Bytes counts;
        for (const std::string& word : words) {
            TermEntry entry{.id = id++, .df = 1 + id % 200};
            if (entry.df == 1) {
                // One after another, as an index of version 3 has them.
                if (old) entry.id = 1'000'000 + singles++;
                entry.row = id;
                entry.tf = id % 400 == 0 ? 1 : 333;
                counts.clear();
                put_counts(counts, std::array<std::uint32_t, 2>{33, 300}.data(), 2);
                if (entry.tf > 1) entry.counts = counts;
            } else {
                entry.length = 3 * entry.df;
            }
            writer.add(word, entry);
            entry.counts = {};
            terms.emplace(word, entry);
        }
        EXPECT_TRUE(writer.finish(sections));
    }
    TermDictionary open() const {
        return *TermDictionary::open(sections, static_cast<std::uint32_t>(terms.size()),
                                     {version, 2});
    }
};

std::set<std::string> random_terms(std::mt19937_64& rng, std::size_t count) {
    std::set<std::string> words{"", "a"};
    while (words.size() < count) {
        std::string word = rng() % 3 == 0 ? "internationalization" : "";
        for (auto left = rng() % 7; left > 0; --left) word += "abc\xC3\xA4"[rng() % 3];
        if (rng() % 5 == 0) word += "\xC3\xA4";
        words.insert(word);
    }
    return words;
}

/// In characters; the words are ASCII or valid UTF-8.
std::uint32_t edit_distance(const std::string& a, const std::string& b) {
    const auto characters = [](const std::string& text) {
        std::vector<std::string> out;
        for (const char byte : text) {
            if ((static_cast<unsigned char>(byte) & 0xC0U) == 0x80U && !out.empty()) {
                out.back() += byte;
            } else {
                out.emplace_back(1, byte);
            }
        }
        return out;
    };
    const auto x = characters(a);
    const auto y = characters(b);
    std::vector<std::vector<std::uint32_t>> table(x.size() + 1,
                                                  std::vector<std::uint32_t>(y.size() + 1));
    for (std::size_t i = 0; i <= x.size(); ++i) {
        for (std::size_t j = 0; j <= y.size(); ++j) {
            if (i == 0 || j == 0) {
                table[i][j] = static_cast<std::uint32_t>(i + j);
                continue;
            }
            table[i][j] = std::min({table[i - 1][j - 1] + (x[i - 1] == y[j - 1] ? 0U : 1U),
                                    table[i - 1][j] + 1, table[i][j - 1] + 1});
        }
    }
    return table[x.size()][y.size()];
}

TEST(TermDictionary, FindsEveryTermAndNoOther) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Dictionary made(random_terms(rng, 2 + rng() % 400), seed % 2 == 1);
        const TermDictionary dictionary = made.open();
        for (const auto& [term, entry] : made.terms) {
            const auto found = dictionary.find(term);
            ASSERT_TRUE(found && *found) << term;
            EXPECT_EQ((*found)->id, entry.id);
            EXPECT_EQ((*found)->df, entry.df);
            EXPECT_EQ((*found)->row, entry.df == 1 ? entry.row : 0);
            EXPECT_EQ((*found)->length, entry.length);
            EXPECT_EQ((*found)->tf, entry.tf);
            FieldCounts counts{};
            const std::uint8_t* at = (*found)->counts.data();
            const bool apart = seed % 2 == 0 && entry.tf > 1;
            EXPECT_EQ(!(*found)->counts.empty(), apart);
            if (!apart) continue;
            EXPECT_TRUE(get_counts(at, at + (*found)->counts.size(), 2, counts));
            EXPECT_EQ(counts, (FieldCounts{33, 300}));
        }
        for (const std::string& other : random_terms(rng, 300)) {
            if (made.terms.contains(other)) continue;
            const auto found = dictionary.find(other);
            ASSERT_TRUE(found);
            EXPECT_FALSE(*found) << other;
        }
    }
}

TEST(TermDictionary, ListsLieBehindOneAnother) {
    std::mt19937_64 rng(5);
    for (const bool old : {false, true}) {
        const Dictionary made(random_terms(rng, 300), old);
        std::uint64_t end = 0;
        ASSERT_TRUE(made.open().each([&](std::string_view, const TermEntry& entry) {
            if (entry.df == 1) return true;
            if (entry.df >= kListRows) end = (end + 3) / 4 * 4;
            EXPECT_EQ(entry.offset, end);
            end += entry.length;
            return true;
        }));
    }
}

TEST(TermDictionary, FindsTermsByPrefixAndByDistance) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Dictionary made(random_terms(rng, 2 + rng() % 500));
        const TermDictionary dictionary = made.open();
        for (const std::string& word : random_terms(rng, 20)) {
            std::vector<std::string> expected;
            for (const auto& [term, entry] : made.terms) {
                if (term.starts_with(word)) expected.push_back(term);
            }
            std::vector<std::string> found;
            ASSERT_TRUE(dictionary.each_with_prefix(word, [&](std::string_view term, const auto&) {
                found.emplace_back(term);
                return true;
            }));
            EXPECT_EQ(found, expected) << word;
            for (const std::uint32_t most : {0U, 1U, 2U, 3U}) {
                std::map<std::string, std::size_t> near;
                for (const auto& [term, entry] : made.terms) {
                    const std::uint32_t distance = edit_distance(word, term);
                    if (distance <= most) near.emplace(term, distance);
                }
                std::map<std::string, std::size_t> got;
                ASSERT_TRUE(dictionary.each_near(
                    word, most, [&](std::string_view term, const TermEntry& entry, auto distance) {
                        got.emplace(std::string(term), distance);
                        EXPECT_EQ(entry.df, made.terms.at(std::string(term)).df);
                        return true;
                    }));
                EXPECT_EQ(got, near) << word << " within " << most;
            }
        }
        if (testing::Test::HasFailure()) return;
    }
}

TEST(TermDictionary, FindsWhatATypingErrorMayHaveMeant) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        const Dictionary made(random_terms(rng, 2 + rng() % 2000));
        const TermDictionary dictionary = made.open();
        for (const std::string& word : random_terms(rng, 20)) {
            for (const std::size_t most : {0U, 1U, 2U}) {
                const std::size_t exact = rng() % 3;
                std::map<std::string, std::size_t> expected;
                for (const auto& [term, entry] : made.terms) {
                    if (!term.starts_with(word.substr(0, exact))) continue;
                    const std::size_t distance = core::edit_distance(word, term, most);
                    if (distance <= most) expected.emplace(term, distance);
                }
                std::map<std::string, std::size_t> found;
                ASSERT_TRUE(dictionary.each_alike(
                    word, most, exact,
                    [&](std::string_view term, const TermEntry& entry, auto distance) {
                        found.emplace(std::string(term), distance);
                        EXPECT_EQ(entry.df, made.terms.at(std::string(term)).df);
                        return true;
                    }));
                EXPECT_EQ(found, expected) << word << " within " << most << ", exact " << exact;
            }
        }
        if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace braid::sparse
