#include "braid/sparse/term_dictionary.hpp"

#include <algorithm>
#include <cstring>

#include "braid/core/utf8.hpp"

namespace braid::sparse {
namespace {

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
        keys_.push_back(leading_bytes(term));
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
        put_single(entry);
    } else {
        if (format_.version < kListsVersion) put_varint(text_, entry.id);
        put_varint(text_, entry.length);
        if (entry.df >= kListRows) posting_end_ = (posting_end_ + 3) / 4 * 4;
        posting_end_ += entry.length;
    }
    last_ = term;
    ++terms_;
}

void TermDictionaryWriter::put_single(const TermEntry& entry) {
    if (singles_++ == 0) first_single_ = entry.id;
    if (format_.version >= kListsVersion) {
        put_varint(text_, std::uint64_t{entry.row} << 1 | (entry.counts.empty() ? 0U : 1U));
        text_.insert(text_.end(), entry.counts.begin(), entry.counts.end());
        return;
    }
    put_varint(text_, entry.row);
    put_varint(text_, entry.tf);
}

Result<> TermDictionaryWriter::finish(store::SectionSink& sink) {
    text_offsets_.push_back(text_.size());
    BRAID_CHECK(sink.begin(kTermsSection));
    BRAID_CHECK(sink.write(raw(text_)));
    BRAID_CHECK(sink.begin(kTermIndexSection));
    BRAID_CHECK(sink.write(raw(keys_)));
    if (format_.version >= kListsVersion && text_.size() >> 32 == 0 && posting_end_ >> 32 == 0) {
        for (const auto& offsets : {text_offsets_, posting_offsets_}) {
            const std::vector<std::uint32_t> narrow(offsets.begin(), offsets.end());
            BRAID_CHECK(sink.write(raw(narrow)));
        }
        return {};
    }
    BRAID_CHECK(sink.write(raw(text_offsets_)));
    BRAID_CHECK(sink.write(raw(posting_offsets_)));
    if (format_.version >= kListsVersion) return {};
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
    std::size_t same = 0;  // bytes the previous term shares with the one looked for
    while (left_ > 0) {
        --left_;
        if (end_ - at_ < 2) return stop();
        const std::size_t shared = at_[0];
        const std::string_view suffix(reinterpret_cast<const char*>(at_ + 2), at_[1]);
        if (static_cast<std::size_t>(end_ - at_) < 2 + suffix.size()) return stop();
        at_ += 2 + suffix.size();
        if (!read_place()) return false;
        if (shared > same) continue;  // differs where the previous one did
        const std::string_view rest = term.substr(shared);
        const auto [in_suffix, in_rest] = std::ranges::mismatch(suffix, rest);
        same = shared + static_cast<std::size_t>(in_rest - rest.begin());
        if (in_suffix == suffix.end() && in_rest == rest.end()) return true;
        if (in_suffix == suffix.end()) continue;  // a prefix of the term looked for
        if (in_rest == rest.end() ||
            static_cast<unsigned char>(*in_suffix) > static_cast<unsigned char>(*in_rest)) {
            return false;
        }
    }
    return false;
}

bool TermBlockCursor::read_place() noexcept {
    std::uint64_t df = 0;
    if (!get_varint(at_, end_, df) || df == 0 || df > kMaxRows) return stop();
    entry_ = {.df = static_cast<std::uint32_t>(df)};
    if (df == 1) return read_single();
    std::uint64_t id = 0;
    if (format_.version >= kListsVersion) {
        id = next_id_++;
    } else if (!get_varint(at_, end_, id) || id > 0xFFFFFFFE) {
        return stop();
    }
    std::uint64_t length = 0;
    if (!get_varint(at_, end_, length) || length > (std::uint64_t{1} << 48)) return stop();
    if (df >= kListRows) posting_offset_ = (posting_offset_ + 3) / 4 * 4;
    entry_.id = static_cast<std::uint32_t>(id);
    entry_.offset = posting_offset_;
    entry_.length = length;
    posting_offset_ += length;
    return true;
}

bool TermBlockCursor::read_single() noexcept {
    std::uint64_t row = 0;
    std::uint64_t tf = 1;
    if (!get_varint(at_, end_, row)) return stop();
    if (format_.version >= kListsVersion) {
        const bool plain = (row & 1) == 0;
        row >>= 1;
        if (!plain) {
            const std::uint8_t* const begin = at_;
            FieldCounts counts;
            if (!get_counts(at_, end_, format_.fields, counts)) return stop();
            entry_.counts = {begin, at_};
            tf = total_of(counts.data(), format_.fields);
        }
    } else if (!get_varint(at_, end_, tf)) {
        return stop();
    }
    if (row > kMaxRows || tf == 0 || tf > 0xFFFFFFFF) return stop();
    entry_.id = next_id_++;
    entry_.row = static_cast<std::uint32_t>(row);
    entry_.tf = static_cast<std::uint32_t>(tf);
    return true;
}

Result<TermDictionary> TermDictionary::open(const store::SectionSource& source, std::uint32_t terms,
                                            const TermFormat& format) {
    TermDictionary dictionary;
    dictionary.terms_ = terms;
    dictionary.format_ = format;
    BRAID_TRY(dictionary.text_, source.section(kTermsSection));
    BRAID_TRY(dictionary.index_, source.section(kTermIndexSection));
    const std::uint64_t blocks = dictionary.blocks();
    const bool old = format.version < kListsVersion;
    const std::uint64_t expected = old ? 28 * blocks + 8 : 24 * blocks + 8;
    const std::uint64_t narrow = 16 * blocks + 4;
    const std::uint64_t size = dictionary.index_.size();
    if (size != expected && (old || size != narrow)) {
        return corrupt_index("the index of terms has " + std::to_string(size) + " bytes, not " +
                             std::to_string(expected));
    }
    return dictionary;
}

Result<TermDictionary::Arrays> TermDictionary::arrays() const {
    BRAID_TRY(const auto bytes, index_.bytes());
    Arrays arrays{.keys = octets(bytes).data()};
    const std::uint64_t count = blocks();
    arrays.narrow = bytes.size() < 24 * count + 8;
    const std::uint64_t width = arrays.narrow ? 4 : 8;
    arrays.text_offsets = arrays.keys + 8 * count;
    arrays.posting_offsets = arrays.text_offsets + width * (count + 1);
    if (format_.version < kListsVersion) {
        arrays.singles = arrays.posting_offsets + width * count;
    }
    return arrays;
}

Result<TermBlockCursor> TermDictionary::block(const Arrays& arrays, std::uint32_t number) const {
    const std::uint64_t begin = arrays.text_offset(number);
    const std::uint64_t end = arrays.text_offset(number + 1);
    if (begin > end) return corrupt_index("a block of terms ends before it begins");
    BRAID_TRY(const auto text, text_.bytes(begin, end - begin));
    const std::uint32_t count = std::min(kBlockTerms, terms_ - number * kBlockTerms);
    return TermBlockCursor(octets(text), count, arrays.begin(number), format_);
}

Result<std::string> TermDictionary::first_term(const Arrays& arrays, std::uint32_t number) const {
    BRAID_TRY(TermBlockCursor cursor, block(arrays, number));
    if (!cursor.next()) return corrupt_index("a block of terms cannot be read");
    return std::string(cursor.term());
}

Result<std::uint32_t> TermDictionary::block_of(const Arrays& arrays, std::string_view term) const {
    const std::uint64_t key = leading_bytes(term);
    std::uint32_t after = upper_bound_of_keys(arrays.keys, blocks(), key);
    // Blocks before `after` that share its first eight bytes are told apart by the whole term.
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
    BRAID_TRY(TermBlockCursor cursor, block(at, number));
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
