#include "braid/retrieval/copies.hpp"

#include <algorithm>
#include <functional>

#include "braid/core/sha256.hpp"
#include "braid/retrieval/effects.hpp"
#include "braid/retrieval/hydrate.hpp"

namespace braid::retrieval {
namespace {

constexpr std::string_view kStageName = "collapse_duplicates";

std::vector<std::size_t> shingles_of(std::string_view text) {
    constexpr std::size_t kTogether = 3;
    constexpr std::string_view kSpaces = " \t\r\n";
    std::vector<std::size_t> words;
    for (std::size_t at = text.find_first_not_of(kSpaces); at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(kSpaces, at), text.size());
        words.push_back(std::hash<std::string_view>{}(text.substr(at, end - at)));
        at = text.find_first_not_of(kSpaces, end);
    }
    std::vector<std::size_t> shingles;
    for (std::size_t i = 0; i + kTogether <= words.size(); ++i) {
        std::size_t mixed = 0;
        for (std::size_t k = 0; k < kTogether; ++k) {
            mixed = mixed * 0x9E3779B97F4A7C15U + words[i + k];
        }
        shingles.push_back(mixed);
    }
    if (shingles.empty()) return words;
    std::ranges::sort(shingles);
    shingles.erase(std::unique(shingles.begin(), shingles.end()), shingles.end());
    return shingles;
}

/// The line of the receipt that names what a hit stands for.
void name_copy(Receipt& receipt, const std::string& chunk_id) {
    auto line = std::ranges::find(receipt.stages, kStageName, &ReceiptStage::stage);
    if (line == receipt.stages.end()) {
        apply_effect(std::string(kStageName),
                     {StageEffect::Kind::Keep, receipt.score, {{"duplicates", Array{}}}, false},
                     receipt);
        line = std::prev(receipt.stages.end());
    }
    line->detail.find("duplicates")->as_array().emplace_back(chunk_id);
}

}  // namespace

TextPrint print_of(std::string_view text, bool shingles) {
    TextPrint print;
    print.hash = core::sha256_hex(text);
    if (shingles) print.shingles = shingles_of(text);
    return print;
}

bool alike(const TextPrint& a, const TextPrint& b, double similarity) {
    if (a.hash == b.hash) return true;
    if (similarity >= 1) return false;
    const auto [fewer, more] = std::minmax({a.shingles.size(), b.shingles.size()});
    if (fewer == 0 || static_cast<double>(fewer) < similarity * static_cast<double>(more)) {
        return false;
    }
    std::size_t both = 0;
    for (auto x = a.shingles.begin(), y = b.shingles.begin();
         x != a.shingles.end() && y != b.shingles.end();) {
        if (*x == *y) ++both;
        const bool forward = *x <= *y;
        const bool other = *y <= *x;
        if (forward) ++x;
        if (other) ++y;
    }
    const auto all = static_cast<double>(a.shingles.size() + b.shingles.size() - both);
    return static_cast<double>(both) >= similarity * all;
}

/// Whether an earlier candidate shows the same; if not, later ones are compared with it.
bool CopiesOfDocuments::is_copy(std::size_t place, std::vector<Candidate>& ranked) {
    const auto& chunk = ranked[place].chunk;
    if (!chunk) return false;
    auto& seen = documents_[{ranked[place].collection,
                             chunk->document_id.empty() ? chunk->chunk_id : chunk->document_id}];
    if (seen.empty()) {
        seen.push_back({place, {}});
        return false;
    }
    TextPrint print = print_of(chunk->content, true);
    for (Seen& other : seen) {
        const auto& content = ranked[other.place].chunk;
        if (other.print.hash.empty() && content) other.print = print_of(content->content, true);
        if (!alike(print, other.print, kSimilarity)) continue;
        name_copy(ranked[other.place].receipt, chunk->chunk_id);
        return true;
    }
    seen.push_back({place, std::move(print)});
    return false;
}

/// Looks at the candidates before `end` that were not looked at.
void CopiesOfDocuments::take(std::size_t end, std::vector<Candidate>& ranked) {
    for (std::size_t i = distinct_; i < end; ++i) {
        if (i != distinct_) std::swap(ranked[distinct_], ranked[i]);
        if (!is_copy(distinct_, ranked)) ++distinct_;
    }
    using Place = std::vector<Candidate>::difference_type;
    ranked.erase(ranked.begin() + static_cast<Place>(distinct_),
                 ranked.begin() + static_cast<Place>(end));
}

Result<> CopiesOfDocuments::collapse(const Work& work, std::size_t wanted,
                                     std::vector<Candidate>& ranked) {
    wanted = std::min(wanted, kDeepest);
    while (distinct_ < std::min(wanted, ranked.size())) {
        const std::size_t end = std::min(wanted, ranked.size());
        BRAID_CHECK(fetch_chunks(work, std::span(ranked).subspan(distinct_, end - distinct_), false,
                                 work.copying));
        take(end, ranked);
    }
    return {};
}

}  // namespace braid::retrieval
