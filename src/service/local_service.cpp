#include <utility>

#include "braid/service/operations.hpp"
#include "braid/service/service.hpp"

namespace braid::service {
namespace {

class LocalService final : public Service {
public:
    LocalService(Database database, Visitor visitor)
        : database_(std::move(database)),
          operations_(database_, {}),
          caller_{.principal = std::move(visitor.principal),
                  .namespaces = std::move(visitor.namespaces),
                  .may = {},
                  .limits = RequestLimits::none(),
                  .call = {}} {}

    Result<WriteReport> add(const std::string& collection, std::vector<Chunk> chunks,
                            const std::string& namespace_,
                            const WriteOptions& options) const override {
        BRAID_CHECK(caller_.namespaces.require(namespace_));
        WriteOptions own = options;
        own.principal = caller_.principal;
        return operations_.database().add(collection, std::move(chunks), namespace_, own);
    }
    std::vector<Result<Answer>> retrieve_batch(std::span<const Request> requests) const override {
        if (requests.size() == 1) {  // a request alone is answered as every door answers it
            std::vector<Result<Answer>> answers;
            answers.push_back(operations_.retrieve(requests.front(), caller_));
            return answers;
        }
        if (caller_.sees_everything()) return database_.retrieve_batch(requests);
        return operations_.retrieve_batch({requests.begin(), requests.end()}, caller_);
    }
    Result<std::optional<TokenCounter>> token_counter(
        const std::string& collection) const override {
        return database_.token_counter(collection);
    }
    Database* database() const override {
        return caller_.sees_everything() ? &operations_.database() : nullptr;
    }

private:
    std::optional<InProcess> in_process() const override { return {{operations_, caller_}}; }

    Database database_;
    Operations operations_;
    Caller caller_;
};

}  // namespace

std::unique_ptr<Service> local_service(Database database, Visitor visitor) {
    return std::make_unique<LocalService>(std::move(database), std::move(visitor));
}

}  // namespace braid::service
