#pragma once

#include <string>
#include <vector>

#include "braid/request.hpp"
#include "braid/retrieval/plan.hpp"

namespace braid::retrieval {

/// The keys that a request gives and its plan has no use for, in the request's order. Every key
/// that can be without effect is looked at here and nowhere else.
std::vector<std::string> unused_keys(const Request& request, const Plan& plan);

/// Whether phrasings of the query would be searched.
bool uses_phrasings(const Request& request, const Plan& plan);
/// Whether a hypothetical answer would be embedded instead of the query.
bool uses_hypothetical_answer(const Request& request, const Plan& plan);

}  // namespace braid::retrieval
