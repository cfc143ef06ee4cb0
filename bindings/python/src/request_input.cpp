#include "request_input.hpp"

#include <optional>
#include <string>
#include <utility>

#include <nanobind/stl/string.h>

#include "braid/apps/vocabulary.hpp"
#include "braid/wire/request_json.hpp"

namespace braid::python {
namespace {

constexpr const char* kEmbedding = "query_embedding";

}  // namespace

std::vector<float>& spare_vector() noexcept {
    thread_local std::vector<float> spare;
    return spare;
}

Request read_request(nb::handle dict) {
    std::optional<std::vector<float>> vector;
    if (PyDict_Check(dict.ptr())) {
        static PyObject* const kKey = PyUnicode_InternFromString(kEmbedding);
        PyObject* const given = PyDict_GetItemWithError(dict.ptr(), kKey);
        if (given != nullptr) vector = to_floats(given, kEmbedding, std::move(spare_vector()));
    }
    Object members = to_object(dict, vector ? kEmbedding : nullptr);
    Request request =
        value_or_raise(wire::request_from_value(std::move(members), apps::vocabulary()));
    if (vector) request.query_embedding = *std::move(vector);
    return request;
}

std::vector<Request> read_batch(nb::dict shared, nb::list queries, nb::handle embeddings) {
    const Request base = read_request(shared);
    std::vector<Request> requests;
    requests.reserve(nb::len(queries));
    for (const nb::handle query : queries) {
        if (PyDict_Check(query.ptr())) {
            const nb::dict merged = nb::borrow<nb::dict>(shared.attr("copy")());
            merged.attr("update")(query);
            requests.push_back(read_request(merged));
            continue;
        }
        requests.push_back(base);
        if (!query.is_none()) requests.back().query = nb::cast<std::string>(query);
    }
    if (embeddings.is_none()) return requests;
    auto rows = to_rows(embeddings, "query_embeddings").value_or(std::vector<std::vector<float>>());
    if (rows.size() != requests.size()) {
        raise(ErrorCode::InvalidArgument,
              "\"query_embeddings\" must be an array with a row for each query");
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
        requests[i].query_embedding = std::move(rows[i]);
    }
    return requests;
}

}  // namespace braid::python
