#include <algorithm>
#include <utility>

#include "braid/service/operations.hpp"
#include "braid/service/service.hpp"
#include "braid/wire/schema_json.hpp"

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
                  .limits = Limits::none(),
                  .call = {}} {}

    Result<Value> call(std::string_view operation, Object params) const override {
        const auto known = named_operations();
        const auto found = std::ranges::find(known, operation, &NamedOperation::name);
        if (found == known.end()) {
            return fail(ErrorCode::Unsupported, "unknown operation " + std::string(operation));
        }
        return operations_.run(*found, params, caller_);
    }
    Result<WriteReport> add(const std::string& collection, std::vector<Chunk> chunks,
                            const std::string& namespace_,
                            const WriteOptions& options) const override {
        BRAID_CHECK(caller_.namespaces.require(namespace_));
        WriteOptions own = options;
        own.principal = caller_.principal;
        return operations_.database().add(collection, std::move(chunks), namespace_, own);
    }
    std::vector<Result<Answer>> retrieve_batch(std::span<const Request> requests) const override {
        if (requests.size() == 1) return one(requests.front());
        if (caller_.sees_everything()) return database_.retrieve_batch(requests);
        for (const Request& request : requests) {
            if (const auto allowed = operations_.check(request, caller_); !allowed) {
                return {requests.size(), tl::unexpected(allowed.error())};
            }
        }
        std::vector<Request> own;
        own.reserve(requests.size());
        for (const Request& request : requests) {
            own.push_back(operations_.in_own_namespace(request, caller_));
        }
        return database_.retrieve_batch(own, caller_.principal);
    }
    Result<std::optional<TokenCounter>> token_counter(
        const std::string& collection) const override {
        return database_.token_counter(collection);
    }
    Database* database() const override {
        return caller_.sees_everything() ? &operations_.database() : nullptr;
    }

private:
    /// A request alone is answered as every door answers it.
    std::vector<Result<Answer>> one(const Request& request) const {
        std::vector<Result<Answer>> answers;
        if (auto allowed = operations_.check(request, caller_); !allowed) {
            answers.emplace_back(
                tl::unexpected(operations_.with_collections(std::move(allowed).error(), caller_)));
        } else {
            answers.push_back(operations_.search(request, caller_));
        }
        return answers;
    }

    Database database_;
    Operations operations_;
    Caller caller_;
};

}  // namespace

Result<Schema> Service::schema(const std::string& collection) const {
    if (const Database* const local = database()) {  // describe would count every chunk
        const auto snapshot = local->backend().snapshot(std::span(&collection, 1), {});
        if (snapshot) return (*snapshot)->schema(collection);
    }
    BRAID_TRY(const Value info, call("describe", {{"collection", Value(collection)}}));
    const Value* const schema = info.find("schema");
    return wire::schema_from_value(schema != nullptr ? *schema : Value());
}

std::unique_ptr<Service> local_service(Database database, Visitor visitor) {
    return std::make_unique<LocalService>(std::move(database), std::move(visitor));
}

std::string text_in(const Value& result, std::string_view key) {
    const Value* const found = result.find(key);
    return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

std::uint64_t number_in(const Value& result, std::string_view key) {
    const Value* const found = result.find(key);
    return found != nullptr && found->is_int() && found->as_int() >= 0
               ? static_cast<std::uint64_t>(found->as_int())
               : 0;
}

bool flag_in(const Value& result, std::string_view key) {
    const Value* const found = result.find(key);
    return found != nullptr && found->is_bool() && found->as_bool();
}

const Array& list_in(const Value& result, std::string_view key) {
    static const Array kNone;
    const Value* const found = result.find(key);
    return found != nullptr && found->is_array() ? found->as_array() : kNone;
}

}  // namespace braid::service
