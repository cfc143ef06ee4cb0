// Retrieval, fusion, receipts and stages over a backend of one's own.

#include <cstdio>
#include <memory>

#include <braid/database.hpp>
#include <braid/pipeline.hpp>

#include "memory_backend.hpp"

int main() {
    auto database = braid::Database::over(std::make_unique<MemoryBackend>());
    if (!database) return 1;
    if (!database->create_collection("notes")) return 1;
    const auto added =
        database->add("notes", {{.chunk_id = "fox", .content = "Red foxes hunt at dusk"},
                                {.chunk_id = "owl", .content = "Owls hunt at night"},
                                {.chunk_id = "oak", .content = "Oaks stand still"}});
    if (!added) return 1;

    braid::Request request;
    request.query = "when do foxes hunt";
    request.collections = {"notes"};
    request.strategy = braid::Strategy::Sparse;
    const auto answer = braid::Pipeline()
                            .add_stage([](braid::Answer found) -> braid::Result<braid::Answer> {
                                if (found.hits.size() > 2) found.hits.resize(2);
                                return found;
                            })
                            .execute(request, *database);
    if (!answer) {
        (void)std::fprintf(stderr, "%s\n", answer.error().message.c_str());
        return 1;
    }
    for (const braid::Hit& hit : answer->hits) {
        (void)std::printf("%zu. %s (%g)\n", hit.rank, hit.chunk.content.c_str(), hit.score);
    }
    return 0;
}
