#include <cstdio>
#include <utility>

#include "braid/database.hpp"

namespace {

braid::Result<> run() {
    BRAID_TRY(auto database, braid::Database::in_memory());
    BRAID_CHECK(database.create_collection("notes"));
    BRAID_CHECK(database.add("notes", {{.chunk_id = "a", .content = "Red foxes hunt at dusk."},
                                       {.chunk_id = "b", .content = "Owls hunt at night."}}));
    BRAID_TRY(const auto answer,
              database.retrieve({.query = "when do foxes hunt?", .collections = {"notes"}}));
    if (answer.hits.empty() || answer.hits.front().chunk.chunk_id != "a") {
        return braid::fail(braid::ErrorCode::NotFound, "the foxes are not the first hit");
    }
    std::printf("%s: %s\n", answer.hits.front().chunk.chunk_id.c_str(),
                answer.hits.front().chunk.content.c_str());
    return {};
}

}  // namespace

int main() {
    const braid::Result<> done = run();
    if (!done) std::fprintf(stderr, "consumer: %s\n", done.error().message.c_str());
    return done ? 0 : 1;
}
