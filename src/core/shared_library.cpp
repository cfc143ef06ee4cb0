#include "braid/core/shared_library.hpp"

#include <string>
#include <system_error>

#include <dlfcn.h>

namespace braid::core {

tl::unexpected<Error> cannot_use(const std::filesystem::path& library, std::string_view what,
                                 std::string_view why) {
    return fail(ErrorCode::Unsupported, "cannot use " + library.string() + " as " +
                                            std::string(what) + ": " + std::string(why));
}

Result<void*> open_library(const std::filesystem::path& library, std::string_view what) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(library, error)) {
        return fail(ErrorCode::NotFound,
                    "no " + std::string(what) + " library at " + library.string());
    }
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return handle;
    const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): per thread in glibc
    return cannot_use(library, what, why == nullptr ? "it cannot be loaded" : why);
}

}  // namespace braid::core
