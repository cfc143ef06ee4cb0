#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::retrieval {

/// Reads the parameters of a stage and remembers which it was asked for, so that finish() can
/// refuse the others. What is absent or null has its default.
class Parameters {
public:
    /// Both must outlive it.
    Parameters(std::string_view stage, const Object& object) : stage_(stage), object_(object) {}

    /// From `min` to `max`, both included.
    Result<double> number(std::string_view key, double default_value, double min, double max);
    Result<bool> boolean(std::string_view key, bool default_value);
    Result<std::vector<std::string>> strings(std::string_view key,
                                             std::vector<std::string> default_value);
    /// Null if absent.
    const Value* any(std::string_view key);

    /// `stage "mmr" has no parameter "lamda"; did you mean "lambda"?`
    Result<> finish() const;

    tl::unexpected<Error> complaint(std::string_view key, std::string_view expected) const;

private:
    std::string_view stage_;
    const Object& object_;
    std::vector<std::string_view> known_;
};

}  // namespace braid::retrieval
