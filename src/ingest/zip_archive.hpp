#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"

namespace braid::ingest {

/// The members of a zip archive in memory, as used by office documents and e-books. Borrows the
/// bytes. Every length is checked against them, and all members together unpack to at most
/// `max_bytes`.
class ZipArchive {
public:
    /// InvalidArgument if it is not a zip archive, or is damaged, encrypted, or too large (zip64).
    static Result<ZipArchive> open(std::string_view bytes, std::size_t max_bytes);

    bool has(std::string_view name) const { return find(name) != nullptr; }
    /// Names that begin with `prefix` and end with `suffix`, ordered by the numbers in them:
    /// "slide2.xml" before "slide10.xml".
    std::vector<std::string> names(std::string_view prefix, std::string_view suffix) const;
    /// NotFound; InvalidArgument if the member is damaged or too long.
    Result<std::string> read(std::string_view name);

private:
    struct Member {
        std::string name;
        std::uint32_t offset = 0;
        std::uint32_t packed = 0;
        std::uint16_t method = 0;
        std::uint16_t flags = 0;
    };

    ZipArchive(std::string_view bytes, std::size_t max_bytes) : bytes_(bytes), left_(max_bytes) {}
    const Member* find(std::string_view name) const;

    std::string_view bytes_;
    std::size_t left_;  // may still be unpacked
    std::vector<Member> members_;
    std::map<std::string, std::size_t, std::less<>> places_;  // in `members_`, by name
};

}  // namespace braid::ingest
