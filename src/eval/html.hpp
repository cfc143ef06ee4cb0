#pragma once

#include <string>
#include <string_view>

namespace braid::eval {

/// Text that cannot end or start markup, in an element or a quoted attribute. Control characters
/// that HTML forbids become U+FFFD.
std::string escaped(std::string_view text);

/// Not longer than `code_points`, an ellipsis for what was cut.
std::string shortened(std::string_view text, std::size_t code_points);

struct Point {
    double x = 0.0;
    double y = 0.0;
};

/// Writes one inline SVG picture. Texts are escaped; classes are ours and go as they are.
class Svg {
public:
    /// `label` is what a screen reader says of the picture.
    Svg(double width, double height, std::string_view label);

    void line(Point from, Point to, std::string_view style);
    /// `tip` is shown while the pointer rests on the rectangle; none if empty.
    void rect(Point corner, double width, double height, std::string_view style,
              std::string_view tip = {});
    void circle(Point center, double radius, std::string_view style, std::string_view tip = {});
    void text(Point at, std::string_view text, std::string_view style);
    /// `shape` in the language of the attribute "d".
    void path(std::string_view shape, std::string_view style);

    std::string finish() &&;

private:
    void close(std::string_view element, std::string_view tip);

    std::string out_;
};

/// "12.5": a coordinate.
std::string coordinate(double value);

}  // namespace braid::eval
