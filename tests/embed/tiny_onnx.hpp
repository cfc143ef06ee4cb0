#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace braid::embed {

/// Writes small ONNX models (protocol buffers) by hand, for models no package has.
class TinyOnnx {
public:
    static constexpr std::int64_t kAny = -1;

    struct Port {
        std::string name;
        int element_type = 7;  // 1: float, 7: 64-bit integer
        std::vector<std::int64_t> shape{kAny, kAny};
    };

    TinyOnnx& input(const Port& port) {
        graph_ += field(11, value_info(port));
        return *this;
    }
    TinyOnnx& output(const Port& port) {
        graph_ += field(12, value_info(port));
        return *this;
    }
    TinyOnnx& node(const std::string& operation, const std::vector<std::string>& inputs,
                   const std::string& result, const std::string& attributes = "") {
        std::string text;
        for (const std::string& name : inputs) text += field(1, name);
        graph_ += field(1, text + field(2, result) + field(4, operation) + attributes);
        return *this;
    }
    /// A constant list of 64-bit integers.
    TinyOnnx& constant(const std::string& name, const std::vector<std::int64_t>& values) {
        std::string text = number(1, values.size()) + number(2, 7) + field(8, name);
        for (const std::int64_t value : values)
            text += number(7, static_cast<std::uint64_t>(value));
        graph_ += field(5, text);
        return *this;
    }

    /// An integer attribute for node().
    static std::string attribute(const std::string& name, std::uint64_t value) {
        return field(5, field(1, name) + number(3, value) + number(20, 2));
    }

    std::string bytes() const {
        return number(1, 8) + field(8, field(1, "") + number(2, 13)) +
               field(7, graph_ + field(2, "tiny"));
    }

private:
    static std::string varint(std::uint64_t value) {
        std::string text;
        for (; value >= 128; value >>= 7U) text += static_cast<char>((value & 127U) | 128U);
        return text + static_cast<char>(value);
    }
    static std::string number(unsigned tag, std::uint64_t value) {
        return varint(tag << 3U) + varint(value);
    }
    static std::string field(unsigned tag, const std::string& text) {
        return varint((tag << 3U) | 2U) + varint(text.size()) + text;
    }
    static std::string value_info(const Port& port) {
        std::string shape;
        for (const std::int64_t extent : port.shape) {
            shape += field(1, extent == kAny ? field(2, "n" + std::to_string(shape.size()))
                                             : number(1, static_cast<std::uint64_t>(extent)));
        }
        const std::string tensor =
            number(1, static_cast<std::uint64_t>(port.element_type)) + field(2, shape);
        return field(1, port.name) + field(2, field(1, tensor));
    }

    std::string graph_;
};

}  // namespace braid::embed
