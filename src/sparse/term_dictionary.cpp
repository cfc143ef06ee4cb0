#include "braid/sparse/term_dictionary.hpp"

#include <algorithm>
#include <cstring>

#include "braid/core/utf8.hpp"

namespace braid::sparse {
namespace {

/// The first eight bytes as a number that orders as they do.
std::uint64_t key_of(std::string_view term) noexcept {
    std::uint64_t key = 0;
    if (term.empty()) return key;
    std::memcpy(&key, term.data(), std::min<std::size_t>(8, term.size()));
    return __builtin_bswap64(key);
}

/// Whole characters only: edit distances count characters.
std::size_t shared_prefix(std::string_view a, std::string_view b) noexcept {
    const std::size_t most = std::min(a.size(), b.size());
    std::size_t shared = 0;
    while (shared < most && a[shared] == b[shared]) ++shared;
    while (shared > 0 && ((shared < a.size() && core::continues_character(a[shared])) ||
                          (shared < b.size() && core::continues_character(b[shared])))) {
        --shared;
    }
    return shared;
}

/// First number in [begin, end) whose key is more than `key`, without unpredictable branches.
std::uint32_t upper_bound_of_keys(const std::uint8_t* keys, std::uint32_t count,
                                  std::uint64_t key) noexcept {
    std::uint32_t base = 0;
    while (count > 0) {
        const std::uint32_t half = (count + 1) / 2;
        const bool right = load<std::uint64_t>(keys, base + half - 1) <= key;
        base += right ? half : 0;
        count = right ? count - half : half - 1;
    }
    return base;
}

}  // namespace

void TermDictionaryWriter::add(std::string_view term, const TermEntry& entry) {
    std::size_t shared = 0;
    if (terms_ % kBlockTerms == 0) {
        keys_.push_back(key_of(term));
        text_offsets_.push_back(text_.size());
        posting_offsets_.push_back(posting_end_);
        singles_before_.push_back(singles_);
    } else {
        shared = shared_prefix(last_, term);
    }
    text_.push_back(static_cast<std::uint8_t>(shared));
    text_.push_back(static_cast<std::uint8_t>(term.size() - shared));
    text_.insert(text_.end(), term.begin() + static_cast<std::ptrdiff_t>(shared), term.end());
    put_varint(text_, entry.df);
    if (entry.df == 1) {
        put_varint(text_, entry.row);
        put_varint(text_, entry.tf);
        if (singles_++ == 0) first_single_ = entry.id;
    } else {
        put_varint(text_, entry.id);
        put_varint(text_, entry.length);
        if (entry.df >= kListRows) posting_end_ = (posting_end_ + 3) / 4 * 4;
        posting_end_ += entry.length;
    }
    last_ = term;
    ++terms_;
}

Result<> TermDictionaryWriter::finish(store::SectionSink& sink) {
    text_offsets_.push_back(text_.size());
    BRAID_CHECK(sink.begin(kTermsSection));
    BRAID_CHECK(sink.write(raw(text_)));
    BRAID_CHECK(sink.begin(kTermIndexSection));
    BRAID_CHECK(sink.write(raw(keys_)));
    BRAID_CHECK(sink.write(raw(text_offsets_)));
    BRAID_CHECK(sink.write(raw(posting_offsets_)));
    for (std::uint32_t& before : singles_before_) before += first_single_;
    return sink.write(raw(singles_before_));
}

bool TermBlockCursor::next() noexcept {
    if (left_ == 0) return false;
    --left_;
    if (end_ - at_ < 2) return stop();
    shared_ = at_[0];
    const std::size_t suffix = at_[1];
    at_ += 2;
    if (shared_ > size_ || static_cast<std::size_t>(end_ - at_) < suffix) return stop();
    std::memcpy(term_.data() + shared_, at_, suffix);
    at_ += suffix;
    size_ = shared_ + suffix;
    if (size_ > kMaxIndexTermBytes) return stop();
    return read_place();
}

bool TermBlockCursor::seek(std::string_view term) noexcept {
    std::size_t same = 0;  // bytes that the term before has in common with the one looked for
    while (left_ > 0) {
        --left_;
        if (end_ - at_ < 2) return stop();
        const std::size_t shared = at_[0];
        const std::string_view suffix(reinterpret_cast<const char*>(at_ + 2), at_[1]);
        if (static_cast<std::size_t>(end_ - at_) < 2 + suffix.size()) return stop();
        at_ += 2 + suffix.size();
        if (!read_place()) return false;
        if (shared > same) continue;  // differs where the one before did
        const std::string_view rest = term.substr(shared);
        const auto [in_suffix, in_rest] = std::ranges::mismatch(suffix, rest);
        same = shared + static_cast<std::size_t>(in_rest - rest.begin());
        if (in_suffix == suffix.end() && in_rest == rest.end()) return true;
        if (in_suffix == suffix.end()) continue;  // a prefix of the one looked for
        if (in_rest == rest.end() ||
            static_cast<unsigned char>(*in_suffix) > static_cast<unsigned char>(*in_rest)) {
            return false;
        }
    }
    return false;
}

bool TermBlockCursor::read_place() noexcept {
    std::uint64_t df = 0;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    if (!get_varint(at_, end_, df) || !get_varint(at_, end_, first) ||
        !get_varint(at_, end_, second)) {
        return stop();
    }
    if (df == 0 || df > kMaxRows) return stop();
    entry_ = {.df = static_cast<std::uint32_t>(df)};
    if (df == 1) {
        if (first > kMaxRows || second == 0 || second > 0xFFFFFFFF) return stop();
        entry_.id = next_single_++;
        entry_.row = static_cast<std::uint32_t>(first);
        entry_.tf = static_cast<std::uint32_t>(second);
        return true;
    }
    if (df >= kListRows) posting_offset_ = (posting_offset_ + 3) / 4 * 4;
    if (first > 0xFFFFFFFE || second > (std::uint64_t{1} << 48)) return stop();
    entry_.id = static_cast<std::uint32_t>(first);
    entry_.offset = posting_offset_;
    entry_.length = second;
    posting_offset_ += second;
    return true;
}

Result<TermDictionary> TermDictionary::open(const store::SectionSource& source,
                                            std::uint32_t terms) {
    TermDictionary dictionary;
    dictionary.terms_ = terms;
    BRAID_TRY(dictionary.text_, source.section(kTermsSection));
    BRAID_TRY(dictionary.index_, source.section(kTermIndexSection));
    const std::uint64_t expected = 28ULL * dictionary.blocks() + 8;
    if (dictionary.index_.size() != expected) {
        return corrupt_index("the index of terms has " + std::to_string(dictionary.index_.size()) +
                             " bytes, not " + std::to_string(expected));
    }
    return dictionary;
}

Result<TermDictionary::Arrays> TermDictionary::arrays() const {
    BRAID_TRY(const auto bytes, index_.bytes());
    const std::uint8_t* at = octets(bytes).data();
    return Arrays{at, at + 8ULL * blocks(), at + 16ULL * blocks() + 8, at + 24ULL * blocks() + 8};
}

Result<TermBlockCursor> TermDictionary::block(const Arrays& arrays, std::uint32_t number) const {
    const auto begin = load<std::uint64_t>(arrays.text_offsets, number);
    const auto end = load<std::uint64_t>(arrays.text_offsets, number + 1);
    if (begin > end) return corrupt_index("a block of terms ends before it begins");
    BRAID_TRY(const auto text, text_.bytes(begin, end - begin));
    const std::uint32_t count = std::min(kBlockTerms, terms_ - number * kBlockTerms);
    return TermBlockCursor(octets(text), count, arrays.begin(number));
}

Result<std::string> TermDictionary::first_term(const Arrays& arrays, std::uint32_t number) const {
    BRAID_TRY(TermBlockCursor cursor, block(arrays, number));
    if (!cursor.next()) return corrupt_index("a block of terms cannot be read");
    return std::string(cursor.term());
}

Result<std::uint32_t> TermDictionary::block_of(const Arrays& arrays, std::string_view term) const {
    const std::uint64_t key = key_of(term);
    std::uint32_t after = upper_bound_of_keys(arrays.keys, blocks(), key);
    // The blocks before `after` with the same first eight bytes are told apart by the whole term.
    std::uint32_t first = after;
    if (after > 0 && load<std::uint64_t>(arrays.keys, after - 1) == key) {
        first = key == 0 ? 0 : upper_bound_of_keys(arrays.keys, after, key - 1);
    }
    while (first < after) {
        const std::uint32_t middle = first + (after - first) / 2;
        BRAID_TRY(const std::string begin, first_term(arrays, middle));
        if (begin <= term) {
            first = middle + 1;
        } else {
            after = middle;
        }
    }
    return first == 0 ? 0 : first - 1;
}

Result<std::optional<TermEntry>> TermDictionary::find(std::string_view term) const {
    if (terms_ == 0) return std::nullopt;
    BRAID_TRY(const Arrays at, arrays());
    BRAID_TRY(const std::uint32_t number, block_of(at, term));
    const auto begin = load<std::uint64_t>(at.text_offsets, number);
    const auto end = load<std::uint64_t>(at.text_offsets, number + 1);
    if (begin > end) return corrupt_index("a block of terms ends before it begins");
    BRAID_TRY(const auto text, text_.bytes(begin, end - begin));
    TermBlockCursor cursor(octets(text), std::min(kBlockTerms, terms_ - number * kBlockTerms),
                           at.begin(number));
    if (cursor.seek(term)) return cursor.entry();
    if (cursor.broken()) return corrupt_index("a block of terms cannot be read");
    return std::nullopt;
}

Result<> TermDictionary::each(const Visitor& visitor) const {
    return each_with_prefix({}, visitor);
}

Result<> TermDictionary::each_with_prefix(std::string_view prefix, const Visitor& visitor) const {
    if (terms_ == 0) return {};
    BRAID_TRY(const Arrays at, arrays());
    BRAID_TRY(std::uint32_t number, block_of(at, prefix));
    for (; number < blocks(); ++number) {
        BRAID_TRY(TermBlockCursor cursor, block(at, number));
        while (cursor.next()) {
            const std::string_view term = cursor.term();
            if (term.starts_with(prefix)) {
                if (!visitor(term, cursor.entry())) return {};
            } else if (term > prefix) {
                return {};
            }
        }
        if (cursor.broken()) return corrupt_index("a block of terms cannot be read");
    }
    return {};
}

Result<bool> TermStream::next() {
    while (!cursor_.next()) {
        if (cursor_.broken()) return corrupt_index("a block of terms cannot be read");
        if (block_ >= dictionary_->blocks()) return false;
        BRAID_TRY(const auto arrays, dictionary_->arrays());
        BRAID_TRY(cursor_, dictionary_->block(arrays, block_++));
    }
    return true;
}

}  // namespace braid::sparse
