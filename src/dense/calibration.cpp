#include "braid/dense/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "braid/store/bytes.hpp"

namespace braid::dense {
namespace {

constexpr std::uint32_t kCalibrationMagic = 0x41435642;  // "BVCA"
constexpr std::uint32_t kCalibrationVersion = 3;         // 2: all points are of the best ten
constexpr std::uint32_t kMostPoints = 1000;

Result<double> read_share(store::ByteReader& reader) {
    BRAID_TRY(const double share, reader.f64("a share"));
    if (!(share >= 0 && share <= 1)) return reader.corrupt("a share that is not from 0 to 1");
    return share;
}

double log_misses(double recall) noexcept {
    return std::log(std::max(1 - recall, 1e-6));
}

/// What to plan for between two points, of which only the second finds enough.
double between(const CalibrationPoint& below, const CalibrationPoint& above,
               double recall) noexcept {
    const double span = log_misses(above.low) - log_misses(below.low);
    const double part = span < 0 ? (log_misses(recall) - log_misses(below.low)) / span : 1;
    const double from = log_misses(below.planned);
    return 1 - std::exp(from + std::clamp(part, 0.0, 1.0) * (log_misses(above.planned) - from));
}

/// How far apart two numbers of hits are, by their ratio.
double apart(std::size_t a, std::size_t b) noexcept {
    const auto positive = [](std::size_t k) {
        return static_cast<double>(std::max<std::size_t>(k, 1));
    };
    return std::abs(std::log(positive(a) / positive(b)));
}

Result<CalibrationPoint> read_point(store::ByteReader& reader, std::uint32_t version) {
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
    if (version == 2) return point;
    BRAID_TRY(point.k, reader.u32("the number of hits"));
    if (point.k == 0) return reader.corrupt("a point of no hits");
    return point;
}

}  // namespace

bool Calibration::measured(VectorMethod method) const noexcept {
    return std::ranges::find(points, method, &CalibrationPoint::method) != points.end();
}

double Calibration::planned_for(VectorMethod method, double recall, std::size_t k) const noexcept {
    std::uint32_t measured_k = 0;
    for (const CalibrationPoint& point : points) {
        if (point.method != method) continue;
        if (measured_k == 0 || apart(point.k, k) < apart(measured_k, k)) measured_k = point.k;
    }
    const CalibrationPoint* below = nullptr;
    double planned = recall;
    for (const CalibrationPoint& point : points) {
        if (point.method != method || point.k != measured_k) continue;
        planned = 1;
        if (point.low >= recall) {
            planned = below == nullptr ? point.planned : between(*below, point, recall);
            break;
        }
        below = &point;
    }
    return by_queries() ? planned : std::max(planned, recall);
}

Result<> write_calibration(const Calibration& calibration, store::SectionSink& sink) {
    store::ByteWriter writer;
    writer.u32(kCalibrationMagic);
    writer.u32(kCalibrationVersion);
    writer.u64(calibration.rows);
    writer.u64(calibration.queries);
    writer.u64(calibration.asked);
    writer.u32(static_cast<std::uint32_t>(calibration.points.size()));
    for (const CalibrationPoint& point : calibration.points) {
        writer.u32(static_cast<std::uint32_t>(point.method));
        writer.f64(point.planned);
        writer.f64(point.found);
        writer.f64(point.low);
        writer.f64(point.high);
        writer.u32(point.k);
    }
    BRAID_CHECK(sink.begin(kCalibrationSection));
    return sink.write(writer.view());
}

Result<Calibration> read_calibration(const store::SectionSource& source) {
    BRAID_TRY(const store::Section section, source.section(kCalibrationSection));
    BRAID_TRY(const auto bytes, section.bytes());
    store::ByteReader reader(bytes, kCalibrationSection);
    BRAID_TRY(const auto magic, reader.u32("the magic number"));
    if (magic != kCalibrationMagic) return reader.corrupt("this is not a calibration");
    BRAID_TRY(const auto version, reader.u32("the version"));
    if (version != 2 && version != kCalibrationVersion) {
        return fail(ErrorCode::Unsupported,
                    "a calibration of format version " + std::to_string(version));
    }
    Calibration calibration;
    BRAID_TRY(calibration.rows, reader.u64("the number of rows"));
    BRAID_TRY(calibration.queries, reader.u64("the number of queries"));
    BRAID_TRY(calibration.asked, reader.u64("the number of queries run"));
    if (calibration.asked > calibration.queries) {
        return reader.corrupt("more queries were run than there are");
    }
    BRAID_TRY(const auto count, reader.u32("the number of points"));
    if (count > kMostPoints) return reader.corrupt("an impossible number of points");
    for (std::uint32_t i = 0; i < count; ++i) {
        BRAID_TRY(const CalibrationPoint point, read_point(reader, version));
        if (!calibration.points.empty()) {
            const CalibrationPoint& last = calibration.points.back();
            if (last.method == point.method && last.k == point.k && last.planned >= point.planned) {
                return reader.corrupt("points that are not in order");
            }
        }
        calibration.points.push_back(point);
    }
    BRAID_CHECK(reader.expect_end("the points"));
    return calibration;
}

}  // namespace braid::dense
