#pragma once

#include <string>
#include <string_view>

#include "braid/exact/visible_rows.hpp"
#include "braid/index/suggest.hpp"

namespace braid::exact {

/// The words of a partition. The arguments must outlive it.
class VisibleWords final : public index::Words {
public:
    explicit VisibleWords(const VisibleRows& visible) : visible_(visible) {}

    Result<> near(std::string_view term, const Nearness& nearness,
                  const Visit& visit) const override;
    Result<Seen> seen(std::string_view term) const override;
    Result<Chunk> chunk(const std::string& id) const override;

private:
    const VisibleRows& visible_;
};

}  // namespace braid::exact
