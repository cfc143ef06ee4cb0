#pragma once

#include <span>

#include "braid/answer.hpp"
#include "braid/fusion/auto_weights.hpp"
#include "braid/fusion/fuse.hpp"

namespace braid::retrieval {

/// How "auto" came to its weights, for receipts.
ReceiptChoice choice_for_receipts(const fusion::Choice& choice);

/// What the receipts of all fused hits have in common: the method, and facts of the lists, which
/// are those given to the fusion.
Receipt common_receipt(const fusion::Fused& fused, std::span<const fusion::RankedList> lists,
                       const fusion::Options& options);
/// The rest of the receipt of one fused hit.
Receipt receipt_of(const fusion::Fused& fused, const fusion::FusedHit& hit,
                   std::span<const fusion::RankedList> lists, Metric metric);
/// Puts what they have in common into one of them.
void complete(Receipt& receipt, const Receipt& common);

/// The receipt of a hit of a single list, whose scores are taken as they are.
Receipt plain_receipt(std::string_view source, double score, std::size_t rank, Metric metric);

/// The receipt of a hit of multi_hop: the score times `decay`, divided by it if negative.
Receipt hop_receipt(double score, std::size_t rank, double decay, Metric metric);

}  // namespace braid::retrieval
