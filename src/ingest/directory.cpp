#include "braid/ingest/directory.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>

#include "braid/core/sha256.hpp"
#include "braid/text/utf8.hpp"

namespace braid::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFingerprintKey = "source_fingerprint";

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
    Result<std::vector<Chunk>> document(const std::string& document_id) override {
        const std::vector<std::string> first{document_id + "#0"};
        BRAID_TRY(const auto found, database_.get(scope_, first));
        if (!found.front()) return std::vector<Chunk>{};
        return database_.neighbors(scope_, first.front(), static_cast<std::size_t>(-1));
    }
    Result<WriteReport> replace(std::vector<Chunk> chunks) override {
        WriteOptions whole;
        whole.replace_documents = true;
        return database_.add(scope_.collection, std::move(chunks), scope_.namespace_, whole);
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

/// The work on one directory.
class DirectoryIngest {
public:
    DirectoryIngest(DirectoryTarget& target, const DirectoryOptions& options)
        : target_(target), options_(options), chunking_(options.chunking) {}

    Result<DirectoryReport> run(const fs::path& root) {
        BRAID_TRY(const auto files, list_text_files(root));
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
        BRAID_TRY(const std::vector<Chunk> present, target_.document(file.document_id));
        if (is_unchanged(present, fingerprint)) {
            ++report_.unchanged;
            return {};
        }
        std::vector<Chunk> chunks = cut(file, *text);
        for (Chunk& chunk : chunks) {
            chunk.metadata.set("source_path", file.document_id);
            chunk.metadata.set(kFingerprintKey, fingerprint);
            chunk.metadata.set("source_chunks", chunks.size());
        }
        if (chunks.empty()) {
            BRAID_CHECK(remove_all(present));
            report_.failed.push_back(file.path.string() + ": it holds no text");
            return {};
        }
        const std::size_t count = chunks.size();
        const auto written = target_.replace(std::move(chunks));
        if (!written) return fail(file.path.string(), written.error());
        for (const std::string& warning : written->warnings) {
            report_.warnings.push_back(file.document_id + ": " + warning);
        }
        ++report_.written;
        report_.chunks += count;
        report_.removed += written->removed;
        return {};
    }

    std::vector<Chunk> cut(const SourceFile& file, const std::string& text) const {
        std::vector<Chunk> chunks;
        const std::string stem = file.path.stem().string();
        if (kind_of(file.path) == Kind::Markdown) {
            chunks = chunk_markdown(file.document_id, text, chunking_);
        } else {
            chunks = chunk_plain(file.document_id, stem, text, chunking_);
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
    DirectoryReport report_;
};

}  // namespace

Result<std::vector<SourceFile>> list_text_files(const fs::path& root) {
    std::error_code error;
    const fs::file_status status = fs::status(root, error);
    if (!fs::exists(status)) {
        return fail(ErrorCode::NotFound, "there is no file or directory \"" + root.string() + "\"");
    }
    std::vector<SourceFile> files;
    if (fs::is_regular_file(status)) {
        files.push_back({root, root.filename().generic_string(), fs::file_size(root, error)});
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
        const std::string id = path.lexically_relative(root).generic_string();
        files.push_back({path, id, walk->file_size(error)});
    }
    if (error) {
        return fail(ErrorCode::IoError, "reading \"" + root.string() + "\": " + error.message());
    }
    std::ranges::sort(files, {}, &SourceFile::document_id);
    return files;
}

Result<DirectoryReport> ingest_directory(DirectoryTarget& target, const fs::path& root,
                                         const DirectoryOptions& options) {
    return DirectoryIngest(target, options).run(root);
}

Result<DirectoryReport> ingest_directory(Database& database, const fs::path& root,
                                         const DirectoryOptions& options) {
    DatabaseTarget target(database, options);
    return DirectoryIngest(target, options).run(root);
}

}  // namespace braid::ingest
