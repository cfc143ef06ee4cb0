#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/helpers.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/store/memory_directory.hpp"

namespace braid::testing {

/// A database whose files outlive the backends that open them, and can be tampered with.
class DatabaseInMemory {
public:
    std::unique_ptr<store::Directory> home() const { return must(root_->subdirectory("db")); }
    std::unique_ptr<store::Directory> collections() const {
        return must(home()->subdirectory("collections"));
    }
    std::unique_ptr<store::Directory> collection(const std::string& name) const {
        return must(collections()->subdirectory(name));
    }

    Result<local::OpenedBackend> try_open(const local::LocalOptions& options = {}) const {
        return local::open_local_backend(home(), options);
    }
    /// Nothing may have had to be cut or left out.
    std::unique_ptr<Backend> open(const local::LocalOptions& options = {}) const {
        auto opened = must(try_open(options));
        EXPECT_EQ(opened.notes, std::vector<std::string>());
        return std::move(opened.backend);
    }

    static std::vector<std::byte> read(const store::Directory& directory, const std::string& file) {
        const auto view = must(directory.open(file));
        return {view->bytes().begin(), view->bytes().end()};
    }

private:
    std::unique_ptr<store::Directory> root_ = store::make_memory_directory();
};

inline ReaderPtr snapshot_of(const Backend& backend, const std::string& collection) {
    const std::vector<std::string> names{collection};
    return must(backend.snapshot(names, {}));
}

inline Schema schema_of(const Backend& backend, const std::string& collection) {
    return must(snapshot_of(backend, collection)->schema(collection));
}

inline Ids ids_in(const Backend& backend, const std::string& collection) {
    return ids_of(
        must(snapshot_of(backend, collection)->scan(scope_of(collection), "", 1'000'000, false)));
}

}  // namespace braid::testing
