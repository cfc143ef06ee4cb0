#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "braid/store/memory_directory.hpp"
#include "store/faulty_directory.hpp"
#include "store/store_helpers.hpp"

namespace braid::store::testing {

/// A test of what every directory does, by name: "posix", "memory", "faulty".
class EveryDirectory : public ::testing::TestWithParam<std::string> {
protected:
    EveryDirectory() {
        if (GetParam() == "posix") {
            temporary = std::make_unique<TemporaryDirectory>();
            directory = temporary->open();
        } else if (GetParam() == "memory") {
            directory = make_memory_directory();
        } else {
            directory = disk.root();
        }
    }

    std::unique_ptr<TemporaryDirectory> temporary;
    FaultyDisk disk;
    std::unique_ptr<Directory> directory;
};

}  // namespace braid::store::testing
