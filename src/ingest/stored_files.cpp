#include "braid/ingest/stored_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace braid::ingest {
namespace {

constexpr std::size_t kPage = 500;  // chunks per read

std::optional<std::string> text_of(const Chunk& chunk, std::string_view key) {
    const Value* const value = chunk.metadata.find(key);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return value->as_string();
}

/// The chunks of a document, in order: numbered as by the chunker, up to the first missing one.
Result<std::vector<Chunk>> document_in(DirectoryTarget& target, const std::string& document_id,
                                       std::size_t count) {
    std::vector<Chunk> chunks;
    while (chunks.size() < count) {
        std::vector<std::string> ids;
        for (std::size_t i = chunks.size(); i < std::min(count, chunks.size() + kPage); ++i) {
            ids.push_back(document_id + "#" + std::to_string(i));
        }
        BRAID_TRY(auto found, target.get(ids));
        for (auto& chunk : found) {
            if (!chunk) return chunks;
            chunks.push_back(*std::move(chunk));
        }
    }
    return chunks;
}

}  // namespace

Result<std::vector<StoredFile>> StoredFiles::find(std::span<const SourceFile* const> files) {
    std::vector<FileIds> ids;
    std::vector<std::string> firsts;
    for (const SourceFile* const file : files) {
        ids.push_back(file_ids(file->place(), file->below));
        for (const std::string& id : ids.back().ids) firsts.push_back(id + "#0");
    }
    std::vector<std::optional<Chunk>> all;
    for (std::size_t at = 0; at < firsts.size(); at += kPage) {
        const auto last = std::min(firsts.size(), at + kPage);
        BRAID_TRY(auto part, target_.get({firsts.begin() + static_cast<std::ptrdiff_t>(at),
                                          firsts.begin() + static_cast<std::ptrdiff_t>(last)}));
        std::ranges::move(part, std::back_inserter(all));
    }
    std::vector<StoredFile> out;
    std::size_t begin = 0;
    for (const FileIds& file : ids) {
        std::vector<std::optional<Chunk>> present(
            std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(begin)),
            std::make_move_iterator(all.begin() +
                                    static_cast<std::ptrdiff_t>(begin + file.ids.size())));
        begin += file.ids.size();
        StoredFile& stored = out.emplace_back();
        stored.key = file.key;
        while (true) {
            // An id claimed by another file of this run is taken, even if nothing is stored under
            // it yet.
            for (std::size_t i = 0; i < present.size(); ++i) {
                if (is_claimed(file.ids[i])) present[i].emplace();
            }
            stored.document = choose_document_id(
                file, present, replace_, [&](const std::string& id) { return is_claimed(id); });
            if (!stored.document) break;
            auto& first = present[static_cast<std::size_t>(
                std::ranges::find(file.ids, stored.document->id) - file.ids.begin())];
            if (!first) {
                BRAID_TRY(const bool taken, is_others(stored.document->id));
                if (taken) {
                    first.emplace();
                    continue;
                }
            }
            stored.first = std::move(first);
            claimed_.insert(hash_of(stored.document->id));
            break;
        }
    }
    return out;
}

/// Whether chunks that did not come from a file make up a document with this id. Counting costs a
/// pass over the collection, so it first checks whether there are such chunks at all.
Result<bool> StoredFiles::is_others(const std::string& id) {
    const Value no_file = Object{{std::string(kFingerprintKey), Object{{"$exists", false}}}};
    if (!others_) {
        BRAID_TRY(others_, target_.count(no_file));
    }
    if (*others_ == 0) return false;
    BRAID_TRY(const std::uint64_t chunks, target_.count(Object{{"document_id", Value(id)}}));
    return chunks > 0;
}

Result<bool> StoredFiles::is_unchanged(const StoredFile& stored, const SourceFile& file,
                                       const std::string& fingerprint, bool dry_run) {
    if (!stored.first || text_of(*stored.first, kFingerprintKey) != fingerprint) return false;
    const Value* const count = stored.first->metadata.find("source_chunks");
    if (count == nullptr || !count->is_int() || count->as_int() < 1) return false;
    const auto chunks = static_cast<std::size_t>(count->as_int());
    std::vector<Chunk> present;
    if (chunks == 1) {
        present.push_back(*stored.first);
    } else {
        BRAID_TRY(present, document_in(target_, stored.document->id, chunks));
    }
    const bool whole =
        present.size() == chunks && std::ranges::all_of(present, [&](const Chunk& c) {
            return text_of(c, kFingerprintKey) == fingerprint;
        });
    if (!whole || dry_run) return whole;
    std::vector<MetadataUpdate> updates;
    for (const Chunk& chunk : present) {
        if (text_of(chunk, kSourceKey) == stored.key && text_of(chunk, kSource)) continue;
        MetadataUpdate& update = updates.emplace_back();
        update.chunk_id = chunk.chunk_id;
        update.metadata.set(kSourceKey, stored.key);
        update.metadata.set(kSource, file.place().generic_string());
        update.metadata.set(kSourceRoot, file.root->place.generic_string());
    }
    if (!updates.empty()) BRAID_CHECK(target_.update(std::move(updates)));
    return true;
}

Result<std::vector<std::string>> StoredFiles::gone_from(const std::string& root,
                                                        bool missing_only) {
    std::vector<std::string> gone;
    BRAID_CHECK(add_gone(gone, root, missing_only));
    // Folders below may have been given themselves, and hold what this one leaves out.
    const std::string below = root.ends_with('/') ? root : root + "/";
    std::string behind = below;
    ++behind.back();
    BRAID_CHECK(add_gone(gone, Object{{"$gte", Value(below)}, {"$lt", Value(behind)}}, true));
    return gone;
}

/// `roots`: a condition on the folder by which a document was found.
Result<> StoredFiles::add_gone(std::vector<std::string>& gone, const Value& roots,
                               bool missing_only) {
    const Value filter = Object{{std::string(kSourceRoot), roots}, {"chunk_index", 0}};
    std::string after;
    while (true) {
        BRAID_TRY(const auto page, target_.scan(filter, after, kPage));
        for (const Chunk& chunk : page) {
            if (is_claimed(chunk.document_id)) continue;
            std::error_code error;
            const auto source = text_of(chunk, kSource);
            if (!source || (missing_only && std::filesystem::exists(*source, error))) continue;
            gone.push_back(chunk.document_id);
        }
        if (page.size() < kPage) return {};
        after = page.back().chunk_id;
    }
}

}  // namespace braid::ingest
