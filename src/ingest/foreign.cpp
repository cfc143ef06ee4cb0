#include "braid/ingest/foreign.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "braid/ingest/source_document.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/chunk_json.hpp"

namespace braid::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;
constexpr std::string_view kSpace = " \t\r\n";

const Value* member(const Value& value, std::string_view name) {
    const Value* const found = value.is_object() ? value.find(name) : nullptr;
    return found != nullptr && !found->is_null() ? found : nullptr;
}

/// A chunk's JSON from the parts that both programs have.
Value chunk_value(const Value* id, const Value& text, const Value* metadata,
                  const Value* document_id, const Value* vector) {
    Object chunk{{"text", text}};
    if (id != nullptr) chunk.set("_id", *id);
    if (metadata != nullptr) chunk.set("metadata", *metadata);
    if (document_id != nullptr) chunk.set("document_id", *document_id);
    if (vector != nullptr) chunk.set("vector", *vector);
    return chunk;
}

Result<Value> from_langchain(const Value& record) {
    const Value* const arguments = member(record, "kwargs");  // in what dumpd writes
    const Value& document = arguments != nullptr ? *arguments : record;
    const Value* text = member(document, "page_content");
    if (text == nullptr) text = member(document, "text");
    if (text == nullptr) return invalid_argument("no \"page_content\" or \"text\"");
    const Value* const metadata = member(document, "metadata");
    const Value* source = metadata != nullptr ? member(*metadata, "source") : nullptr;
    if (source != nullptr && !source->is_string()) source = nullptr;
    const Value* vector = member(document, "vector");
    if (vector == nullptr) vector = member(document, "embedding");
    return chunk_value(member(document, "id"), *text, metadata, source, vector);
}

/// The id of the document that a node was cut from.
const Value* source_of(const Value& node) {
    const Value* const relations = member(node, "relationships");
    const Value* const source = relations != nullptr ? member(*relations, "1") : nullptr;
    const Value* const id = source != nullptr ? member(*source, "node_id") : nullptr;
    return id != nullptr ? id : member(node, "ref_doc_id");
}

const Value& node_in(const Value& record) {
    const Value* const data = member(record, "__data__");  // in the docstore's wrapper
    return data != nullptr ? *data : record;
}

Result<Value> from_llamaindex(const Value& record) {
    const Value& node = node_in(record);
    const Value* text = member(node, "text");
    if (const Value* const resource = member(node, "text_resource"); text == nullptr && resource) {
        text = member(*resource, "text");
    }
    if (text == nullptr) return invalid_argument("no \"text\"");
    const Value* id = member(node, "id_");
    if (id == nullptr) id = member(node, "id");
    const Value* metadata = member(node, "metadata");
    if (metadata == nullptr) metadata = member(node, "extra_info");
    return chunk_value(id, *text, metadata, source_of(node), member(node, "embedding"));
}

struct Form {
    std::string_view name;
    Result<Value> (*chunk)(const Value& record);
};
constexpr std::array<Form, 2> kForms{
    {{"langchain", from_langchain}, {"llamaindex", from_llamaindex}}};

Result<std::string> whole_file(const std::string& path) {
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    if (error) return fail(ErrorCode::NotFound, "no file " + path);
    if (bytes > kMostBytes) {
        return invalid_argument(path + " has " + std::to_string(bytes) + " bytes, the limit is " +
                                std::to_string(kMostBytes));
    }
    std::ifstream in(path, std::ios::binary);
    std::string text(static_cast<std::size_t>(bytes), '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!in) return fail(ErrorCode::IoError, "cannot read " + path);
    return text;
}

/// The value of a member, from an object's text; empty if there is none.
std::string_view raw_member(const std::vector<RawMember>& members, std::string_view name) {
    const std::string quoted = "\"" + std::string(name) + "\"";
    const auto found = std::ranges::find(members, quoted, &RawMember::name);
    return found != members.end() ? found->value : std::string_view();
}

/// One JSON text that holds many records.
class WholeFileReader final : public RecordReader {
public:
    WholeFileReader(const Form& form, std::string path, JsonlOptions options)
        : form_(form), path_(std::move(path)), options_(std::move(options)) {
        if (!options_.vocabulary) options_.vocabulary = std::make_shared<const core::Vocabulary>();
    }

    Result<> load() {
        BRAID_TRY(text_, whole_file(path_));
        auto found = raw_members(text_);
        if (!found) return fail(path_, std::move(found).error());
        records_ = *std::move(found);
        if (const auto nodes = raw_member(records_, "docstore/data"); !nodes.empty()) {
            BRAID_TRY(records_, raw_members(nodes));
            BRAID_CHECK(load_vectors());
            BRAID_CHECK(leave_out_documents());
        }
        if (records_.empty()) return invalid_argument(path_ + ": no records");
        return {};
    }

    Result<std::optional<Batch>> next() override {
        if (next_ == records_.size()) return std::nullopt;
        Batch batch;
        batch.parts.push_back({options_.namespace_, {}});
        while (next_ < records_.size() && batch.chunks < options_.batch_chunks) {
            if (options_.stop.stop_requested()) return fail(ErrorCode::Cancelled, "interrupted");
            const std::size_t number = ++next_;
            auto input = read(records_[number - 1]);
            if (input) {
                batch.parts[0].chunks.push_back(std::move(input->chunk));
                ++batch.chunks;
                continue;
            }
            std::string message = path_ + ", record " + std::to_string(number) + ": " +
                                  std::move(input).error().message;
            if (!options_.keep_going) return invalid_argument(std::move(message));
            batch.failed.push_back(std::move(message));
        }
        return batch;
    }

    std::uint64_t bytes_read() const noexcept override {
        if (next_ == 0) return 0;
        const std::string_view last = records_[next_ - 1].value;
        return static_cast<std::uint64_t>(last.data() + last.size() - text_.data());
    }

private:
    Result<wire::ChunkInput> read(const RawMember& record) const {
        BRAID_TRY(const Value json, json::parse(record.value));
        BRAID_TRY(Value chunk, form_.chunk(json));
        if (!record.name.empty() && member(chunk, "_id") == nullptr) {
            BRAID_TRY(Value id, json::parse(record.name));
            chunk.as_object().set("_id", std::move(id));
        }
        if (const auto vector = vectors_.find(record.name);
            vector != vectors_.end() && member(chunk, "vector") == nullptr) {
            BRAID_TRY(Value numbers, json::parse(vector->second));
            chunk.as_object().set("vector", std::move(numbers));
        }
        return wire::chunk_from_value(chunk, *options_.vocabulary);
    }

    /// From the vector store persisted in the same folder.
    Result<> load_vectors() {
        const fs::path folder = fs::path(path_).parent_path();
        for (const char* const name : {"default__vector_store.json", "vector_store.json"}) {
            std::error_code error;
            const fs::path file = folder / name;
            if (!fs::is_regular_file(file, error)) continue;
            BRAID_TRY(vector_text_, whole_file(file.string()));
            auto root = raw_members(vector_text_);
            if (!root) return fail(file.string(), std::move(root).error());
            const auto vectors = raw_member(*root, "embedding_dict");
            if (vectors.empty()) return {};
            auto members = raw_members(vectors);
            if (!members) return fail(file.string(), std::move(members).error());
            for (const RawMember& vector : *members) vectors_.emplace(vector.name, vector.value);
            return {};
        }
        return {};
    }

    /// The documents that nodes were cut from.
    Result<> leave_out_documents() {
        std::set<std::string, std::less<>> cut;
        for (const RawMember& record : records_) {
            const auto json = json::parse(record.value);
            if (!json) continue;  // next() reports it
            const Value* const source = source_of(node_in(*json));
            if (source != nullptr && source->is_string()) cut.insert(json::print(*source));
        }
        std::erase_if(records_, [&](const RawMember& record) { return cut.contains(record.name); });
        return {};
    }

    const Form& form_;
    std::string path_;
    JsonlOptions options_;
    std::string text_;
    std::string vector_text_;
    std::vector<RawMember> records_;
    std::unordered_map<std::string_view, std::string_view> vectors_;  // by quoted id
    std::size_t next_ = 0;
};

/// Whether each line is a JSON object of its own.
bool holds_lines(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string first;
    std::string second;
    if (!std::getline(in, first) || !std::getline(in, second)) return false;
    return trimmed(first).starts_with('{') && trimmed(first).ends_with('}') &&
           trimmed(second).starts_with('{');
}

}  // namespace

Result<std::vector<RawMember>> raw_members(std::string_view text) {
    const auto skip_space = [&](std::size_t at) {
        return std::min(text.find_first_not_of(kSpace, at), text.size());
    };
    const auto skip_string = [&](std::size_t at) {
        for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
        return std::min(at + 1, text.size());
    };
    const auto skip_value = [&](std::size_t at) {
        std::size_t depth = 0;
        for (; at < text.size(); ++at) {
            const char c = text[at];
            if (c == '"') {
                at = skip_string(at) - 1;
            } else if (c == '{' || c == '[') {
                ++depth;
            } else if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
                break;
            } else if (c == '}' || c == ']') {
                --depth;
            }
        }
        return at;
    };
    std::size_t at = skip_space(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    if (at == text.size() || (text[at] != '{' && text[at] != '[')) {
        return invalid_argument("neither a JSON object nor a list");
    }
    const bool object = text[at] == '{';
    const char close = object ? '}' : ']';
    std::vector<RawMember> members;
    at = skip_space(at + 1);
    if (at < text.size() && text[at] == close) return members;
    while (at < text.size()) {
        RawMember found;
        if (object) {
            const std::size_t end = text[at] == '"' ? skip_string(at) : at;
            found.name = text.substr(at, end - at);
            at = skip_space(end);
            if (found.name.empty() || at == text.size() || text[at] != ':') {
                return invalid_argument("expected a name and a colon at byte " +
                                        std::to_string(at + 1));
            }
            at = skip_space(at + 1);
        }
        const std::size_t end = skip_value(at);
        found.value = trimmed(text.substr(at, end - at));
        members.push_back(found);
        if (end == text.size()) break;
        if (text[end] == close) return members;
        if (text[end] != ',') break;
        at = skip_space(end + 1);
    }
    return invalid_argument("the JSON text is cut off");
}

std::string foreign_file(std::string_view form, const std::string& path) {
    std::error_code error;
    if (form == "llamaindex" && fs::is_directory(path, error)) {
        return (fs::path(path) / "docstore.json").string();
    }
    return path;
}

Result<std::unique_ptr<RecordReader>> open_foreign(std::string_view form, const std::string& path,
                                                   const JsonlOptions& options) {
    const auto found = std::ranges::find(kForms, form, &Form::name);
    if (found == kForms.end()) {
        return invalid_argument("unknown form \"" + std::string(form) +
                                "\"; known forms are langchain and llamaindex");
    }
    const std::string file = foreign_file(form, path);
    if (file == "-" || holds_lines(file)) {
        JsonlOptions lines = options;
        lines.record = [chunk = found->chunk](const Value& line) { return chunk(line); };
        BRAID_TRY(auto reader, JsonlReader::open(file, lines));
        return std::make_unique<JsonlReader>(std::move(reader));
    }
    auto reader = std::make_unique<WholeFileReader>(*found, file, options);
    BRAID_CHECK(reader->load());
    return reader;
}

}  // namespace braid::ingest
