#include "braid/embed/model_locator.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <system_error>

#include <dlfcn.h>

namespace braid::embed {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    // Read while options are filled in; nothing in braid changes these variables.
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? std::string() : std::string(value);
}

/// Where this code runs from: the program, and the shared library or Python module that holds it.
std::vector<fs::path> own_directories() {
    std::vector<fs::path> directories;
    std::error_code error;
    if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error) {
        directories.push_back(program.parent_path());
    }
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&own_directories), &info) != 0 &&
        info.dli_fname != nullptr) {
        const fs::path library = fs::weakly_canonical(info.dli_fname, error);
        if (!error) directories.push_back(library.parent_path());
    }
    return directories;
}

/// `$VARIABLE/braid`, or `~/OTHERWISE/braid`; empty without a home.
fs::path own_place(const char* variable, const char* otherwise) {
    if (const std::string set = environment(variable); !set.empty()) return fs::path(set) / "braid";
    const std::string home = environment("HOME");
    return home.empty() ? fs::path() : fs::path(home) / otherwise / "braid";
}

}  // namespace

ModelLocator ModelLocator::standard() {
    std::vector<fs::path> places;
    const auto add = [&](const fs::path& place) {
        const fs::path normal = place.lexically_normal();
        if (std::find(places.begin(), places.end(), normal) == places.end()) {
            places.push_back(normal);
        }
    };
    if (const std::string set = environment("BRAID_MODELS"); !set.empty()) add(set);
    for (const fs::path& directory : own_directories()) {
        add(directory / "models");
        add(directory / ".." / "models");
        add(directory / ".." / "share" / "braid" / "models");
        add(directory / ".." / "lib" / "braid" / "models");
    }
    if (const fs::path data = own_place("XDG_DATA_HOME", ".local/share"); !data.empty()) {
        add(data / "models");
    }
    fs::path cache = environment("BRAID_CACHE");
    if (cache.empty()) cache = own_place("XDG_CACHE_HOME", ".cache");
    return ModelLocator(std::move(places), std::move(cache));
}

Result<fs::path> ModelLocator::find(std::string_view relative) const {
    std::error_code error;
    for (const fs::path& place : places_) {
        fs::path candidate = place / relative;
        if (fs::is_regular_file(candidate, error)) return candidate;
    }
    std::string message = std::string(relative) + " is missing; looked in";
    for (const fs::path& place : places_) {
        message += (&place == &places_.front() ? " " : ", ") + place.string();
    }
    if (places_.empty()) message += " no folder: none is configured";
    message +=
        "; run `make models` (or tools/fetch_models DIR and set BRAID_MODELS=DIR) to fetch it";
    return fail(ErrorCode::NotFound, std::move(message));
}

}  // namespace braid::embed
