#include "braid/wire/error_json.hpp"

namespace braid::wire {

Value error_to_value(const Error& error) {
    return Object{{"error", Object{{"code", error_facts(error.code).name},
                                   {"message", Value(error.message)}}}};
}

}  // namespace braid::wire
