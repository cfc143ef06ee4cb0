#include "braid/service/bulk.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/error_json.hpp"

namespace braid::service {
namespace {

constexpr std::size_t kBatch = 1000;

/// A chunk, and the place of its line among the results.
struct Item {
    Chunk chunk;
    std::size_t result = 0;
};

class BulkWriter {
public:
    BulkWriter(const Operations& operations, const ReadScope& scope, const Caller& caller)
        : operations_(operations), scope_(scope), caller_(caller) {}

    /// Fails, writing nothing, if there are too many lines or the collection cannot be created; any
    /// other problem belongs to its line.
    Result<> read(std::string_view body) {
        BRAID_CHECK(check_lines(body));
        json::ParseLimits bounds;
        bounds.max_depth = caller_.limits.json_depth;
        bounds.max_bytes = caller_.limits.message_bytes;
        json::Parser parser(bounds);
        for (std::size_t number = 1; !body.empty(); ++number) {
            const std::size_t end = std::min(body.find('\n'), body.size());
            const std::string_view line = body.substr(0, end);
            body.remove_prefix(std::min(end + 1, body.size()));
            if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
            results_.push_back(Object{{"line", number}});
            BRAID_CHECK(take(parser.parse(line)));
        }
        return flush_all();
    }

    Value report() && {
        return Object{{"collection", Value(scope_.collection)},
                      {"created", created_},
                      {"written", written_},
                      {"replaced", replaced_},
                      {"failed", failed_},
                      {"results", std::move(results_)}};
    }

private:
    Result<> check_lines(std::string_view body) const {
        const std::size_t limit = caller_.limits.bulk_lines;
        const auto ends = static_cast<std::size_t>(std::ranges::count(body, '\n'));
        const std::size_t lines = ends + (body.empty() || body.ends_with('\n') ? 0 : 1);
        if (lines <= limit) return {};
        return invalid_argument("the body has " + std::to_string(lines) + " lines, the limit is " +
                                std::to_string(limit));
    }

    Object& result(std::size_t place) { return results_[place].as_object(); }

    void refuse(std::size_t place, const Error& error) {
        result(place).set("error", *wire::error_to_value(caller_.told(error)).find("error"));
        ++failed_;
    }

    Result<> take(const Result<Value>& json) {
        const std::size_t place = results_.size() - 1;
        if (!json) {
            refuse(place, json.error());
            return {};
        }
        auto input = wire::chunk_from_value(*json, operations_.database().vocabulary());
        if (!input) {
            refuse(place, input.error());
            return {};
        }
        result(place).set("chunk_id", Value(input->chunk.chunk_id));
        if (!input->warnings.empty()) {
            result(place).set("warnings", strings_to_array(input->warnings));
        }
        const std::string target = input->namespace_.value_or(scope_.namespace_);
        if (const auto allowed = caller_.namespaces.require(target); !allowed) {
            refuse(place, allowed.error());
            return {};
        }
        if (!ensured_) BRAID_CHECK(ensure(!input->chunk.vector.empty()));
        auto& batch = waiting_[target];
        batch.push_back({std::move(input->chunk), place});
        if (batch.size() < kBatch) return {};
        flush(target, batch);
        batch.clear();
        return {};
    }

    Result<> ensure(bool brings_vectors) {
        Schema schema;
        schema.vectors.embedder = "external";
        BRAID_TRY(created_, operations_.ensure_collection(scope_.collection,
                                                          brings_vectors ? &schema : nullptr));
        ensured_ = true;
        return {};
    }

    Result<> flush_all() {
        for (auto& [name, batch] : waiting_) flush(name, batch);
        waiting_.clear();
        return {};
    }

    /// Writes a batch as a whole or, if that fails, in halves, down to the chunk that is wrong.
    void flush(const std::string& namespace_, std::span<Item> batch) {
        if (batch.empty()) return;
        if (caller_.call.stopped()) {
            const Error error{ErrorCode::Cancelled, "the client disconnected before the end"};
            for (const Item& item : batch) refuse(item.result, error);
            return;
        }
        std::vector<Chunk> chunks;
        chunks.reserve(batch.size());
        for (const Item& item : batch) chunks.push_back(item.chunk);
        const auto report =
            operations_.write(scope_.collection, std::move(chunks), namespace_, caller_);
        if (report) {
            written_ += report->written;
            replaced_ += report->replaced;
            return;
        }
        const bool of_one_chunk = report.error().code == ErrorCode::InvalidArgument ||
                                  report.error().code == ErrorCode::Conflict;
        if (batch.size() == 1 || !of_one_chunk) {
            for (const Item& item : batch) refuse(item.result, report.error());
            return;
        }
        flush(namespace_, batch.first(batch.size() / 2));
        flush(namespace_, batch.subspan(batch.size() / 2));
    }

    const Operations& operations_;
    const ReadScope& scope_;
    const Caller& caller_;
    Array results_;
    std::map<std::string, std::vector<Item>> waiting_;
    bool ensured_ = false;
    bool created_ = false;
    std::uint64_t written_ = 0;
    std::uint64_t replaced_ = 0;
    std::uint64_t failed_ = 0;
};

}  // namespace

Result<Value> add_lines(const Operations& operations, const Object& params, std::string_view body,
                        const Caller& caller) {
    json::Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Write));
    BRAID_CHECK(fields.finish());
    BulkWriter writer(operations, scope, caller);
    BRAID_CHECK(writer.read(body));
    return std::move(writer).report();
}

}  // namespace braid::service
