#pragma once

#include <mutex>
#include <shared_mutex>

namespace braid::core {

/// A shared mutex under which a stream of readers cannot starve a writer: whoever wants the lock
/// passes a turnstile first, and a waiting writer keeps it closed. Not recursive, for readers too.
/// Use with std::unique_lock and std::shared_lock.
class FairSharedMutex {
public:
    void lock() {
        turnstile_.lock();
        mutex_.lock();
    }
    void unlock() {
        mutex_.unlock();
        turnstile_.unlock();
    }
    void lock_shared() {
        const std::scoped_lock pass(turnstile_);
        mutex_.lock_shared();
    }
    void unlock_shared() { mutex_.unlock_shared(); }

private:
    std::mutex turnstile_;
    std::shared_mutex mutex_;
};

}  // namespace braid::core
