#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "braid/embed/onnx_embedder.hpp"

namespace braid::embed {
namespace {

constexpr std::size_t kTexts = 50'000;
constexpr std::size_t kBatch = 1000;

std::size_t resident_bytes() {
    std::size_t total = 0;
    std::size_t resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(EmbedderMemory, StaysFlatOverFiftyThousandTexts) {
    const auto embedder = make_builtin_embedder("minilm", ModelLocator::standard());
    if (!embedder) GTEST_SKIP() << embedder.error().message;
    std::size_t settled = 0;
    for (std::size_t done = 0; done < kTexts; done += kBatch) {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < kBatch; ++i) {
            std::string text = "text " + std::to_string(done + i);
            for (std::size_t w = 0; w < i % 12; ++w) text += " word";
            texts.push_back(std::move(text));
        }
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        const auto answer = (*embedder)->embed(views, TextRole::Passage, {});
        ASSERT_TRUE(answer) << answer.error().message;
        if (done + kBatch == 5000) settled = resident_bytes();
    }
    const std::size_t end = resident_bytes();
    RecordProperty("settled_bytes", std::to_string(settled));
    RecordProperty("end_bytes", std::to_string(end));
    EXPECT_LE(end, settled + (8U << 20U)) << settled << " bytes after 5,000 texts";
}

}  // namespace
}  // namespace braid::embed
