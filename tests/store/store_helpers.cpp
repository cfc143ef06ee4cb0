#include "store/store_helpers.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "braid/store/posix_directory.hpp"

namespace braid::store::testing {

TemporaryDirectory::TemporaryDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "braid-store-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary directory");
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::unique_ptr<Directory> TemporaryDirectory::open() const {
    auto opened = open_posix_directory(path_, OpenMode::MustExist);
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
}

}  // namespace braid::store::testing
