#include "backend/local_backends.hpp"

#include "braid/local/local_backend.hpp"
#include "braid/store/memory_directory.hpp"
#include "braid/store/posix_directory.hpp"
#include "core/temporary_folder.hpp"

namespace braid::testing {
namespace {

std::unique_ptr<Backend> open(std::unique_ptr<store::Directory> directory) {
    auto opened = must(local::open_local_backend(std::move(directory), {}));
    EXPECT_TRUE(opened.notes.empty());
    return std::move(opened.backend);
}

}  // namespace

std::vector<BackendUnderTest> local_backends() {
    const Capabilities all{.exact_lengths = true,
                           .scoped_statistics = true,
                           .live_df = true,
                           .exact_dense = true,
                           .snapshots = true,
                           .read_your_writes = true,
                           .atomic_batches = true};
    const auto on_disk = [folder = std::make_shared<TemporaryFolder>(),
                          used = std::make_shared<int>(0)] {
        const std::string path = *folder / std::to_string(++*used);
        return open(must(store::open_posix_directory(path, store::OpenMode::CreateIfMissing)));
    };
    const auto in_memory = [] { return open(store::make_memory_directory()); };
    return {{"LocalPosix", on_disk, all}, {"LocalMemory", in_memory, all}};
}

}  // namespace braid::testing
