#include "braid/store/fault_registry.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

namespace braid::store {

/// Written under the mutex, read by the handler without it: `version` is odd while the range
/// changes, and a reader that notices a change looks again.
struct GuardedRange::Slot {
    std::atomic<std::uint32_t> version{0};
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::uintptr_t> end{0};  // 0: free
    std::atomic<bool> damaged{false};
};

namespace {

using Slot = GuardedRange::Slot;

constexpr std::size_t kSlotsPerChunk = 128;
constexpr int kMaxLooks = 1000;  // at one slot: a handler must terminate

/// Never freed: a handler may be walking over it.
struct Chunk {
    std::array<Slot, kSlotsPerChunk> slots;
    std::atomic<Chunk*> next{nullptr};
};

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);
static_assert(std::atomic<Chunk*>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

Chunk first_chunk;                     // NOLINT: one per process, as is the handler
struct sigaction previous_handler {};  // NOLINT: written once, before the handler is installed
std::atomic<std::uintptr_t> page_bytes{0};

std::mutex& registry_mutex() {
    static std::mutex mutex;
    return mutex;
}

bool holds(const Slot& slot, std::uintptr_t address) noexcept {
    for (int look = 0; look < kMaxLooks; ++look) {
        const std::uint32_t before = slot.version.load();
        const std::uintptr_t begin = slot.begin.load();
        const std::uintptr_t end = slot.end.load();
        if (before % 2 == 0 && slot.version.load() == before) {
            return address >= begin && address < end;
        }
    }
    // A slot being changed cannot be the one whose range a thread is reading.
    return false;
}

Slot* find_slot(std::uintptr_t address) noexcept {
    for (Chunk* chunk = &first_chunk; chunk != nullptr; chunk = chunk->next.load()) {
        for (Slot& slot : chunk->slots) {
            if (holds(slot, address)) return &slot;
        }
    }
    return nullptr;
}

/// Zeros in place of the page, so that the instruction that failed can go on: it may have been to
/// write.
bool replace_page(std::uintptr_t address) noexcept {
    const std::uintptr_t page = page_bytes.load();
    auto* begin = reinterpret_cast<void*>(address / page * page);  // NOLINT: an address it is
    return ::mmap(begin, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                  0) == begin;
}

void call_previous(int signal, siginfo_t* info, void* context) noexcept {
    if ((previous_handler.sa_flags & SA_SIGINFO) != 0) {
        previous_handler.sa_sigaction(signal, info, context);
    } else if (previous_handler.sa_handler != SIG_DFL && previous_handler.sa_handler != SIG_IGN) {
        previous_handler.sa_handler(signal);
    } else {
        // The instruction fails again on return, and the process ends as it would have without us.
        struct sigaction standard {};
        standard.sa_handler = SIG_DFL;
        (void)::sigaction(signal, &standard, nullptr);
        if (info->si_code <= 0) (void)::raise(signal);  // sent by someone: it would not fail again
    }
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
    const int saved_errno = errno;
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    Slot* slot = info->si_code > 0 ? find_slot(address) : nullptr;
    if (slot != nullptr) {
        // First, so that whoever reads the zeros can tell.
        slot->damaged.store(true);
        if (!replace_page(address)) slot = nullptr;
    }
    if (slot == nullptr) call_previous(signal, info, context);
    errno = saved_errno;
}

void install_handler() {
    static std::once_flag once;
    std::call_once(once, [] {
        page_bytes.store(static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)));
        (void)::sigaction(SIGBUS, nullptr, &previous_handler);
        struct sigaction ours {};
        ours.sa_sigaction = on_bus_error;
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
        (void)sigemptyset(&ours.sa_mask);
        (void)::sigaction(SIGBUS, &ours, nullptr);
    });
}

/// Requires the mutex to be held.
Slot& free_slot() {
    Chunk* chunk = &first_chunk;
    while (true) {
        for (Slot& slot : chunk->slots) {
            if (slot.end.load() == 0) return slot;
        }
        Chunk* next = chunk->next.load();
        if (next == nullptr) {
            next = new Chunk;  // NOLINT(cppcoreguidelines-owning-memory): never freed, see Chunk
            chunk->next.store(next);
        }
        chunk = next;
    }
}

/// Requires the mutex to be held.
void set_range(Slot& slot, std::uintptr_t begin, std::uintptr_t end) noexcept {
    slot.version.fetch_add(1);
    slot.begin.store(begin);
    slot.end.store(end);
    slot.damaged.store(false);
    slot.version.fetch_add(1);
}

}  // namespace

GuardedRange::GuardedRange(const void* begin, std::size_t size) {
    install_handler();
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    const std::scoped_lock lock(registry_mutex());
    slot_ = &free_slot();
    set_range(*slot_, first, first + size);
}

GuardedRange::~GuardedRange() {
    const std::scoped_lock lock(registry_mutex());
    set_range(*slot_, 0, 0);
}

bool GuardedRange::damaged() const noexcept {
    return slot_->damaged.load();
}

}  // namespace braid::store
