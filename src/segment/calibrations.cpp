#include "braid/segment/calibrations.hpp"

#include <algorithm>
#include <utility>

#include "braid/store/bytes.hpp"
#include "braid/store/memory_sections.hpp"
#include "braid/store/sealed.hpp"

namespace braid::segment {
namespace {

constexpr std::uint32_t kCalibrationsMagic = 0x4c435242;  // "BRCL"
constexpr std::uint32_t kCalibrationsVersion = 1;
/// From this many queries on, they are trusted more than the collection's own vectors.
constexpr std::uint64_t kFewQueries = 256;
/// What people ask for changes: after this many queries it is measured again.
constexpr std::uint64_t kManyQueries = 100'000;

using Entries = std::vector<std::pair<std::string, dense::Calibration>>;

Result<Entries> decode_calibrations(std::span<const std::byte> file) {
    store::ByteReader reader(file, kCalibrationName);
    BRAID_CHECK(
        store::open_sealed(reader, kCalibrationsMagic, kCalibrationsVersion, "a calibration"));
    BRAID_TRY(const auto count, reader.varint("the number of namespaces"));
    Entries entries;
    for (std::uint64_t i = 0; i < count; ++i) {
        BRAID_TRY(const auto name, reader.string("a namespace"));
        BRAID_TRY(const auto bytes, reader.string("a calibration"));
        store::MemorySections sections;
        BRAID_CHECK(sections.begin(dense::kCalibrationSection));
        BRAID_CHECK(sections.write(std::as_bytes(std::span(bytes))));
        BRAID_TRY(auto calibration, dense::read_calibration(sections));
        entries.emplace_back(name, std::move(calibration));
    }
    BRAID_CHECK(reader.expect_end("the calibrations"));
    return entries;
}

}  // namespace

Calibrations::Ptr Calibrations::of(const std::string& namespace_) const {
    const std::scoped_lock lock(mutex_);
    const auto found = spaces_.find(namespace_);
    return found == spaces_.end() ? nullptr : found->second.calibration;
}

void Calibrations::set(const std::string& namespace_, dense::Calibration calibration) {
    auto next = std::make_shared<const dense::Calibration>(std::move(calibration));
    const std::scoped_lock lock(mutex_);
    Space& space = spaces_[namespace_];
    space.calibration = std::move(next);
    space.noted_before = space.noted;
}

bool Calibrations::enough_new(const Space& space) {
    const std::uint64_t asked = space.calibration ? space.calibration->asked : 0;
    const std::uint64_t kept = space.recent.size();
    // More of them narrow the interval.
    if (kept >= std::max(kFewQueries, std::min<std::uint64_t>(2 * asked, kKept)) && kept > asked) {
        return true;
    }
    return space.noted - space.noted_before >= kManyQueries;
}

bool Calibrations::note(const std::string& namespace_, std::span<const float> query) {
    const std::scoped_lock lock(mutex_);
    Space& space = spaces_[namespace_];
    const std::uint64_t place = space.noted++;
    if (space.recent.size() < kKept) {
        space.recent.emplace_back(query.begin(), query.end());
    } else {
        space.recent[place % kKept].assign(query.begin(), query.end());
    }
    // Not on every query: the caller only needs telling once.
    return space.noted % kFewQueries == 0 && enough_new(space);
}

std::vector<std::vector<float>> Calibrations::queries(const std::string& namespace_) const {
    const std::scoped_lock lock(mutex_);
    const auto found = spaces_.find(namespace_);
    if (found == spaces_.end() || found->second.recent.size() < kFewQueries) return {};
    return found->second.recent;
}

bool Calibrations::due(const std::string& namespace_, std::uint64_t vectors, bool graph) const {
    const std::scoped_lock lock(mutex_);
    const auto found = spaces_.find(namespace_);
    if (found == spaces_.end() || !found->second.calibration) return true;
    const dense::Calibration& made = *found->second.calibration;
    if (graph && !made.measured(dense::VectorMethod::Graph)) return true;
    if (vectors > 2 * made.rows || 2 * vectors < made.rows) return true;
    return enough_new(found->second);
}

void Calibrations::read(const store::Directory& directory) {
    const auto file = directory.open(kCalibrationName);
    if (!file) return;
    auto entries = decode_calibrations((*file)->bytes());
    if (!entries) return;
    for (auto& [name, calibration] : *entries) set(name, std::move(calibration));
}

std::vector<std::byte> Calibrations::encode() const {
    store::ByteWriter out;
    store::begin_sealed(out, kCalibrationsMagic, kCalibrationsVersion);
    const std::scoped_lock lock(mutex_);
    out.varint(static_cast<std::uint64_t>(std::ranges::count_if(
        spaces_, [](const auto& space) { return space.second.calibration != nullptr; })));
    for (const auto& [name, space] : spaces_) {
        if (!space.calibration) continue;
        store::MemorySections sections;
        // Memory takes all that is written to it.
        (void)dense::write_calibration(*space.calibration, sections);
        const auto section = sections.section(dense::kCalibrationSection);
        const auto bytes = section->bytes();
        out.string(name);
        out.string({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    }
    store::seal(out, kCalibrationsVersion);
    return out.take();
}

}  // namespace braid::segment
