#include "braid/retrieval/missing.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/forwarding.hpp"
#include "braid/retrieval/retriever.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

/// A backend that promises nothing, whatever it does.
class Unpromising final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;

    Capabilities capabilities() const override { return {}; }
};

class Missing : public ::testing::Test {
protected:
    Missing() {
        auto store = std::make_unique<LocalStore>();
        store->add("default", {chunk_of("a", "foxes hunt"), chunk_of("b", "foxes sleep")});
        backend = std::make_unique<Unpromising>(std::move(store));
        request.query = "foxes";
    }

    Answer answer(const Principal& principal = {}) const {
        const Retriever retriever(*backend, fake_query_embedder(), application_options());
        auto found = retriever.retrieve(request, principal, {});
        EXPECT_TRUE(found);
        return found ? *std::move(found) : Answer();
    }
    std::vector<std::string> warnings(const Principal& principal = {}) const {
        return answer(principal).warnings;
    }

    std::unique_ptr<Backend> backend;
    Request request;
};

using Warnings = std::vector<std::string>;

TEST_F(Missing, CapabilitiesThatMakeNoDifferenceAreNotNamed) {
    EXPECT_EQ(warnings(), Warnings{});
}

TEST_F(Missing, CapabilitiesAreNamedWhereTheRequestNeedsThem) {
    request.exact = true;
    EXPECT_EQ(warnings(),
              Warnings{"this database has no exact dense search: \"exact\" was ignored"});
    request.exact = false;
    request.top_k = 1;
    EXPECT_EQ(warnings(), Warnings{"this database has no snapshots: what is written meanwhile may "
                                   "change later pages"});
    request.top_k.reset();
    const Request usual = request;
    request.query = "foxxes";
    request.strategy = Strategy::Sparse;
    EXPECT_EQ(warnings(), Warnings{"this database corrects no misspelt words"});
    request.typos = false;
    EXPECT_EQ(warnings(), Warnings{});
    request = usual;
    EXPECT_EQ(warnings({.clearance = "normal"}),
              Warnings{"this database weights words by all its chunks, including those you may "
                       "not see"});
    request.explain = true;
    EXPECT_EQ(warnings().size(), 3U);
    request.strategy = Strategy::Dense;
    EXPECT_EQ(warnings(), Warnings{"this database does not rank whole lists: \"explain\" "
                                   "shows only scores"});
}

TEST_F(Missing, ABm25ThatCannotBeChosenIsNamed) {
    request.strategy = Strategy::Sparse;
    request.bm25.k1 = 0.5;
    EXPECT_EQ(warnings(), Warnings{"this database scores words only as its collections say: "
                                   "\"bm25\" was ignored"});
    EXPECT_EQ(answer().unused, std::vector<std::string>{"bm25"});
    request.strategy = Strategy::Dense;
    EXPECT_EQ(warnings(), Warnings{});
}

TEST_F(Missing, WithoutQueryLanguageWordsAreSearched) {
    request.query_syntax = true;
    request.strategy = Strategy::Sparse;
    EXPECT_EQ(warnings(), Warnings{"this database has no query language: the query was searched as "
                                   "plain words"});
}

}  // namespace
}  // namespace braid::retrieval
