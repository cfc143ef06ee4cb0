#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "braid/backend.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/retrieval/collections.hpp"
#include "braid/types.hpp"

namespace braid::retrieval {

/// What the first page fixes for all that follow: with it, each page is a piece of one ranking.
struct Pinned {
    Request request;
    Principal principal;
    Profile profile;
    OpenedCollections collections;
    Timestamp now;
    std::size_t dense_depth = 0;
    std::size_t sparse_depth = 0;
    std::size_t page_size = 0;
    QueryForms forms;                     // of the query
    std::vector<std::string> shortfalls;  // that the first page had to live with
};
using PinnedPtr = std::shared_ptr<const Pinned>;

/// Where a page starts. Without `pinned` it is the first one.
struct Page {
    PinnedPtr pinned;
    std::size_t offset = 0;
    std::uint64_t id = 0;  // of the pinned, in the table
};

struct CursorLimits {
    std::size_t entries = 1024;
    std::chrono::seconds lifetime{300};  // since its last use
    std::chrono::seconds max_age{3600};  // since the first page, however often it is used
};

/// Keeps what cursors stand for, for a while: where there is no room, the longest unused of whoever
/// has the most gives way, so that nobody's searches end another's; and none pins its snapshot for
/// longer than `max_age`. Safe for concurrent use.
class CursorTable {
public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;

    explicit CursorTable(CursorLimits limits, Clock clock = std::chrono::steady_clock::now);

    /// A cursor for a first page's successor.
    std::string keep(PinnedPtr pinned, std::size_t offset);
    /// A cursor for the page after another.
    static std::string next(std::uint64_t id, std::size_t offset);

    /// InvalidArgument if the text is no cursor; NotFound, which says so, if it has expired or
    /// belongs to another principal.
    Result<Page> find(std::string_view cursor, const Principal& principal);

private:
    struct Entry {
        std::uint64_t id = 0;
        PinnedPtr pinned;
        std::chrono::steady_clock::time_point made;
        std::chrono::steady_clock::time_point last_use;
    };

    using Entries = std::list<Entry>;

    void drop_old(std::chrono::steady_clock::time_point now);
    void drop_one_of_the_greediest();
    void drop(Entries::iterator entry);

    const CursorLimits limits_;
    const Clock clock_;
    std::mutex mutex_;
    Entries entries_;  // the longest unused first; guarded, as are the three below
    std::unordered_map<std::uint64_t, Entries::iterator> by_id_;
    std::map<std::string, std::size_t, std::less<>> held_;  // by the name of a principal
    std::mt19937_64 ids_;
};

/// The request that a page is made by: the first page's, with the page size, the neighbours and the
/// deadline of this one. InvalidArgument if `request` asks for anything else.
Result<Request> request_of_page(const Request& request, const Pinned& pinned);

}  // namespace braid::retrieval
