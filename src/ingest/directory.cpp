#include "braid/ingest/directory.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

#include "braid/core/sha256.hpp"
#include "braid/ingest/document_ids.hpp"
#include "braid/text/utf8.hpp"

namespace braid::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamedIds = 3;  // in a warning

enum class Kind { Markdown, Plain };

std::optional<Kind> kind_of(const fs::path& path) {
    std::string extension = path.extension().string();
    std::ranges::transform(extension, extension.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (extension == ".md" || extension == ".markdown") return Kind::Markdown;
    if (extension == ".txt" || extension == ".text") return Kind::Plain;
    return std::nullopt;
}

Result<std::string> read_text(const SourceFile& file, std::uint64_t max_bytes) {
    if (file.bytes > max_bytes) {
        return invalid_argument("it has " + std::to_string(file.bytes) + " bytes, the limit is " +
                                std::to_string(max_bytes));
    }
    std::ifstream in(file.path, std::ios::binary);
    if (!in) return fail(ErrorCode::IoError, "it cannot be opened");
    std::string text(static_cast<std::size_t>(file.bytes), '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) return fail(ErrorCode::IoError, "it cannot be read");
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    BRAID_CHECK(text::require_utf8(text, "its text"));
    return text;
}

/// "3 documents …: a, b, c, …"
std::string count_and_name(const std::vector<std::string>& ids, std::string_view one,
                           std::string_view many) {
    std::string text = ids.size() == 1 ? "1 " + std::string(one)
                                       : std::to_string(ids.size()) + " " + std::string(many);
    for (std::size_t i = 0; i < std::min(ids.size(), kNamedIds); ++i) {
        text += (i == 0 ? ": " : ", ") + ids[i];
    }
    return ids.size() > kNamedIds ? text + ", …" : text;
}

class DatabaseTarget final : public DirectoryTarget {
public:
    DatabaseTarget(Database& database, const DirectoryOptions& options)
        : database_(database), scope_{options.collection, options.namespace_, {}, {}} {}

    Result<std::string> embedder() override {
        BRAID_TRY(CollectionInfo info, database_.describe(scope_.collection));
        return std::move(info.schema.vectors.embedder);
    }
    Result<std::optional<TokenCounter>> token_counter() override {
        return database_.token_counter(scope_.collection);
    }
    Result<std::vector<std::optional<Chunk>>> get(
        const std::vector<std::string>& chunk_ids) override {
        return database_.get(scope_, chunk_ids);
    }
    Result<std::uint64_t> count(const Value& filter) override {
        ReadScope scope = scope_;
        BRAID_TRY(scope.filter, parse_filter(filter));
        return database_.count(scope);
    }
    Result<WriteReport> replace(std::vector<Chunk> chunks) override {
        WriteOptions whole;
        whole.replace_documents = true;
        return database_.add(scope_.collection, std::move(chunks), scope_.namespace_, whole);
    }
    Result<> update(std::vector<MetadataUpdate> updates) override {
        BRAID_CHECK(database_.update(scope_.collection, std::move(updates), scope_.namespace_));
        return {};
    }
    Result<std::uint64_t> remove(const std::vector<std::string>& chunk_ids) override {
        BRAID_TRY(const WriteReport removed,
                  database_.remove(scope_, {.chunk_ids = chunk_ids, .document_ids = {}}));
        return removed.written;
    }

private:
    Database& database_;
    ReadScope scope_;
};

/// The chunks of a document, in its order: as cutting numbers them, up to the first that is
/// missing.
Result<std::vector<Chunk>> document_in(DirectoryTarget& target, const std::string& document_id) {
    constexpr std::size_t at_once = 64;
    std::vector<Chunk> chunks;
    while (true) {
        std::vector<std::string> ids;
        for (std::size_t i = 0; i < at_once; ++i) {
            ids.push_back(document_id + "#" + std::to_string(chunks.size() + i));
        }
        BRAID_TRY(auto found, target.get(ids));
        for (auto& chunk : found) {
            if (!chunk) return chunks;
            chunks.push_back(*std::move(chunk));
        }
    }
}

/// A document as it is stored before its file is read again.
struct Stored {
    DocumentId document;
    std::string key;            // of the file
    std::vector<Chunk> chunks;  // none: it is new
};

/// The work on some directories.
class DirectoryIngest {
public:
    DirectoryIngest(DirectoryTarget& target, const DirectoryOptions& options)
        : target_(target), options_(options), chunking_(options.chunking) {}

    Result<DirectoryReport> run(const std::vector<fs::path>& roots) {
        std::vector<SourceFile> files;
        for (const fs::path& root : roots) {
            BRAID_TRY(auto found, list_text_files(root));
            std::ranges::move(found, std::back_inserter(files));
        }
        BRAID_TRY(const std::string embedder, target_.embedder());
        BRAID_TRY(const auto counter, target_.token_counter());
        if (counter && !chunking_.count_tokens) {
            chunking_.count_tokens = counter->count;
            if (counter->limit > 0) {
                chunking_.max_tokens = std::min(chunking_.max_tokens, counter->limit);
            }
        }
        settings_ = embedder + "\n" + std::to_string(chunking_.max_tokens) + "\n" +
                    std::to_string(chunking_.overlap_tokens) + "\n";
        report_.files = files.size();
        DirectoryProgress progress{.files_done = 0, .files = files.size(), .chunks = 0};
        for (const SourceFile& file : files) {
            if (options_.stop.stop_requested()) {
                return fail(ErrorCode::Cancelled, "interrupted; what was written stays");
            }
            BRAID_CHECK(add(file));
            ++progress.files_done;
            progress.chunks = report_.chunks;
            if (options_.progress) options_.progress(progress);
        }
        warn_about_ids();
        return std::move(report_);
    }

private:
    Result<> add(const SourceFile& file) {
        const auto text = read_text(file, options_.max_file_bytes);
        if (!text) {
            report_.failed.push_back(file.path.string() + ": " + text.error().message);
            return {};
        }
        const std::string hashed = settings_ + *text;
        const std::string fingerprint =
            core::sha256_hex(std::as_bytes(std::span(hashed))).substr(0, 32);
        BRAID_TRY(const auto stored, find(file));
        if (!stored) {
            report_.failed.push_back(file.path.string() +
                                     ": other documents have every id that it could have");
            return {};
        }
        claimed_.insert(stored->document.id);
        if (is_unchanged(stored->chunks, fingerprint)) {
            ++report_.unchanged;
            return mark(*stored);
        }
        return write(file, *text, fingerprint, *stored);
    }

    /// What is there of the file. None if there is no id for it.
    Result<std::optional<Stored>> find(const SourceFile& file) {
        const FileIds ids = file_ids(file.place, file.below);
        std::vector<std::string> firsts;
        firsts.reserve(ids.ids.size());
        for (const std::string& id : ids.ids) firsts.push_back(id + "#0");
        BRAID_TRY(auto present, target_.get(firsts));
        while (true) {
            auto document =
                choose_document_id(ids, present, options_.replace,
                                   [&](const std::string& id) { return claimed_.contains(id); });
            if (!document) return std::nullopt;
            const auto place = std::ranges::find(ids.ids, document->id) - ids.ids.begin();
            auto& first = present[static_cast<std::size_t>(place)];
            if (!first) {
                BRAID_TRY(const bool taken, is_others(document->id));
                if (taken) {
                    first.emplace();
                    continue;
                }
            }
            Stored stored{.document = *std::move(document), .key = ids.key, .chunks = {}};
            if (first) {
                BRAID_TRY(stored.chunks, document_in(target_, stored.document.id));
            }
            return stored;
        }
    }

    /// Whether chunks that came from no file make up a document of this id. Counting costs a pass
    /// over the collection, so it is first seen whether there are such chunks at all.
    Result<bool> is_others(const std::string& id) {
        const Value no_file = Object{{std::string(kFingerprintKey), Object{{"$exists", false}}}};
        if (!others_) {
            BRAID_TRY(others_, target_.count(no_file));
        }
        if (*others_ == 0) return false;
        BRAID_TRY(const std::uint64_t chunks, target_.count(Object{{"document_id", Value(id)}}));
        return chunks > 0;
    }

    /// Notes the file that chunks came from, where that is not known or was another.
    Result<> mark(const Stored& stored) {
        std::vector<MetadataUpdate> updates;
        for (const Chunk& chunk : stored.chunks) {
            const Value* const key = chunk.metadata.find(kSourceKey);
            if (key != nullptr && *key == Value(stored.key)) continue;
            MetadataUpdate& update = updates.emplace_back();
            update.chunk_id = chunk.chunk_id;
            update.metadata.set(kSourceKey, stored.key);
        }
        if (updates.empty()) return {};
        return target_.update(std::move(updates));
    }

    Result<> write(const SourceFile& file, const std::string& text, const std::string& fingerprint,
                   const Stored& stored) {
        const std::string& id = stored.document.id;
        std::vector<Chunk> chunks = cut(file, id, text);
        for (Chunk& chunk : chunks) {
            chunk.metadata.set("source_path", file.below);
            chunk.metadata.set(kSourceKey, stored.key);
            chunk.metadata.set(kFingerprintKey, fingerprint);
            chunk.metadata.set("source_chunks", chunks.size());
        }
        if (chunks.empty()) {
            BRAID_CHECK(remove_all(stored.chunks));
            report_.failed.push_back(file.path.string() + ": it holds no text");
            return {};
        }
        const std::size_t count = chunks.size();
        const auto written = target_.replace(std::move(chunks));
        if (!written && written.error().code == ErrorCode::Conflict) {
            report_.failed.push_back(file.path.string() + ": " + written.error().message);
            return {};
        }
        if (!written) return fail(file.path.string(), written.error());
        for (const std::string& warning : written->warnings) {
            report_.warnings.push_back(id + ": " + warning);
        }
        if (stored.document.longer) report_.renamed.push_back(id);
        if (stored.document.unmarked) replaced_.push_back(id);
        ++report_.written;
        report_.chunks += count;
        report_.removed += written->removed;
        return {};
    }

    void warn_about_ids() {
        if (!report_.renamed.empty()) {
            report_.warnings.push_back(
                count_and_name(report_.renamed,
                               "file was stored with the name of its folder, because another "
                               "document has its path",
                               "files were stored with the names of their folders, because other "
                               "documents have their paths"));
        }
        if (!replaced_.empty()) {
            report_.warnings.push_back(
                count_and_name(replaced_,
                               "document of an earlier version of braid, which did not note the "
                               "folder, was replaced by the file of its path",
                               "documents of an earlier version of braid, which did not note the "
                               "folder, were replaced by the files of their paths"));
        }
    }

    std::vector<Chunk> cut(const SourceFile& file, const std::string& id,
                           const std::string& text) const {
        std::vector<Chunk> chunks;
        const std::string stem = file.path.stem().string();
        if (kind_of(file.path) == Kind::Markdown) {
            chunks = chunk_markdown(id, text, chunking_);
        } else {
            chunks = chunk_plain(id, stem, text, chunking_);
        }
        for (Chunk& chunk : chunks) {
            if (!chunk.title) chunk.title = stem;
        }
        return chunks;
    }

    /// Every chunk is there with this fingerprint: the last run finished.
    static bool is_unchanged(const std::vector<Chunk>& present, const std::string& fingerprint) {
        if (present.empty()) return false;
        const Value* count = present.front().metadata.find("source_chunks");
        if (count == nullptr || *count != Value(present.size())) return false;
        return std::ranges::all_of(present, [&](const Chunk& chunk) {
            const Value* stored = chunk.metadata.find(kFingerprintKey);
            return stored != nullptr && *stored == Value(fingerprint);
        });
    }

    Result<> remove_all(const std::vector<Chunk>& present) {
        if (present.empty()) return {};
        std::vector<std::string> ids;
        ids.reserve(present.size());
        for (const Chunk& chunk : present) ids.push_back(chunk.chunk_id);
        BRAID_TRY(const std::uint64_t removed, target_.remove(ids));
        report_.removed += removed;
        return {};
    }

    DirectoryTarget& target_;
    const DirectoryOptions& options_;
    ChunkingOptions chunking_;
    std::string settings_;
    std::optional<std::uint64_t> others_;  // chunks that came from no file, once counted
    std::set<std::string> claimed_;        // ids that files of this run have
    std::vector<std::string> replaced_;    // of a version that did not note the file
    DirectoryReport report_;
};

}  // namespace

Result<std::vector<SourceFile>> list_text_files(const fs::path& root) {
    std::error_code error;
    const fs::file_status status = fs::status(root, error);
    if (!fs::exists(status)) {
        return fail(ErrorCode::NotFound, "there is no file or directory \"" + root.string() + "\"");
    }
    const fs::path place = fs::canonical(root, error);
    if (error) {
        return fail(ErrorCode::IoError, "reading \"" + root.string() + "\": " + error.message());
    }
    std::vector<SourceFile> files;
    if (fs::is_regular_file(status)) {
        files.push_back(
            {root, root.filename().generic_string(), place, fs::file_size(root, error)});
        return files;
    }
    auto walk = fs::recursive_directory_iterator(
        root, fs::directory_options::skip_permission_denied, error);
    for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
        const fs::path& path = walk->path();
        const bool hidden = path.filename().string().starts_with('.');
        if (hidden && walk->is_directory(error)) walk.disable_recursion_pending();
        if (hidden || walk->is_symlink(error) || !walk->is_regular_file(error)) continue;
        if (!kind_of(path)) continue;
        const fs::path below = path.lexically_relative(root);
        files.push_back({path, below.generic_string(), place / below, walk->file_size(error)});
    }
    if (error) {
        return fail(ErrorCode::IoError, "reading \"" + root.string() + "\": " + error.message());
    }
    std::ranges::sort(files, {}, &SourceFile::below);
    return files;
}

Result<DirectoryReport> ingest_directory(DirectoryTarget& target,
                                         const std::vector<fs::path>& roots,
                                         const DirectoryOptions& options) {
    return DirectoryIngest(target, options).run(roots);
}

Result<DirectoryReport> ingest_directory(Database& database, const std::vector<fs::path>& roots,
                                         const DirectoryOptions& options) {
    DatabaseTarget target(database, options);
    return DirectoryIngest(target, options).run(roots);
}

}  // namespace braid::ingest
