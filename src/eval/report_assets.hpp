#pragma once

#include <string_view>

namespace braid::eval {

/// The style sheet of the report: light and dark, screen and paper.
std::string_view report_style();

/// The report's script: tips, sorting and filtering of the query table, choice of its measure. The
/// page is complete without it.
std::string_view report_script();

}  // namespace braid::eval
