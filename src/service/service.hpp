#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/answer.hpp"
#include "braid/collection.hpp"
#include "braid/database.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/service/requests.hpp"
#include "braid/service/visitor.hpp"
#include "braid/value.hpp"

namespace braid::service {

class Operations;

/// What commands ask of a database, whether they opened it themselves or another program serves it:
/// the same operations, answers and errors.
class Service {
public:
    virtual ~Service() = default;

    /// An operation that reads or changes collections: all of requests.hpp except EvaluateRequest,
    /// ChunkRequest, DocumentRequest, NeighborsRequest, HighlightRequest and WhoamiRequest, which
    /// no command needs. In this process nothing is converted to JSON on the way.
    template <class Operation>
    Result<typename Operation::Output> run(Operation operation) const;

    Result<Answer> retrieve(const Request& request) const;
    virtual std::vector<Result<Answer>> retrieve_batch(std::span<const Request> requests) const = 0;

    /// Upserts, like Database::add; many chunks may be written in several parts, but replaced
    /// documents only if they are larger than a server accepts at once.
    virtual Result<WriteReport> add(const std::string& collection, std::vector<Chunk> chunks,
                                    const std::string& namespace_,
                                    const WriteOptions& options) const = 0;
    /// How the collection's embedder counts; none if no embedder makes its vectors.
    virtual Result<std::optional<TokenCounter>> token_counter(
        const std::string& collection) const = 0;

    /// Null if another program has it, or the visitor may not see all of it.
    virtual Database* database() const { return nullptr; }

    /// NotFound. Counts nothing, unlike DescribeRequest.
    Result<Schema> schema(const std::string& collection) const;

protected:
    /// On whose behalf operations run in this process.
    struct InProcess {
        const Operations& operations;
        const Caller& caller;
    };
    /// None: another program is asked.
    virtual std::optional<InProcess> in_process() const { return std::nullopt; }
    /// Has another program run the operation.
    virtual Result<Value> ask(std::string_view operation, Object params) const;
};

/// Over a database of this process, on behalf of the visitor.
std::unique_ptr<Service> local_service(Database database, Visitor visitor);

/// Through the Unix socket of the program that serves the database, on behalf of the visitor.
/// `embedders` count tokens here; `vocabulary` is the one its answers use, and must outlive this.
std::unique_ptr<Service> remote_service(const std::string& socket, EmbedderFactory embedders,
                                        const Visitor& visitor, const core::Vocabulary& vocabulary);

}  // namespace braid::service
