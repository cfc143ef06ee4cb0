#pragma once

#include <cstdint>
#include <string>

#include "braid/core/findings.hpp"
#include "braid/result.hpp"
#include "braid/segment/segment.hpp"
#include "braid/text/analyzer.hpp"
#include "braid/types.hpp"

namespace braid::segment {

/// Verifies a segment: every block's checksum, then that the words, vectors, labels, columns and
/// counts of each row are those of its stored document. Problems go into the findings.
Result<> check_segment(const Segment& segment, const Schema& schema, const text::Analyzer& analyzer,
                       core::Findings& findings, const CallLimits& limits);

}  // namespace braid::segment
