#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "backend/model.hpp"
#include "braid/backend.hpp"

namespace braid::testing {

/// An implementation of Backend, and what it promises.
struct BackendUnderTest {
    std::string name;
    std::function<std::unique_ptr<Backend>()> make;  // a new, empty one
    Capabilities promised;
    bool okapi = true;  // scores by Bm25Variant::Okapi; otherwise such schemas are Unsupported
    bool filters_here = true;  // filters are decided in this process, and stop with the call
    /// How words are weighed where exact_lengths, scoped_statistics or live_df is not promised.
    std::function<WordWeighing(const Schema&)> weighing{};

    friend std::ostream& operator<<(std::ostream& out, const BackendUnderTest& under_test) {
        return out << under_test.name;
    }
};

/// The contract of include/braid/backend.hpp as tests: strict where a capability is promised, with
/// the tolerance stated here where it is not. A test program runs it over its backends with
/// INSTANTIATE_TEST_SUITE_P(Mine, BackendConformance, ValuesIn(...), backend_name).
class BackendConformance : public ::testing::TestWithParam<BackendUnderTest> {
protected:
    BackendConformance() : backend_(GetParam().make()) {}
    /// Whatever a test did, a check finds nothing wrong.
    void TearDown() override;

    Backend& backend() { return *backend_; }
    const Backend& backend() const { return *backend_; }
    static const Capabilities& promised() { return GetParam().promised; }
    /// That weighs words as the backend says it does.
    static Model model_of(const Schema& schema) {
        return Model(schema, GetParam().weighing ? GetParam().weighing(schema) : WordWeighing{});
    }

    /// A collection of which the calls below speak.
    void create(const Schema& schema, const std::string& name = "c") {
        must(backend().create_collection(name, schema));
        collection_ = name;
    }
    const std::string& collection() const { return collection_; }

    Result<WriteReport> try_put(std::vector<Chunk> chunks, const WriteOptions& options = {},
                                const std::string& namespace_ = "default") {
        return backend().upsert(collection_, namespace_, std::move(chunks), options);
    }
    WriteReport put(std::vector<Chunk> chunks, const std::string& namespace_ = "default") {
        return must(try_put(std::move(chunks), {}, namespace_));
    }
    WriteReport erase(const DeleteSelector& selector, const Principal& principal = {}) {
        return must(backend().remove(scope_of(collection_, principal), selector, {}));
    }

    ReaderPtr now() const {
        const std::vector<std::string> names{collection_};
        return must(backend().snapshot(names, {}));
    }
    ReadScope scope(Principal principal = {}, std::optional<Filter> filter = std::nullopt) const {
        return scope_of(collection_, std::move(principal), std::move(filter));
    }

    // At a snapshot of now.
    Schema schema() const { return must(now()->schema(collection_)); }
    LegResult search(const Leg& leg) const { return must(now()->search_leg(leg)); }
    Ids find_words(const std::string& query) const {
        Leg leg{.kind = LegKind::Sparse, .scope = scope(), .depth = 1000};
        leg.phrasings.push_back(must(now()->analyze(collection_, query)));
        return ids_of(search(leg));
    }
    Ids find_near(std::vector<float> vector) const {
        return ids_of(search(vector_leg(scope(), std::move(vector))));
    }
    std::optional<Chunk> get(const std::string& id) const {
        const Ids ids{id};
        auto found = must(now()->fetch(scope(), ids, true));
        return found.empty() ? std::nullopt : std::move(found.front());
    }
    Ids all_ids(const ReadScope& of) const {
        return ids_of(must(now()->scan(of, "", 1'000'000, false)));
    }
    Ids all_ids() const { return all_ids(scope()); }
    Ids selected(const Filter& filter) const { return all_ids(scope({}, filter)); }
    Ids where(const std::string& field, Filter::Op op, Value operand) const {
        return selected(Filter::compare(op, field, std::move(operand)));
    }

    /// So many matched; or, if the backend says no more, at most so many and all that are listed.
    static void expect_matched(const LegResult& result, std::size_t count);

    /// The leg's list must be that of the model: the same chunks, the same scores, in the order of
    /// score and id, whatever the depth.
    void expect_list(const Leg& leg, const Model& model) const;

private:
    std::unique_ptr<Backend> backend_;
    std::string collection_;
};

/// The same for those that promise the query language, and for the words that are offered for
/// misspelt ones.
class QueryConformance : public BackendConformance {
protected:
    void SetUp() override;
    Leg leg_of(std::vector<QueryClause> clauses, Principal principal = {}) const;
    /// What the clauses find, by id.
    Ids found(std::vector<QueryClause> clauses, Principal principal = {}) const;
    /// A collection of six chunks.
    void fill();
};

std::string backend_name(const ::testing::TestParamInfo<BackendUnderTest>& info);

/// Error that scores may have, relative above 1: none worth the name where the capability is
/// promised, that of floats where a backend does not promise it and says how it weighs words.
double score_tolerance(const Capabilities& capabilities, LegKind kind);

}  // namespace braid::testing
