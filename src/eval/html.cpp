#include "braid/eval/html.hpp"

#include "braid/core/numbers.hpp"
#include "braid/core/utf8.hpp"

namespace braid::eval {
namespace {

std::string attribute(std::string_view name, double value) {
    return " " + std::string(name) + "=\"" + coordinate(value) + "\"";
}

std::string class_attribute(std::string_view style) {
    return " class=\"" + std::string(style) + "\"";
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) {
                    out += "\xEF\xBF\xBD";
                } else {
                    out += c;
                }
        }
    }
    return out;
}

std::string shortened(std::string_view text, std::size_t code_points) {
    std::string kept(core::first_code_points(text, code_points));
    if (kept.size() < text.size()) kept += "…";
    return kept;
}

std::string coordinate(double value) {
    std::string text = core::fixed(value, 2);
    while (text.ends_with('0')) text.pop_back();
    if (text.ends_with('.')) text.pop_back();
    return text;
}

Svg::Svg(double width, double height, std::string_view label) {
    out_ = "<svg viewBox=\"0 0 " + coordinate(width) + " " + coordinate(height) +
           "\" role=\"img\" aria-label=\"" + escaped(label) + "\">";
}

void Svg::line(Point from, Point to, std::string_view style) {
    out_ += "<line" + attribute("x1", from.x) + attribute("y1", from.y) + attribute("x2", to.x) +
            attribute("y2", to.y) + class_attribute(style) + "/>";
}

void Svg::rect(Point corner, double width, double height, std::string_view style,
               std::string_view tip) {
    out_ += "<rect" + attribute("x", corner.x) + attribute("y", corner.y) +
            attribute("width", width) + attribute("height", height) + class_attribute(style);
    close("rect", tip);
}

void Svg::circle(Point center, double radius, std::string_view style, std::string_view tip) {
    out_ += "<circle" + attribute("cx", center.x) + attribute("cy", center.y) +
            attribute("r", radius) + class_attribute(style);
    close("circle", tip);
}

void Svg::text(Point at, std::string_view text, std::string_view style) {
    out_ += "<text" + attribute("x", at.x) + attribute("y", at.y) + class_attribute(style) + ">" +
            escaped(text) + "</text>";
}

void Svg::path(std::string_view shape, std::string_view style) {
    out_ += "<path d=\"" + std::string(shape) + "\"" + class_attribute(style) + "/>";
}

void Svg::close(std::string_view element, std::string_view tip) {
    if (tip.empty()) {
        out_ += "/>";
    } else {
        out_ += "><title>" + escaped(tip) + "</title></" + std::string(element) + ">";
    }
}

std::string Svg::finish() && {
    return std::move(out_) + "</svg>";
}

}  // namespace braid::eval
