#include <bit>
#include <map>
#include <string_view>
#include <utility>

#include "braid/local/collection.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/sealed.hpp"

namespace braid::local {
namespace {

constexpr std::uint32_t kCountsMagic = 0x4e435242;  // "BRCN"
constexpr std::uint32_t kCountsVersion = 1;
/// Few chunks are counted in no time; of many namespaces, each is small.
constexpr std::uint64_t kFromRows = 4096;
constexpr std::size_t kMostNamespaces = 64;

using Counts = std::map<std::string, CollectionStats>;  // by namespace

std::vector<std::byte> encode_counts(std::uint64_t manifest, const Counts& counts) {
    store::ByteWriter out;
    store::begin_sealed(out, kCountsMagic, kCountsVersion);
    out.u64(manifest);
    out.varint(counts.size());
    for (const auto& [name, stats] : counts) {
        out.string(name);
        for (const std::uint64_t n : {stats.chunks, stats.documents, stats.vectors, stats.terms}) {
            out.varint(n);
        }
        out.u64(std::bit_cast<std::uint64_t>(stats.average_length));
    }
    store::seal(out, kCountsVersion);
    return out.take();
}

/// NotFound or Corruption if it belongs to another manifest or is damaged; the chunks are then
/// counted again.
Result<Counts> decode_counts(std::span<const std::byte> file, std::uint64_t manifest) {
    store::ByteReader in(file, kCountsName);
    BRAID_CHECK(store::open_sealed(in, kCountsMagic, kCountsVersion, "a file of counts"));
    BRAID_TRY(const std::uint64_t of, in.u64("manifest"));
    if (of != manifest) return fail(ErrorCode::NotFound, "these counts belong to another manifest");
    BRAID_TRY(const std::size_t spaces, in.count(13, "namespaces"));
    Counts counts;
    for (std::size_t i = 0; i < spaces; ++i) {
        BRAID_TRY(const std::string_view name, in.string("namespace"));
        CollectionStats& stats = counts[std::string(name)];
        BRAID_TRY(stats.chunks, in.varint("chunks"));
        BRAID_TRY(stats.documents, in.varint("documents"));
        BRAID_TRY(stats.vectors, in.varint("vectors"));
        BRAID_TRY(stats.terms, in.varint("terms"));
        BRAID_TRY(const std::uint64_t length, in.u64("average length"));
        stats.average_length = std::bit_cast<double>(length);
    }
    BRAID_CHECK(in.expect_end("counts"));
    return counts;
}

std::uint64_t hash_of(const Manifest& manifest) {
    return store::checksum(write_manifest(manifest));
}

}  // namespace

std::optional<CollectionStats> Collection::kept_counts(const PointInTime& at,
                                                       const ReadScope& scope) const {
    if (segments_ == nullptr || may_expire() || scope.filter ||
        !scope.principal.sees_everything()) {
        return std::nullopt;
    }
    const Manifest manifest = present_manifest();
    if (manifest.segments.empty() || manifest.flushed != at.sequence) return std::nullopt;
    const auto file = directory_->open(kCountsName);
    if (!file) return std::nullopt;
    auto counts = decode_counts((*file)->bytes(), hash_of(manifest));
    if (!counts) return std::nullopt;
    const auto found = counts->find(scope.namespace_);
    if (found == counts->end()) return std::nullopt;
    return found->second;
}

bool Collection::counts_are_worth_it() const {
    if (segments_ == nullptr || read_only_ || may_expire()) return false;
    const segment::StatePtr now = segments_->state();
    std::uint64_t rows = 0;
    for (const auto& segment : now->segments) rows += segment->rows();
    return rows >= kFromRows && index_->namespaces().size() <= kMostNamespaces;
}

void Collection::keep_counts() {
    if (!counts_are_worth_it()) return;
    const Manifest manifest = present_manifest();
    const auto pinned = pin();
    if (manifest.flushed != pinned->at().sequence) return;
    const std::uint64_t hash = hash_of(manifest);
    if (const auto file = directory_->open(kCountsName)) {
        if (decode_counts((*file)->bytes(), hash)) return;
    }
    Counts counts;
    for (const std::string& name : index_->namespaces()) {
        const Principal everybody;
        const auto view = index_->view(
            {.namespace_ = name, .principal = everybody, .at = manifest.flushed, .limits = {}});
        auto stats = view ? (*view)->stats() : tl::unexpected(view.error());
        if (!stats) return;  // whoever asks will get the error
        counts[name] = *std::move(stats);
    }
    // Without the file, chunks are counted again.
    (void)directory_->replace(kCountsName, encode_counts(hash, counts));
}

}  // namespace braid::local
