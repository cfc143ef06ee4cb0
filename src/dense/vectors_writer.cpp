#include "braid/dense/vectors_writer.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "braid/core/parallel.hpp"
#include "braid/dense/stored_vectors.hpp"
#include "braid/kernels/dense.hpp"

namespace braid::dense {
namespace {

constexpr std::uint64_t kPiece = 1024;  // rows; whole blocks
constexpr std::uint64_t kWave = 64;     // pieces coded before their lines are written
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
/// Memory for waiting blocks. Above a million rows, the remaining ones are coded twice.
constexpr std::size_t kWaitingBytes = std::size_t{32} << 20;

Result<> go_on(const BuildControl& control, double done) {
    if (control.stop.stop_requested()) {
        return fail(ErrorCode::Cancelled, "building the index of vectors was stopped");
    }
    if (control.progress) control.progress(done);
    return {};
}

/// For each row, writes what `append` puts into a buffer, a megabyte at a time.
template <class Append>
Result<> write_each(std::uint64_t count, store::SectionSink& sink, const BuildControl& control,
                    Append append) {
    std::vector<std::byte> buffer;
    for (std::uint64_t row = 0; row < count; ++row) {
        BRAID_CHECK(append(row, buffer));
        if (buffer.size() < kBufferBytes && row + 1 < count) continue;
        if (control.stop.stop_requested()) return go_on(control, 0);
        BRAID_CHECK(sink.write(buffer));
        buffer.clear();
    }
    return {};
}

Result<> write_rows(const RowSource& rows, const VectorsOptions& options, store::SectionSink& sink,
                    const BuildControl& control) {
    using Buffer = std::vector<std::byte>;
    BRAID_CHECK(sink.begin(kRowsSection));
    BRAID_CHECK(
        write_each(rows.size(), sink, control, [&](std::uint64_t row, Buffer& buffer) -> Result<> {
            BRAID_TRY(const auto bytes, rows.row(row));
            buffer.insert(buffer.end(), bytes.begin(), bytes.end());
            return {};
        }));
    BRAID_CHECK(sink.begin(kNormsSection));
    return write_each(
        rows.size(), sink, control, [&](std::uint64_t row, Buffer& buffer) -> Result<> {
            BRAID_TRY(const double norm, rows.norm(row));
            if (!std::isfinite(norm) || norm < 0 ||
                (norm == 0 && options.metric == Metric::Cosine)) {
                return fail(ErrorCode::Corruption,
                            "vector " + std::to_string(row) + " has an impossible length");
            }
            const auto bytes = std::as_bytes(std::span(&norm, 1));
            buffer.insert(buffer.end(), bytes.begin(), bytes.end());
            return {};
        });
}

/// Writes the lines of all rows, then their blocks. A sink takes one section at a time: the blocks
/// of newly coded pieces wait in memory, as many as there is room for; the rest are built from the
/// source again.
class CodeWriter {
public:
    CodeWriter(const RowSource& rows, const VectorsOptions& options, const Transform& transform)
        : rows_(rows),
          options_(options),
          transform_(transform),
          offsets_(transform.metric() == Metric::Euclidean),
          block_bytes_(kernels::block_bytes(transform.code_dimensions(), offsets_)),
          pieces_((rows.size() + kPiece - 1) / kPiece),
          waiting_(pieces_),
          room_(kWaitingBytes / (kPiece / kernels::kBlockVectors * block_bytes_)) {}

    Result<> write(store::SectionSink& sink, const BuildControl& control) {
        BRAID_CHECK(transform_.write(sink));
        BRAID_CHECK(sink.begin(kLinesSection));
        for (std::uint64_t first = 0; first < pieces_; first += kWave) {
            BRAID_CHECK(go_on(control, share(first) * 0.95));
            BRAID_CHECK(write_lines(first, std::min(kWave, pieces_ - first), sink));
        }
        BRAID_CHECK(go_on(control, 0.95));
        BRAID_CHECK(sink.begin(kBlocksSection));
        for (std::uint64_t piece = 0; piece < pieces_; ++piece) {
            if (control.stop.stop_requested()) return go_on(control, 0.95);
            if (waiting_[piece].empty()) {
                BRAID_TRY(const Coded coded, code(piece));
                waiting_[piece] = blocks_of(coded.codes);
            }
            BRAID_CHECK(sink.write(std::as_bytes(std::span(waiting_[piece]))));
            waiting_[piece] = {};
        }
        return {};
    }

private:
    struct Coded {
        std::vector<Code> codes;
        bool anew = false;
    };

    double share(std::uint64_t piece) const noexcept {
        return static_cast<double>(piece) / static_cast<double>(pieces_);
    }

    Result<> write_lines(std::uint64_t first, std::uint64_t count, store::SectionSink& sink) {
        std::vector<Result<Coded>> wave(count, Coded());
        core::run_computing(count, [&](std::size_t i) {
            wave[i] = code(first + i);
            if (wave[i] && wave[i]->anew && first + i < room_) {
                waiting_[first + i] = blocks_of(wave[i]->codes);
            }
        });
        std::vector<std::uint8_t> lines;
        for (auto& coded : wave) {
            BRAID_CHECK(coded);
            lines.clear();
            for (const Code& code : coded->codes) {
                lines.insert(lines.end(), code.line.begin(), code.line.end());
            }
            BRAID_CHECK(sink.write(std::as_bytes(std::span(lines))));
        }
        return {};
    }

    Result<Coded> code(std::uint64_t piece) const {
        const std::uint64_t first = piece * kPiece;
        const std::uint64_t end = std::min(rows_.size(), first + kPiece);
        Coded coded;
        coded.codes.resize(end - first);
        std::vector<std::uint64_t> missing;
        for (std::uint64_t i = first; i < end; ++i) {
            BRAID_TRY(const auto there, rows_.code(i, transform_));
            if (there) {
                coded.codes[i - first] = *there;
            } else {
                missing.push_back(i);
            }
        }
        coded.anew = !missing.empty();
        std::vector<float> wide(options_.dimension);
        for (const std::uint64_t row : missing) {
            BRAID_TRY(const auto bytes, rows_.row(row));
            BRAID_TRY(const double norm, rows_.norm(row));
            widen_row(options_.precision, bytes, wide);
            coded.codes[row - first] = encode(transform_, wide.data(), norm);
        }
        return coded;
    }

    std::vector<std::uint8_t> blocks_of(std::span<const Code> codes) const {
        constexpr std::size_t kVectors = kernels::kBlockVectors;
        const std::size_t count = (codes.size() + kVectors - 1) / kVectors;
        std::vector<std::uint8_t> blocks(count * block_bytes_);
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const auto block = std::span(blocks).subspan(i / kVectors * block_bytes_, block_bytes_);
            put_into_block(codes[i], i % kVectors, transform_.code_dimensions(), offsets_, block);
        }
        return blocks;
    }

    const RowSource& rows_;
    const VectorsOptions& options_;
    const Transform& transform_;
    bool offsets_;
    std::size_t block_bytes_;
    std::uint64_t pieces_;
    std::vector<std::vector<std::uint8_t>> waiting_;
    std::uint64_t room_;  // this many pieces may wait, the first ones
};

}  // namespace

Result<std::shared_ptr<const Transform>> learn_transform(const RowSource& rows,
                                                         const VectorsOptions& options,
                                                         const BuildControl& control) {
    const std::uint64_t wanted = options.dimension > 1024 ? 4096 : 8192;
    const std::uint64_t count = std::min(rows.size(), wanted);
    std::vector<float> sample(count * options.dimension);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t row = i * rows.size() / count;
        const auto to = std::span(sample).subspan(i * options.dimension, options.dimension);
        BRAID_TRY(const auto bytes, rows.row(row));
        widen_row(options.precision, bytes, to);
        if (options.metric != Metric::Cosine) continue;
        BRAID_TRY(const double norm, rows.norm(row));
        const auto scale = static_cast<float>(1 / norm);
        for (float& x : to) x *= scale;
    }
    BRAID_TRY(Transform transform, Transform::train(
                                       sample, options.dimension, options.metric, options.seed,
                                       [&] { return control.stop.stop_requested(); }, rows.size()));
    return std::make_shared<const Transform>(std::move(transform));
}

Result<> write_vectors(const RowSource& rows, const VectorsOptions& options,
                       const Transform* transform, store::SectionSink& sink,
                       const BuildControl& control) {
    VectorsMeta meta;
    meta.count = rows.size();
    meta.dimension = static_cast<std::uint32_t>(options.dimension);
    meta.metric = options.metric;
    meta.precision = options.precision;
    if (transform != nullptr) {
        meta.code_dimensions = static_cast<std::uint32_t>(transform->code_dimensions());
        meta.transform_id = transform->id();
    }
    BRAID_CHECK(go_on(control, 0));
    BRAID_CHECK(write_meta(meta, sink));
    BRAID_CHECK(write_rows(rows, options, sink, control));
    if (transform != nullptr) {
        BRAID_CHECK(CodeWriter(rows, options, *transform).write(sink, control));
    }
    return go_on(control, 1);
}

}  // namespace braid::dense
