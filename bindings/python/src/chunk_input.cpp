#include "chunk_input.hpp"

#include <utility>

#include "braid/apps/vocabulary.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::python {
namespace {

/// The vector of a dict, if it is an array, under the key it has there.
std::pair<const char*, std::vector<float>> array_in(nb::handle dict) {
    for (const char* const key : {"vector", "embedding"}) {
        PyObject* const given = PyDict_GetItemString(dict.ptr(), key);
        if (given == nullptr) continue;
        if (auto vector = to_floats(given, key)) return {key, *std::move(vector)};
    }
    return {nullptr, {}};
}

Result<wire::ChunkInput> read_chunk(nb::handle item) {
    if (PyUnicode_Check(item.ptr())) {
        return wire::chunk_from_value(Object{{"text", to_value(item)}}, apps::vocabulary());
    }
    if (!PyDict_Check(item.ptr())) {
        return invalid_argument("a chunk is a text or a dict");
    }
    auto [key, vector] = array_in(item);
    BRAID_TRY(auto input, wire::chunk_from_value(to_object(item, key), apps::vocabulary()));
    if (key != nullptr) input.chunk.vector = std::move(vector);
    return input;
}

void put_vectors(ChunkBatch& batch, nb::handle vectors) {
    auto rows = to_rows(vectors, "vectors");
    if (!rows || rows->size() != batch.chunks.size()) {
        raise(ErrorCode::InvalidArgument, "\"vectors\" must be an array with a row for each chunk");
    }
    for (std::size_t i = 0; i < rows->size(); ++i) {
        batch.chunks[i].vector = std::move((*rows)[i]);
    }
    batch.has_vectors = true;
}

}  // namespace

ChunkBatch read_chunks(nb::list chunks, nb::handle vectors, const std::string& namespace_) {
    ChunkBatch batch;
    batch.chunks.reserve(nb::len(chunks));
    for (const nb::handle item : chunks) {
        const std::string place = "chunks[" + std::to_string(batch.chunks.size()) + "]";
        auto input = read_chunk(item);
        if (!input) raise({input.error().code, place + ": " + input.error().message});
        if (const auto fits = wire::check_namespace(*input, namespace_); !fits) {
            raise({fits.error().code, place + ": " + fits.error().message});
        }
        for (const std::string& warning : input->warnings) {
            batch.warnings.push_back(std::string(place).append(": ").append(warning));
        }
        batch.has_vectors = batch.has_vectors || !input->chunk.vector.empty();
        batch.chunks.push_back(std::move(input->chunk));
    }
    if (!vectors.is_none()) put_vectors(batch, vectors);
    return batch;
}

std::optional<Schema> read_schema(nb::handle schema, bool has_vectors) {
    if (!schema.is_none()) return value_or_raise(wire::schema_from_value(to_value(schema)));
    if (!has_vectors) return std::nullopt;
    Schema external;
    external.vectors.embedder = "external";
    return external;
}

}  // namespace braid::python
