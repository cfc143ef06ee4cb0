#include "braid/core/resident_memory.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace braid::core {

std::uint64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t pages = 0;
    std::uint64_t resident = 0;
    if (!(statm >> pages >> resident)) return 0;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void keep_memory_low() {
#ifdef __GLIBC__
    // As many places to allocate from as threads that compute; by default eight for each core, and
    // what was freed in one is of no use to another.
    constexpr int kMostArenas = 8;
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    mallopt(M_ARENA_MAX, std::clamp(cores, 2, kMostArenas));
    // By default both grow with the largest piece that was freed, up to 32 and 64 MiB.
    constexpr int kLarge = 128 << 10;
    mallopt(M_MMAP_THRESHOLD, kLarge);
    mallopt(M_TRIM_THRESHOLD, kLarge);
#endif
}

}  // namespace braid::core
