#include "store/faulty_tree.hpp"

#include <algorithm>

namespace braid::store::testing {
namespace {

bool coin(std::mt19937_64& rng) {
    return (rng() & 1) != 0;
}

void apply_change(FaultyFolder::Names& names, const FaultyFolder::Change& change) {
    if (change.removed) names.erase(*change.removed);
    if (change.added) names.insert_or_assign(change.added->first, change.added->second);
}

/// Every sector is old or new; a file that has grown shows zeros where a sector is old.
FaultyFile::Bytes mixed(const FaultyFile::Bytes& before, const FaultyFile::Bytes& after,
                        std::size_t sector, std::mt19937_64& rng) {
    FaultyFile::Bytes result = before;
    result.resize(after.size());
    for (std::size_t start = 0; start < after.size(); start += sector) {
        const std::size_t end = std::min(start + sector, after.size());
        if (coin(rng)) std::copy(&after[start], &after[end - 1] + 1, &result[start]);
    }
    return result;
}

}  // namespace

void FaultyFile::append(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    dirty.emplace_back(cached.size(), cached.size() + bytes.size());
    cached.insert(cached.end(), bytes.begin(), bytes.end());
}

void FaultyFile::truncate(std::size_t size) {
    cached.resize(size);
    for (Range& range : dirty) range.second = std::min(range.second, size);
    std::erase_if(dirty, [](const Range& range) { return range.first >= range.second; });
}

void FaultyFile::drop_cache() {
    if (dirty.empty() && cached.size() == disk.size()) cached = disk;
}

FaultyFile::Bytes FaultyFile::synced() const {
    Bytes result = disk;
    result.resize(cached.size());
    for (const auto& [begin, end] : dirty) {
        std::copy(cached.begin() + static_cast<std::ptrdiff_t>(begin),
                  cached.begin() + static_cast<std::ptrdiff_t>(end),
                  result.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    return result;
}

FaultyFile::Bytes FaultyFile::after_crash(std::mt19937_64& rng, CrashMode mode) const {
    if (mode == CrashMode::DropAll) return disk;
    Bytes after = synced();
    if (mode == CrashMode::KeepAll) return after;
    // A truncation that was not synced happened or did not.
    if (after.size() < disk.size()) return coin(rng) ? disk : after;
    if (mode == CrashMode::TornPrefix) {
        const std::size_t gained = after.size() - disk.size();
        std::size_t kept = disk.size() + static_cast<std::size_t>(rng() % (gained + 1));
        if (coin(rng)) kept = std::max(disk.size(), kept / 512 * 512);
        return {after.begin(), after.begin() + static_cast<std::ptrdiff_t>(kept)};
    }
    if (rng() % 4 == 0) return disk;  // the new length is lost, and with it all that is behind
    return mixed(disk, after, mode == CrashMode::Reordered512 ? 512 : 4096, rng);
}

void FaultyFolder::change(Change change) {
    apply_change(cached, change);
    pending.push_back(std::move(change));
}

std::shared_ptr<FaultyFolder> FaultyFolder::after_crash(std::mt19937_64& rng,
                                                        CrashMode mode) const {
    Names names = disk;
    const std::size_t first_lost =
        mode == CrashMode::TornPrefix ? static_cast<std::size_t>(rng() % (pending.size() + 1)) : 0;
    for (std::size_t i = 0; i < pending.size(); ++i) {
        bool kept = false;
        switch (mode) {
            case CrashMode::DropAll:
                break;
            case CrashMode::KeepAll:
                kept = true;
                break;
            case CrashMode::TornPrefix:
                kept = i < first_lost;
                break;
            case CrashMode::Reordered512:
            case CrashMode::Reordered4096:
                kept = coin(rng);
                break;
        }
        if (kept) apply_change(names, pending[i]);
    }
    auto result = std::make_shared<FaultyFolder>();
    for (const auto& [name, node] : names) {
        if (const auto* file = std::get_if<std::shared_ptr<FaultyFile>>(&node)) {
            auto left = std::make_shared<FaultyFile>();
            left->disk = (*file)->after_crash(rng, mode);
            left->cached = left->disk;
            result->disk.emplace(name, std::move(left));
        } else {
            const auto& folder = std::get<std::shared_ptr<FaultyFolder>>(node);
            result->disk.emplace(name, folder->after_crash(rng, mode));
        }
    }
    result->cached = result->disk;
    return result;
}

}  // namespace braid::store::testing
