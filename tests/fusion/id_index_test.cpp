#include "braid/fusion/id_index.hpp"

#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

namespace braid::fusion {
namespace {

TEST(IdIndex, FindsWhatAMapFinds) {
    std::mt19937_64 rng(5);
    for (std::size_t most = 0; most < 200; ++most) {
        IdIndex index(most);
        std::unordered_map<std::string, std::uint32_t> map;
        std::vector<std::string> ids;  // by number
        const auto id_of = [&](std::uint32_t number) -> std::string_view { return ids[number]; };
        for (std::size_t i = 0; i < most; ++i) {
            const std::string id = "c" + std::to_string(rng() % (most + 1));
            const auto fresh = static_cast<std::uint32_t>(ids.size());
            const std::uint32_t expected = map.try_emplace(id, fresh).first->second;
            ASSERT_EQ(index.add(id, fresh, id_of), expected);
            if (expected == fresh) ids.push_back(id);
        }
        for (std::size_t i = 0; i <= most; ++i) {
            const std::string id = "c" + std::to_string(i);
            const auto found = map.find(id);
            ASSERT_EQ(index.find(id, id_of), found == map.end() ? IdIndex::kNone : found->second);
        }
    }
}

}  // namespace
}  // namespace braid::fusion
