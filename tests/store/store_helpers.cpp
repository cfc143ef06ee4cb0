#include "store/store_helpers.hpp"

#include <stdexcept>

#include "braid/store/posix_directory.hpp"

namespace braid::store::testing {

std::unique_ptr<Directory> TemporaryDirectory::open() const {
    auto opened = open_posix_directory(path().string(), OpenMode::MustExist);
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
}

}  // namespace braid::store::testing
