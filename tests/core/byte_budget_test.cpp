#include "braid/core/byte_budget.hpp"

#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "braid/core/charge.hpp"

namespace braid {
namespace {

using Taken = ByteBudget::Taken;

TEST(ByteBudget, GivesAllThatIsAskedForOrNothing) {
    ByteBudget budget(10);
    EXPECT_EQ(budget.take(6), Taken::Yes);
    EXPECT_EQ(budget.take(5), Taken::OverLimit);
    EXPECT_EQ(budget.used(), 6U);
    EXPECT_EQ(budget.take(4), Taken::Yes);
    EXPECT_EQ(budget.take(0), Taken::Yes);
    EXPECT_EQ(budget.take(SIZE_MAX), Taken::OverLimit);
    budget.give_back(10);
    EXPECT_EQ(budget.used(), 0U);
}

TEST(ByteBudget, TakesFromItsParentAsManyCopiesAsThereWillBe) {
    const auto parent = std::make_shared<ByteBudget>(100);
    {
        ByteBudget answer(50, parent, 3);
        EXPECT_EQ(answer.take(30), Taken::Yes);
        EXPECT_EQ(parent->used(), 90U);
        EXPECT_EQ(answer.take(4), Taken::OverParent);
        EXPECT_EQ(answer.used(), 30U);
        EXPECT_EQ(answer.take(21), Taken::OverLimit);
        EXPECT_EQ(parent->used(), 90U);
        const auto other = answer.apart();
        EXPECT_EQ(other->take(9), Taken::Yes) << "what is not copied counts once";
        EXPECT_EQ(parent->used(), 99U);
        EXPECT_EQ(answer.another()->limit(), 50U);
        EXPECT_EQ(answer.another()->take(1), Taken::OverParent) << "three times over";
    }
    EXPECT_EQ(parent->used(), 0U);
}

TEST(ByteBudget, CountsWhatIsThereAlreadyWhateverTheLimit) {
    const auto budget = std::make_shared<ByteBudget>(10);
    {
        HeldBytes held(budget);
        EXPECT_TRUE(held.grow_to(8));
        EXPECT_FALSE(held.grow_to(11));
        EXPECT_TRUE(held.grow_to(3));
        EXPECT_EQ(held.bytes(), 8U);
        held.grow_anyway_to(20);
        EXPECT_EQ(budget->used(), 20U);
        EXPECT_EQ(budget->take(1), Taken::OverLimit);
    }
    EXPECT_EQ(budget->used(), 0U);
}

TEST(ByteBudget, LosesNothingBetweenThreads) {
    const auto parent = std::make_shared<ByteBudget>(1000);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 5000; ++i) {
                ByteBudget own(400, parent, 2);
                (void)own.take(300);
                (void)own.take(100);
                EXPECT_LE(parent->used(), 1000U);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(parent->used(), 0U);
}

TEST(Charge, SaysWhichLimitWasReached) {
    CallLimits limits;
    EXPECT_TRUE(core::charge(limits, SIZE_MAX));
    const auto memory = std::make_shared<ByteBudget>(50);
    limits.bytes = std::make_shared<ByteBudget>(40, memory, 2);
    EXPECT_TRUE(core::charge(limits, 10));
    const auto too_large = core::charge(limits, 31);
    ASSERT_FALSE(too_large);
    EXPECT_EQ(too_large.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(too_large.error().message.find("40 bytes"), std::string::npos);
    const auto busy = core::charge(limits, 20);
    ASSERT_FALSE(busy);
    EXPECT_EQ(busy.error().code, ErrorCode::Unavailable);
    const CallLimits apart = core::apart(limits);
    EXPECT_FALSE(core::charge(apart, 31));
    EXPECT_TRUE(core::charge(apart, 30));
    EXPECT_EQ(memory->used(), 50U);
    EXPECT_FALSE(core::charge(core::as_another_answer(limits), 41));
    EXPECT_FALSE(core::charge(core::apart_as_one_answer(limits), 41));
}

TEST(Charge, CountsEverythingThatAChunkBringsIntoAnAnswer) {
    Chunk chunk;
    chunk.chunk_id = "a";
    chunk.document_id = "ab";
    chunk.content = "abc";
    const std::size_t bare = core::printed_size(chunk);
    EXPECT_EQ(bare, 6U);
    chunk.metadata.set("k", Object{{"deep", Array{std::string(1000, 'x'), 7}}});
    EXPECT_GT(core::printed_size(chunk), bare + 1000);
    chunk.vector.assign(100, 0.5F);
    EXPECT_GT(core::printed_size(chunk), bare + 1000 + 400);
}

}  // namespace
}  // namespace braid
