#include "braid/retrieval/paging.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "braid/core/hex.hpp"

namespace braid::retrieval {
namespace {

constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kMostOffset = 100'000'000;

struct CursorText {
    std::uint64_t id = 0;
    std::size_t offset = 0;
};

/// 16 hexadecimal digits, a dash, a decimal number.
Result<CursorText> parse_cursor(std::string_view text) {
    CursorText cursor;
    const char* const end = text.data() + text.size();
    bool good = text.size() > kIdDigits + 1 && text[kIdDigits] == '-';
    if (good) {
        const char* const dash = text.data() + kIdDigits;
        const auto id = std::from_chars(text.data(), dash, cursor.id, 16);
        const auto offset = std::from_chars(dash + 1, end, cursor.offset);
        good = id.ec == std::errc() && id.ptr == dash && offset.ec == std::errc() &&
               offset.ptr == end && cursor.offset <= kMostOffset;
    }
    if (!good) {
        return invalid_argument("\"cursor\" was not issued here; take it from an earlier answer");
    }
    return cursor;
}

Request without_page(Request request) {
    request.cursor.clear();
    request.top_k.reset();
    request.deadline_ms.reset();
    request.expand_neighbors = 0;
    request.explain = false;
    return request;
}

}  // namespace

CursorTable::CursorTable(CursorLimits limits, Clock clock)
    : limits_(limits), clock_(std::move(clock)) {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    ids_.seed(seed);
}

void CursorTable::drop_old(std::chrono::steady_clock::time_point now) {
    while (!entries_.empty() && now - entries_.front().last_use > limits_.lifetime) {
        drop(entries_.begin());
    }
    while (entries_.size() > limits_.entries) drop_one_of_the_greediest();
}

void CursorTable::drop_one_of_the_greediest() {
    const auto most = std::ranges::max_element(held_, {}, [](const auto& h) { return h.second; });
    drop(std::ranges::find(entries_, most->first,
                           [](const Entry& entry) { return entry.pinned->principal.name; }));
}

void CursorTable::drop(Entries::iterator entry) {
    const auto holder = held_.find(entry->pinned->principal.name);
    if (--holder->second == 0) held_.erase(holder);
    by_id_.erase(entry->id);
    entries_.erase(entry);
}

std::string CursorTable::keep(PinnedPtr pinned, std::size_t offset) {
    const auto now = clock_();
    const std::scoped_lock lock(mutex_);
    std::uint64_t id = ids_();
    while (by_id_.contains(id)) id = ids_();
    ++held_[pinned->principal.name];
    entries_.push_back({id, std::move(pinned), now, now});
    by_id_.emplace(id, std::prev(entries_.end()));
    drop_old(now);
    return next(id, offset);
}

std::string CursorTable::next(std::uint64_t id, std::size_t offset) {
    return core::hex_of(id) + "-" + std::to_string(offset);
}

Result<Page> CursorTable::find(std::string_view cursor, const Principal& principal) {
    BRAID_TRY(const CursorText text, parse_cursor(cursor));
    const auto now = clock_();
    const std::scoped_lock lock(mutex_);
    drop_old(now);
    auto found = by_id_.find(text.id);
    if (found != by_id_.end() && now - found->second->made > limits_.max_age) {
        drop(found->second);
        found = by_id_.end();
    }
    if (found == by_id_.end() || found->second->pinned->principal != principal) {
        return fail(ErrorCode::NotFound,
                    "the cursor has expired: cursors are kept for " +
                        std::to_string(limits_.lifetime.count()) +
                        " seconds after their last use, for " +
                        std::to_string(limits_.max_age.count()) + " in all, and the newest of " +
                        std::to_string(limits_.entries) + "; ask again without it");
    }
    found->second->last_use = now;
    entries_.splice(entries_.end(), entries_, found->second);
    return Page{found->second->pinned, text.offset, text.id};
}

Result<Request> request_of_page(const Request& request, const Pinned& pinned) {
    Request rest = without_page(request);
    const Request first = without_page(pinned.request);
    if (rest.stages.empty()) rest.stages = pinned.profile.stages;
    if (rest != first) {
        if (rest.query == first.query) rest.query.clear();
        if (rest.stages == pinned.profile.stages) rest.stages.clear();
        if (rest != Request{}) {
            return invalid_argument(
                "a cursor continues the request it came from: omit the other keys, "
                "or repeat them unchanged");
        }
    }
    Request page = pinned.request;
    page.cursor.clear();
    page.top_k = request.top_k.value_or(pinned.page_size);
    page.deadline_ms = request.deadline_ms;
    page.expand_neighbors = request.expand_neighbors;
    page.explain = request.explain;
    if (request.expand_neighbors == 0) page.expand_neighbors = pinned.request.expand_neighbors;
    return page;
}

}  // namespace braid::retrieval
