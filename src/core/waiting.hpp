#pragma once

namespace braid::core {

/// Told when a thread waits for a disk or another machine: its core is free meanwhile.
class WaitObserver {
public:
    virtual ~WaitObserver() = default;

    virtual void wait_begins() noexcept = 0;
    virtual void wait_ends() noexcept = 0;
};

/// Whom this thread's waits are told to from now on; null: nobody. Returns whom they were told to.
WaitObserver* observe_waits(WaitObserver* observer) noexcept;

/// Says, while it lives, that its thread waits and does not compute.
class Waiting {
public:
    Waiting() noexcept;
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    Waiting(Waiting&&) = delete;
    Waiting& operator=(Waiting&&) = delete;

private:
    WaitObserver* const observer_;
};

}  // namespace braid::core
