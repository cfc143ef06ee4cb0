#pragma once

#include <functional>
#include <string>
#include <vector>

#include "braid/backend.hpp"

namespace braid::testing {

/// One change of a database, acknowledged or not.
struct Step {
    std::string name;
    std::function<Result<>(Backend&)> run;
};

/// Every kind of change: collections made and dropped, batches with and without vectors, updates,
/// deletions of each kind, a rewrite. Each text holds the word "all".
const std::vector<Step>& workload();

/// Everything a reader can get, as text. Versions differ from database to database: named, they are
/// numbered as they come up, so that two databases can be compared.
enum class ShownVersions { Whole, Named };
std::string state_of(const Backend& backend, ShownVersions versions = ShownVersions::Whole);

/// The dense leg holds the chunks with a vector, the sparse one those with the word "all": they
/// must be the chunks that are there.
void expect_both_legs_agree(const Backend& backend);

/// A check finds no problem.
void expect_check_is_clean(const Backend& backend);

}  // namespace braid::testing
