#include "braid/rank/model_json.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"

namespace braid::rank {
namespace {

using json::Fields;

template <class Items, class Get>
Value column(const Items& items, const Get& get) {
    Array out;
    out.reserve(items.size());
    for (const auto& item : items) out.emplace_back(get(item));
    return out;
}

Value to_value(const Tree& tree) {
    using Node = Tree::Node;
    return Object{
        {"feature", column(tree.nodes, [](const Node& n) { return Value(int{n.feature}); })},
        {"threshold", column(tree.nodes, [](const Node& n) { return Value(n.threshold); })},
        {"left", column(tree.nodes, [](const Node& n) { return Value(n.left); })},
        {"right", column(tree.nodes, [](const Node& n) { return Value(n.right); })},
        {"value", column(tree.nodes, [](const Node& n) { return Value(n.value); })},
        {"leaves", column(tree.leaves, [](double x) { return Value(x); })}};
}

Result<std::vector<double>> numbers(Fields& fields, std::string_view key, std::size_t most) {
    BRAID_TRY(const Array* const list, fields.array(key));
    if (list == nullptr || list->size() > most) {
        return invalid_argument(fields.complaint(key, "a list of numbers, not too long"));
    }
    std::vector<double> out;
    out.reserve(list->size());
    for (const Value& one : *list) {
        if (!one.is_number()) return invalid_argument(fields.complaint(key, "a list of numbers"));
        out.push_back(one.as_double());
    }
    return out;
}

/// Numbers that must be whole and fit T.
template <class T>
Result<T> whole(double number) {
    if (number != static_cast<double>(static_cast<std::int64_t>(number)) ||
        number < static_cast<double>(std::numeric_limits<T>::min()) ||
        number > static_cast<double>(std::numeric_limits<T>::max())) {
        return invalid_argument("a tree of the model has a number that is out of range");
    }
    return static_cast<T>(number);
}

/// `place`: where a feature of the file stands in this version's vector.
Result<Tree> tree_from(const Value& value, std::span<const std::size_t> place) {
    BRAID_TRY(Fields fields, Fields::of(value, "trees"));
    BRAID_TRY(const auto feature, numbers(fields, "feature", kMaxLeaves));
    BRAID_TRY(const auto threshold, numbers(fields, "threshold", kMaxLeaves));
    BRAID_TRY(const auto left, numbers(fields, "left", kMaxLeaves));
    BRAID_TRY(const auto right, numbers(fields, "right", kMaxLeaves));
    BRAID_TRY(const auto mean, numbers(fields, "value", kMaxLeaves));
    Tree tree;
    BRAID_TRY(tree.leaves, numbers(fields, "leaves", kMaxLeaves));
    BRAID_CHECK(fields.finish());
    for (const auto* const list : {&threshold, &left, &right, &mean}) {
        if (list->size() != feature.size()) {
            return invalid_argument("a tree of the model has lists of different lengths");
        }
    }
    for (std::size_t i = 0; i < feature.size(); ++i) {
        Tree::Node& node = tree.nodes.emplace_back();
        BRAID_TRY(const auto named, whole<std::uint16_t>(feature[i]));
        if (named >= place.size()) {
            return invalid_argument("a tree of the model uses a feature that it does not name");
        }
        node.feature = static_cast<std::uint16_t>(place[named]);
        node.threshold = threshold[i];
        BRAID_TRY(node.left, whole<std::int32_t>(left[i]));
        BRAID_TRY(node.right, whole<std::int32_t>(right[i]));
        node.value = mean[i];
    }
    return tree;
}

Result<std::vector<std::size_t>> places_of(const std::vector<std::string>& names) {
    std::vector<std::size_t> places;
    for (const std::string& name : names) {
        const std::size_t place = feature_index(name);
        if (place == kFeatures) {
            return fail(ErrorCode::Unsupported, "the model was trained on a feature \"" + name +
                                                    "\", which this version does not compute");
        }
        places.push_back(place);
    }
    return places;
}

Result<Vector> weights_from(const Object& named) {
    Vector out{};
    for (const auto& [name, weight] : named) {
        BRAID_TRY(const auto places, places_of({name}));
        if (!weight.is_number()) {
            return invalid_argument("the model's weight of \"" + name + "\" is no number");
        }
        out[places.front()] = weight.as_double();
    }
    return out;
}

}  // namespace

std::string write_model(const Model& model) {
    Object out{{"braid_ranker", 1},
               {"features", column(features(), [](const Feature& f) { return Value(f.name); })},
               {"prior", model.prior()}};
    Object linear;
    for (std::size_t i = 0; i < kFeatures; ++i) {
        if (model.linear()[i] != 0) linear.set(features()[i].name, model.linear()[i]);
    }
    if (!linear.empty()) out.set("linear", Value(std::move(linear)));
    out.set("trees", column(model.trees(), [](const Tree& tree) { return to_value(tree); }));
    out.set("made", Value(model.made()));
    return json::print(Value(std::move(out)));
}

Result<Model> read_model(std::string_view text) {
    const auto parsed = json::parse(text);
    if (!parsed) return fail("the model of a ranking", parsed.error());
    BRAID_TRY(Fields fields, Fields::of(*parsed));
    BRAID_TRY(const auto version, fields.integer("braid_ranker"));
    if (!version) return invalid_argument("this is not a ranking model: no \"braid_ranker\"");
    if (*version != 1) {
        return fail(ErrorCode::Unsupported, "the model has format " + std::to_string(*version) +
                                                ", this version reads format 1");
    }
    BRAID_TRY(const auto names, fields.required("features", fields.strings("features")));
    BRAID_TRY(const auto places, places_of(names));
    Model::Parts parts;
    BRAID_TRY(parts.prior, fields.required("prior", fields.number("prior")));
    BRAID_TRY(const Object* const linear, fields.object("linear"));
    if (linear != nullptr) {
        BRAID_TRY(parts.linear, weights_from(*linear));
    }
    BRAID_TRY(const Array* const trees, fields.array("trees"));
    if (trees == nullptr || trees->size() > kMaxTrees) {
        return invalid_argument("\"trees\" must be a list of at most " + std::to_string(kMaxTrees) +
                                " trees");
    }
    for (const Value& tree : *trees) {
        BRAID_TRY(parts.trees.emplace_back(), tree_from(tree, places));
    }
    BRAID_TRY(const Object* const made, fields.object("made"));
    if (made != nullptr) parts.made = *made;
    BRAID_CHECK(fields.finish());
    return Model::create(std::move(parts));
}

}  // namespace braid::rank
