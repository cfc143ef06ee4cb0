#include "braid/rank/lightgbm_model.hpp"

#include <charconv>
#include <map>
#include <string>

namespace braid::rank {
namespace {

using Lines = std::map<std::string_view, std::string_view>;

tl::unexpected<Error> unreadable(const std::string& why) {
    return invalid_argument("cannot read the trees that LightGBM made: " + why);
}

template <class T>
Result<std::vector<T>> numbers(const Lines& lines, std::string_view key) {
    const auto found = lines.find(key);
    if (found == lines.end()) return unreadable("no " + std::string(key));
    std::vector<T> out;
    std::string_view rest = found->second;
    while (!rest.empty()) {
        T number{};
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        if (error != std::errc()) return unreadable("a number of " + std::string(key));
        out.push_back(number);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        while (rest.starts_with(' ')) rest.remove_prefix(1);
    }
    return out;
}

Result<Tree> tree_of(const Lines& lines) {
    Tree tree;
    BRAID_TRY(const auto leaves, numbers<int>(lines, "num_leaves"));
    BRAID_TRY(tree.leaves, numbers<double>(lines, "leaf_value"));
    if (leaves.size() != 1 || tree.leaves.size() != static_cast<std::size_t>(leaves.front())) {
        return unreadable("the number of leaves");
    }
    if (tree.leaves.size() == 1) return tree;
    BRAID_TRY(const auto categories, numbers<int>(lines, "num_cat"));
    if (categories != std::vector{0}) return unreadable("it has categories");
    BRAID_TRY(const auto feature, numbers<std::uint16_t>(lines, "split_feature"));
    BRAID_TRY(const auto threshold, numbers<double>(lines, "threshold"));
    BRAID_TRY(const auto kind, numbers<int>(lines, "decision_type"));
    BRAID_TRY(const auto left, numbers<std::int32_t>(lines, "left_child"));
    BRAID_TRY(const auto right, numbers<std::int32_t>(lines, "right_child"));
    BRAID_TRY(const auto value, numbers<double>(lines, "internal_value"));
    const std::size_t nodes = tree.leaves.size() - 1;
    if (feature.size() != nodes || threshold.size() != nodes || kind.size() != nodes ||
        left.size() != nodes || right.size() != nodes || value.size() != nodes) {
        return unreadable("lists of different lengths");
    }
    for (std::size_t i = 0; i < nodes; ++i) {
        // Bit 1 says where missing values go, the others that there are some, or categories.
        if ((kind[i] & ~2) != 0) return unreadable("it distinguishes missing values");
        tree.nodes.push_back({feature[i], threshold[i], left[i], right[i], value[i]});
    }
    return tree;
}

}  // namespace

Result<std::vector<Tree>> read_lightgbm(std::string_view text) {
    std::vector<Tree> trees;
    Lines lines;
    bool inside = false;
    const auto finish = [&]() -> Result<> {
        if (inside) {
            BRAID_TRY(trees.emplace_back(), tree_of(lines));
        }
        lines.clear();
        inside = false;
        return {};
    };
    bool ended = false;
    while (!text.empty() && !ended) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t equals = line.find('=');
        ended = line == "end of trees";
        if (ended || line.starts_with("Tree=")) {
            BRAID_CHECK(finish());
            inside = !ended;
        } else if (equals != std::string_view::npos) {
            lines.emplace(line.substr(0, equals), line.substr(equals + 1));
        }
    }
    if (!ended) return unreadable("it is incomplete");
    return trees;
}

}  // namespace braid::rank
