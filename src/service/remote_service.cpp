#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "braid/json/json.hpp"
#include "braid/net/client/http_client.hpp"
#include "braid/service/operation_json.hpp"
#include "braid/service/service.hpp"
#include "braid/wire/answer_json.hpp"
#include "braid/wire/request_json.hpp"

namespace braid::service {
namespace {

/// What a server accepts in one message, with room to spare.
constexpr std::size_t kPartChunks = 500;
constexpr std::size_t kPartBytes = std::size_t{4} << 20;
/// The limit for replaced documents, which should be one write: as much as a server accepts.
constexpr std::size_t kWholeChunks = 10'000;
constexpr std::size_t kWholeBytes = std::size_t{12} << 20;
constexpr std::size_t kPartIds = 500;
constexpr std::size_t kPartRequests = 50;
constexpr std::chrono::minutes kPatience{30};  // the server has deadlines of its own

/// Roughly what a chunk takes in JSON.
std::size_t bytes_of(const Chunk& chunk) {
    constexpr std::size_t number = 12;
    return 2 * chunk.content.size() + chunk.vector.size() * number + 1024;
}

Error error_from(const Value& error) {
    const Value* const data = error.find("data");
    const auto code =
        data != nullptr ? error_code_by_name(text_in(*data, "code")) : std::optional<ErrorCode>();
    return {code.value_or(ErrorCode::Unavailable), text_in(error, "message")};
}

net::HttpClientOptions client_options(const std::string& socket) {
    net::HttpClientOptions options;
    options.unix_socket = socket;
    options.total_timeout = kPatience;
    options.max_response_bytes = std::size_t{1} << 30;
    return options;
}

class RemoteService final : public Service {
public:
    RemoteService(const std::string& socket, EmbedderFactory embedders, const Visitor& visitor,
                  const core::Vocabulary& vocabulary)
        : client_(client_options(socket)),
          embedders_(std::move(embedders)),
          vocabulary_(vocabulary) {
        headers_.push_back({"Content-Type", "application/json"});
        if (visitor != Visitor{}) {
            headers_.push_back(
                {std::string(kVisitorHeader), json::print(visitor_to_value(visitor))});
        }
    }

    Result<WriteReport> add(const std::string& collection, std::vector<Chunk> chunks,
                            const std::string& namespace_,
                            const WriteOptions& options) const override {
        WriteReport whole;
        const std::size_t most = options.replace_documents ? kWholeChunks : kPartChunks;
        const std::size_t most_bytes = options.replace_documents ? kWholeBytes : kPartBytes;
        for (std::size_t at = 0; at < chunks.size();) {
            const bool first = at == 0;
            AddRequest part{.at = {collection, namespace_}, .chunks = {}};
            for (std::size_t bytes = 0;
                 at < chunks.size() && part.chunks.size() < most && bytes < most_bytes; ++at) {
                bytes += bytes_of(chunks[at]);
                part.chunks.push_back(std::exchange(chunks[at], {}));
            }
            part.if_version = options.if_version;
            // The old chunks go with the first part, so that old and new never coexist.
            part.replace_documents = options.replace_documents && first;
            part.skip_unchanged = options.skip_unchanged;
            BRAID_TRY(AddReport report, run(std::move(part)));
            whole.written += report.write.written;
            whole.replaced += report.write.replaced;
            whole.removed += report.write.removed;
            whole.unchanged += report.write.unchanged;
            whole.version = report.write.version;
            std::ranges::move(report.write.warnings, std::back_inserter(whole.warnings));
        }
        return whole;
    }

    std::vector<Result<Answer>> retrieve_batch(std::span<const Request> requests) const override {
        std::vector<Result<Answer>> answers;
        answers.reserve(requests.size());
        for (std::size_t at = 0; at < requests.size(); at += kPartRequests) {
            const auto part = requests.subspan(at, std::min(kPartRequests, requests.size() - at));
            Array list;
            list.reserve(part.size());
            for (const Request& request : part) list.push_back(wire::request_to_value(request));
            const auto found = send("retrieve_batch", {{"requests", std::move(list)}});
            for (std::size_t i = 0; i < part.size(); ++i) answers.push_back(answer_at(found, i));
        }
        return answers;
    }

    Result<std::optional<TokenCounter>> token_counter(
        const std::string& collection) const override {
        BRAID_TRY(const Schema schema, this->schema(collection));
        const VectorSpec& vectors = schema.vectors;
        if (!vectors.has_vectors() || vectors.embedder == "external") return std::nullopt;
        BRAID_TRY(const auto embedder, embedders_(vectors));
        TokenCounter counter;
        counter.limit = embedder->fingerprint().token_limit;
        counter.count = [embedder](std::string_view text) { return embedder->count_tokens(text); };
        return counter;
    }

private:
    Result<Value> ask(std::string_view operation, Object params) const override {
        return operation == GetRequest::kName ? get(std::move(params))
                                              : send(operation, std::move(params));
    }

    Result<Value> send(std::string_view operation, Object params) const {
        const Object message{{"jsonrpc", "2.0"},
                             {"id", 1},
                             {"method", Value("braid." + std::string(operation))},
                             {"params", Value(std::move(params))}};
        net::HttpRequest request;
        request.method = "POST";
        request.url = "http://localhost/rpc";
        request.headers = headers_;
        request.body = json::print(message);
        BRAID_TRY(const net::HttpResponse response, client_.send(request, {}));
        auto reply = json::parse(response.body);
        if (!reply || !reply->is_object()) {
            return fail(ErrorCode::Unavailable, "the server of this database gave no answer " +
                                                    std::string("(HTTP status ") +
                                                    std::to_string(response.status) + ")");
        }
        if (const Value* const error = reply->find("error")) {
            return tl::unexpected<Error>(error_from(*error));
        }
        if (Value* const result = reply->as_object().find("result")) return std::move(*result);
        // Refused before it was read: a problem from the HTTP door.
        return fail(error_code_by_name(text_in(*reply, "code")).value_or(ErrorCode::Unavailable),
                    "the server of this database: " + text_in(*reply, "title") + ": " +
                        text_in(*reply, "detail"));
    }

    /// A server accepts only so many ids at a time.
    Result<Value> get(Object params) const {
        const Value* const given = params.find("chunk_ids");
        const Array ids = given != nullptr && given->is_array() ? given->as_array() : Array();
        Array chunks;
        chunks.reserve(ids.size());
        for (std::size_t at = 0; at < ids.size(); at += kPartIds) {
            const std::size_t end = std::min(at + kPartIds, ids.size());
            params.set("chunk_ids", Array(ids.begin() + static_cast<std::ptrdiff_t>(at),
                                          ids.begin() + static_cast<std::ptrdiff_t>(end)));
            BRAID_TRY(const Value part, send(GetRequest::kName, params));
            const Array& found = list_in(part, "chunks");
            chunks.insert(chunks.end(), found.begin(), found.end());
        }
        return Value(Object{{"chunks", std::move(chunks)}});
    }

    Result<Answer> answer_at(const Result<Value>& found, std::size_t index) const {
        if (!found) return tl::unexpected<Error>(found.error());
        const Array& answers = list_in(*found, "answers");
        if (index >= answers.size()) {
            return fail(ErrorCode::Unavailable, "the server sent fewer answers than requests");
        }
        const Value* const error = answers[index].find("error");
        if (error == nullptr) return wire::answer_from_value(answers[index], vocabulary_);
        return fail(error_code_by_name(text_in(*error, "code")).value_or(ErrorCode::Unavailable),
                    text_in(*error, "message"));
    }

    net::HttpClient client_;
    EmbedderFactory embedders_;
    std::vector<net::HttpHeader> headers_;
    const core::Vocabulary& vocabulary_;
};

}  // namespace

std::unique_ptr<Service> remote_service(const std::string& socket, EmbedderFactory embedders,
                                        const Visitor& visitor,
                                        const core::Vocabulary& vocabulary) {
    return std::make_unique<RemoteService>(socket, std::move(embedders), visitor, vocabulary);
}

}  // namespace braid::service
