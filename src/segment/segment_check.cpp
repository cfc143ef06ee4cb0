#include "braid/segment/segment_check.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "braid/core/limits.hpp"
#include "braid/dense/stored_vectors.hpp"
#include "braid/exact/labels.hpp"
#include "braid/index/prepared.hpp"
#include "braid/sparse/count_finder.hpp"

namespace braid::segment {
namespace {

/// Checks one part.
class PartCheck {
public:
    PartCheck(const Segment& segment, const Segment::Space& space, const Part& part,
              const Schema& schema, const text::Analyzer& analyzer, core::Findings& findings,
              const CallLimits& limits)
        : segment_(segment),
          space_(space),
          part_(part),
          schema_(schema),
          analyzer_(analyzer),
          findings_(findings),
          limits_(limits) {}

    Result<> run() {
        BRAID_CHECK(read_terms());
        BRAID_TRY(const sparse::RowFacts facts, part_.words().row_facts(true));
        std::string last;
        for (std::uint32_t row = 0; row < part_.rows(); ++row) {
            BRAID_CHECK(core::check_limits(limits_));
            BRAID_TRY(const Chunk chunk, part_.chunk(row, true));
            if (row > 0 && chunk.chunk_id <= last) problem(chunk, "it is out of order by id");
            last = chunk.chunk_id;
            BRAID_CHECK(check_label(chunk, row));
            BRAID_CHECK(check_words(chunk, row, facts));
            check_vector(chunk);
        }
        BRAID_CHECK(check_frequencies());
        return part_.intact();
    }

private:
    void problem(const Chunk& chunk, const std::string& what) {
        findings_.problem(segment_.file().path() + ", chunk \"" + chunk.chunk_id +
                          "\" of namespace \"" + space_.meta().namespace_ + "\": " + what);
    }

    Result<> read_terms() {
        terms_.resize(part_.words().dictionary().terms());
        return part_.words().dictionary().each(
            [&](std::string_view term, const sparse::TermEntry& entry) {
                if (entry.id < terms_.size()) terms_[entry.id] = {std::string(term), entry.df, 0};
                return true;
            });
    }

    Result<> check_label(const Chunk& chunk, std::uint32_t row) {
        BRAID_TRY(const std::uint64_t number, part_.documents().labels().at(row));
        BRAID_TRY(const std::uint32_t of_words, part_.words().label_of(row));
        const auto& labels = segment_.meta().labels;
        const auto found = std::ranges::find(
            labels, number, [](const auto& label) { return std::uint64_t{label.first}; });
        if (found == labels.end() || found->second != exact::label_of(chunk, schema_)) {
            problem(chunk, "its access label differs from its document's");
        }
        if (of_words != number) problem(chunk, "its words have a different access label");
        return {};
    }

    Result<> check_words(const Chunk& chunk, std::uint32_t row, const sparse::RowFacts& facts) {
        const index::PreparedText expected = index::count_terms(chunk, schema_, analyzer_);
        for (std::size_t f = 0; f < expected.field_lengths.size(); ++f) {
            if (facts.length(row, f) != expected.field_lengths[f]) {
                problem(chunk, "the length of its text is wrong in the index");
                break;
            }
        }
        if (!facts.has_forward()) return look_up_words(chunk, row, expected);
        struct Held {
            sparse::TermCount count;
            std::size_t first;  // among the row's positions
        };
        std::vector<Held> held;
        std::size_t words = 0;
        BRAID_TRY(sparse::ForwardCursor cursor, facts.terms(row));
        while (cursor.next()) {
            if (cursor.term() >= terms_.size()) {
                problem(chunk, "it has a term that does not exist");
                return {};
            }
            ++terms_[cursor.term()].found;
            for (std::uint32_t f = 0; f < schema_.text_fields.size(); ++f) {
                if (cursor.count(f) == 0) continue;
                held.push_back({{terms_[cursor.term()].text, f, cursor.count(f)}, words});
                words += cursor.count(f);
            }
        }
        std::ranges::sort(held, [](const Held& a, const Held& b) {
            return std::tie(a.count.term, a.count.field) < std::tie(b.count.term, b.count.field);
        });
        if (!std::ranges::equal(held, expected.terms, {}, &Held::count)) {
            problem(chunk, "its words in the index are not those of its text");
            return {};
        }
        if (!facts.has_positions()) return {};
        BRAID_TRY(const sparse::Positions positions, facts.positions(row));
        std::vector<std::uint32_t> in_order;
        for (const Held& one : held) {
            for (std::uint32_t i = 0; i < one.count.count && one.first + i < positions.size();
                 ++i) {
                in_order.push_back(positions[one.first + i]);
            }
        }
        if (in_order != expected.positions) {
            problem(chunk, "its words are at other places than in its text");
        }
        return {};
    }

    /// Checks that every word is there, as often as expected; check_frequencies() tells whether
    /// there are others.
    Result<> look_up_words(const Chunk& chunk, std::uint32_t row,
                           const index::PreparedText& expected) {
        const auto& words = part_.words();
        for (std::size_t i = 0; i < expected.terms.size();) {
            const std::string& term = expected.terms[i].term;
            sparse::FieldCounts wanted{};
            for (; i < expected.terms.size() && expected.terms[i].term == term; ++i) {
                wanted[expected.terms[i].field] = expected.terms[i].count;
            }
            BRAID_TRY(const auto entry, words.dictionary().find(term));
            sparse::FieldCounts counts{};
            bool found = false;
            if (entry) {
                BRAID_TRY(const auto finder, sparse::CountFinder::create(words, *entry));
                found = finder.find(row, counts);
            }
            if (!found || counts != wanted) {
                problem(chunk, "its words in the index are not those of its text");
                return {};
            }
            ++terms_[entry->id].found;
        }
        return {};
    }

    void check_vector(const Chunk& chunk) {
        if (chunk.vector.empty()) return;
        const auto valid =
            dense::check_vector(chunk.vector, segment_.meta().dimension, schema_.vectors.metric);
        if (!valid) problem(chunk, "its vector: " + valid.error().message);
    }

    Result<> check_frequencies() {
        for (const Term& term : terms_) {
            if (term.found == term.df) continue;
            findings_.problem(segment_.file().path() + ": the term \"" + term.text + "\" is in " +
                              std::to_string(term.found) + " chunks, the index says " +
                              std::to_string(term.df));
        }
        return {};
    }

    struct Term {
        std::string text;
        std::uint64_t df = 0;
        std::uint64_t found = 0;
    };

    const Segment& segment_;
    const Segment::Space& space_;
    const Part& part_;
    const Schema& schema_;
    const text::Analyzer& analyzer_;
    core::Findings& findings_;
    const CallLimits& limits_;
    std::vector<Term> terms_;
};

}  // namespace

Result<> check_segment(const Segment& segment, const Schema& schema, const text::Analyzer& analyzer,
                       core::Findings& findings, const CallLimits& limits) {
    const std::uint64_t before = findings.problems();
    for (std::uint64_t block = 0; block < segment.file().blocks(); ++block) {
        BRAID_CHECK(core::check_limits(limits));
        if (const auto whole = segment.file().verify_block(block); !whole) {
            findings.problem(whole.error().message);
        }
    }
    findings.report().bytes += segment.bytes();
    if (findings.problems() > before) return {};
    for (const auto& space : segment.spaces()) {
        const auto checked = [&]() -> Result<> {
            BRAID_TRY(const auto part, space->part());
            return PartCheck(segment, *space, *part, schema, analyzer, findings, limits).run();
        }();
        if (checked) continue;
        if (checked.error().code != ErrorCode::Corruption) return checked;
        findings.problem(checked.error().message);
    }
    return {};
}

}  // namespace braid::segment
