#include "braid/wire/check_json.hpp"

namespace braid::wire {

Value check_to_value(const CheckReport& report) {
    return Object{{"clean", report.clean()},
                  {"collections", report.collections},
                  {"chunks", report.chunks},
                  {"records", report.records},
                  {"bytes", report.bytes},
                  {"superseded", report.superseded},
                  {"problems", Array(report.problems.begin(), report.problems.end())},
                  {"unfinished", Array(report.unfinished.begin(), report.unfinished.end())},
                  {"notes", Array(report.notes.begin(), report.notes.end())}};
}

}  // namespace braid::wire
