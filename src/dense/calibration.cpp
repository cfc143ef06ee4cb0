#include "braid/dense/calibration.hpp"

#include <algorithm>
#include <string>

#include "braid/store/bytes.hpp"

namespace braid::dense {
namespace {

constexpr std::uint32_t kCalibrationMagic = 0x41435642;  // "BVCA"
constexpr std::uint32_t kCalibrationVersion = 1;
constexpr std::uint32_t kMostPoints = 1000;

Result<double> read_share(store::ByteReader& reader) {
    BRAID_TRY(const double share, reader.f64("a share"));
    if (!(share >= 0 && share <= 1)) return reader.corrupt("a share that is not from 0 to 1");
    return share;
}

Result<CalibrationPoint> read_point(store::ByteReader& reader) {
    CalibrationPoint point;
    BRAID_TRY(const auto method, reader.u32("the method"));
    if (method != 1 && method != 2) {
        return reader.corrupt("unknown method " + std::to_string(method));
    }
    point.method = static_cast<VectorMethod>(method);
    BRAID_TRY(point.planned, read_share(reader));
    BRAID_TRY(point.found, read_share(reader));
    BRAID_TRY(point.low, read_share(reader));
    BRAID_TRY(point.high, read_share(reader));
    return point;
}

}  // namespace

double Calibration::planned_for(VectorMethod method, double asked) const noexcept {
    bool measured = false;
    double smallest = 1;
    for (const CalibrationPoint& point : points) {
        if (point.method != method) continue;
        measured = true;
        if (point.found >= asked) smallest = std::min(smallest, point.planned);
    }
    return measured ? smallest : asked;
}

Result<> write_calibration(const Calibration& calibration, store::SectionSink& sink) {
    store::ByteWriter writer;
    writer.u32(kCalibrationMagic);
    writer.u32(kCalibrationVersion);
    writer.u64(calibration.rows);
    writer.u64(calibration.queries);
    writer.u32(static_cast<std::uint32_t>(calibration.points.size()));
    for (const CalibrationPoint& point : calibration.points) {
        writer.u32(static_cast<std::uint32_t>(point.method));
        writer.f64(point.planned);
        writer.f64(point.found);
        writer.f64(point.low);
        writer.f64(point.high);
    }
    BRAID_CHECK(sink.begin(kCalibrationSection));
    return sink.write(writer.view());
}

Result<Calibration> read_calibration(const store::SectionSource& source) {
    BRAID_TRY(const store::Section section, source.section(kCalibrationSection));
    BRAID_TRY(const auto bytes, section.bytes());
    store::ByteReader reader(bytes, kCalibrationSection);
    BRAID_TRY(const auto magic, reader.u32("the mark"));
    if (magic != kCalibrationMagic) return reader.corrupt("this is no calibration");
    BRAID_TRY(const auto version, reader.u32("the version"));
    if (version != kCalibrationVersion) {
        return fail(ErrorCode::Unsupported,
                    "a calibration of format version " + std::to_string(version));
    }
    Calibration calibration;
    BRAID_TRY(calibration.rows, reader.u64("the number of rows"));
    BRAID_TRY(calibration.queries, reader.u64("the number of queries"));
    BRAID_TRY(const auto count, reader.u32("the number of points"));
    if (count > kMostPoints) return reader.corrupt("more points than there can be");
    for (std::uint32_t i = 0; i < count; ++i) {
        BRAID_TRY(calibration.points.emplace_back(), read_point(reader));
    }
    BRAID_CHECK(reader.expect_end("the points"));
    return calibration;
}

}  // namespace braid::dense
