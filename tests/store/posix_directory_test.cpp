#include "braid/store/posix_directory.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "braid/store/posix_error.hpp"
#include "store/store_helpers.hpp"

namespace braid::store {
namespace {

using testing::TemporaryDirectory;
using testing::to_bytes;
using testing::why;

/// Runs `body` in a forked child, which ends with its result; returns the exit status.
template <class Body>
int in_child(const Body& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(PosixDirectory, CreatesTheLastComponentOnly) {
    const TemporaryDirectory root;
    EXPECT_TRUE(open_posix_directory(root / "new", OpenMode::CreateIfMissing).has_value());
    EXPECT_TRUE(open_posix_directory(root / "new/", OpenMode::CreateIfMissing).has_value());
    EXPECT_TRUE(open_posix_directory(root / "new", OpenMode::MustExist).has_value());
    for (const std::string& path : {root / "absent", std::string(), std::string("a\0b", 3)}) {
        EXPECT_FALSE(open_posix_directory(path, OpenMode::MustExist).has_value());
    }
    const auto deep = open_posix_directory(root / "x/y", OpenMode::CreateIfMissing);
    ASSERT_FALSE(deep.has_value());
    EXPECT_EQ(deep.error().code, ErrorCode::NotFound);
    EXPECT_NE(deep.error().message.find(root / "x/y"), std::string::npos);
    std::ofstream(root / "file") << "x";
    EXPECT_FALSE(open_posix_directory(root / "file", OpenMode::CreateIfMissing).has_value());
}

TEST(PosixDirectory, RefusesSymbolicLinksAndPipes) {
    const TemporaryDirectory root;
    std::ofstream(root / "secret") << "secret";
    std::filesystem::create_symlink(root / "secret", root / "link");
    std::filesystem::create_directory(root / "folder");
    std::filesystem::create_directory_symlink(root / "folder", root / "folder-link");
    ASSERT_EQ(::mkfifo((root / "pipe").c_str(), 0600), 0);
    const auto directory = root.open();

    EXPECT_FALSE(directory->open("link").has_value());
    EXPECT_FALSE(directory->open_append("link").has_value());
    EXPECT_FALSE(directory->lock("link").has_value());
    EXPECT_FALSE(directory->open_subdirectory("folder-link").has_value());
    EXPECT_FALSE(directory->remove_subdirectory("folder-link").has_value());
    EXPECT_FALSE(directory->open("pipe").has_value()) << "and does not hang";
    EXPECT_FALSE(directory->open_append("pipe").has_value());
    EXPECT_EQ(directory->list().value(),
              (std::vector<DirectoryEntry>{{"folder", true, 0}, {"secret", false, 6}}));
}

TEST(PosixDirectory, IgnoresForeignNamesAndRemovesItsOwnLeftovers) {
    const TemporaryDirectory root;
    std::ofstream(root / "foreign file~") << "x";
    std::ofstream(root / ".DS_Store") << "x";
    std::ofstream(root / ".tmp-17") << "half";
    std::filesystem::create_directories(root / ".trash-3/deep/deeper");
    std::ofstream(root / ".trash-3/deep/file with space") << "x";
    std::filesystem::create_symlink("/", root / ".trash-3/deep/deeper/link");
    const auto directory = root.open();

    EXPECT_TRUE(directory->list().value().empty());
    EXPECT_EQ(directory->list_others().value(),
              (std::vector<std::string>{".DS_Store", ".tmp-17", ".trash-3", "foreign file~"}));
    EXPECT_EQ(directory->remove_leftovers().value(), 2U);
    EXPECT_FALSE(std::filesystem::exists(root / ".tmp-17"));
    EXPECT_FALSE(std::filesystem::exists(root / ".trash-3"));
    EXPECT_TRUE(std::filesystem::exists(root / "foreign file~"));
    EXPECT_TRUE(std::filesystem::exists(root / ".DS_Store"));
    EXPECT_TRUE(std::filesystem::exists("/tmp")) << "links were removed, not followed";
}

TEST(PosixDirectory, WorksBeneathItsDescriptorAlsoAfterARename) {
    const TemporaryDirectory root;
    const auto directory = open_posix_directory(root / "before", OpenMode::CreateIfMissing).value();
    std::filesystem::rename(root / "before", root / "after");
    ASSERT_TRUE(directory->create("file", to_bytes("x")).has_value());
    EXPECT_TRUE(std::filesystem::exists(root / "after/file"));
}

TEST(PosixDirectory, LockHoldsBetweenProcessesAndNamesTheHolder) {
    const TemporaryDirectory root;
    const auto directory = root.open();
    auto held = directory->lock("lock");
    ASSERT_TRUE(held.has_value()) << why(held);
    const std::string holder = "process " + std::to_string(::getpid());
    // The child opens the directory anew: it inherited our descriptors, not our lock object.
    EXPECT_EQ(in_child([&] {
                  const auto refused = root.open()->lock("lock");
                  if (refused || refused.error().code != ErrorCode::Locked) return 1;
                  return refused.error().message.find(holder) == std::string::npos ? 2 : 0;
              }),
              0);
    held->reset();
    EXPECT_EQ(in_child([&] { return root.open()->lock("lock") ? 0 : 1; }), 0);
}

TEST(PosixDirectory, RemovingTheFileOfALockLetsNoOtherProcessIn) {
    const TemporaryDirectory root;
    const auto directory = root.open();
    auto held = directory->lock("lock");
    ASSERT_TRUE(held.has_value()) << why(held);
    const auto refused_to_a_child = [&] {
        return in_child([&] {
            const auto refused = root.open()->lock("lock");
            return !refused && refused.error().code == ErrorCode::Locked ? 0 : 1;
        });
    };
    ASSERT_TRUE(std::filesystem::remove(root / "lock"));
    EXPECT_EQ(refused_to_a_child(), 0);
    EXPECT_FALSE(std::filesystem::exists(root / "lock")) << "and leaves none of its own";
    std::ofstream(root / "lock") << "";
    EXPECT_EQ(refused_to_a_child(), 0);
    EXPECT_EQ((*held)->verify().error().code, ErrorCode::ReadOnly);
    held->reset();
    EXPECT_EQ(in_child([&] { return root.open()->lock("lock") ? 0 : 1; }), 0);
}

// A program that knows only the file, as older versions do.
TEST(PosixDirectory, RespectsAndNoticesALockOfTheFileAlone) {
    const TemporaryDirectory root;
    std::ofstream(root / "lock") << "";
    const int file = ::open((root / "lock").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::flock(file, LOCK_EX | LOCK_NB), 0);
    const auto refused = root.open()->lock("lock");
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::Locked);
    ::close(file);
    EXPECT_TRUE(root.open()->lock("lock").has_value());
}

TEST(PosixDirectory, LockOfAKilledProcessIsFree) {
    const TemporaryDirectory root;
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto held = root.open()->lock("lock");
        const char sign = held ? 'y' : 'n';
        if (::write(ready[1], &sign, 1) != 1) ::_exit(1);
        while (true) ::pause();
    }
    char sign = 0;
    ASSERT_EQ(::read(ready[0], &sign, 1), 1);
    EXPECT_EQ(sign, 'y');
    const auto directory = root.open();
    const auto refused = directory->lock("lock");
    EXPECT_FALSE(refused.has_value());
    if (!refused) {
        EXPECT_NE(refused.error().message.find(std::to_string(child)), std::string::npos)
            << refused.error().message;
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto free = directory->lock("lock");
    EXPECT_TRUE(free.has_value()) << why(free);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST(PosixDirectory, SaysSoWhenThereAreTooManyOpenFiles) {
    const TemporaryDirectory root;
    EXPECT_EQ(in_child([&] {
                  const auto directory = root.open();
                  if (!directory->create("a", to_bytes("x"))) return 1;
                  // Once before: the sanitizer needs a descriptor to look at a new type of object.
                  if (!directory->open_append("log")) return 8;
                  const rlimit limit{16, 16};
                  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
                  std::vector<std::unique_ptr<AppendFile>> open_files;
                  Result<std::unique_ptr<AppendFile>> last;
                  while ((last = directory->open_append("log"))) {
                      open_files.push_back(*std::move(last));
                      if (open_files.size() > 20) return 3;
                  }
                  if (last.error().code != ErrorCode::ResourceExhausted) return 4;
                  if (last.error().message.find("too many open files") == std::string::npos) {
                      return 5;
                  }
                  if (directory->open("a") || directory->list() || directory->lock("lock") ||
                      directory->create("b", {}) || directory->subdirectory("s")) {
                      return 6;
                  }
                  open_files.clear();
                  return directory->open("a") && directory->create("c", {}) ? 0 : 7;
              }),
              0);
}

TEST(PosixDirectory, LeaksNoDescriptors) {
    const TemporaryDirectory root;
    EXPECT_EQ(in_child([&] {
                  const rlimit limit{24, 24};
                  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
                  for (int i = 0; i < 30; ++i) {
                      const auto directory = root.open();
                      const std::string name = "f" + std::to_string(i);
                      if (!directory->create(name, {}) || !directory->open(name)) return 2;
                      if (directory->create(name, {}) || !directory->replace(name, {})) return 3;
                      if (!directory->list() || !directory->lock("lock")) return 4;
                      if (!directory->subdirectory("s") || directory->open("absent")) return 5;
                      if (!directory->open_append("log") || directory->open("s")) return 6;
                      if (!directory->remove_subdirectory("s") || directory->open_append("lock/")) {
                          return 7;
                      }
                  }
                  return 0;
              }),
              0);
}

TEST(PosixDirectory, ReportsAFileTooLargeForTheLimitAndLeavesNothing) {
    const TemporaryDirectory root;
    EXPECT_EQ(in_child([&] {
                  const auto directory = root.open();
                  std::signal(SIGXFSZ, SIG_IGN);
                  const rlimit limit{8192, 8192};
                  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
                  const testing::Bytes large(100'000);
                  const auto created = directory->create("large", large);
                  if (created || created.error().code != ErrorCode::StorageFull) return 2;
                  if (!directory->list().value().empty()) return 3;
                  if (directory->remove_leftovers().value() != 0) return 4;
                  const auto file = directory->open_append("log");
                  if (!file || (*file)->append(large)) return 5;
                  return directory->create("small", to_bytes("x")) ? 0 : 6;
              }),
              0);
}

TEST(PosixDirectory, RefusesToWriteWherePermissionsForbidIt) {
    const TemporaryDirectory root;
    ASSERT_TRUE(root.open()->create("present", to_bytes("x")).has_value());
    const std::string present = root / "present";
    ASSERT_EQ(::chmod(present.c_str(), 0644), 0);  // made for its owner alone
    ASSERT_EQ(::chmod(root.path().c_str(), 0555), 0);
    EXPECT_EQ(in_child([&] {
                  constexpr uid_t nobody = 65534;  // permissions do not bind root
                  if (::geteuid() == 0 && ::setuid(nobody) != 0) return 1;
                  const auto directory = root.open();
                  const auto created = directory->create("a", {});
                  if (created || created.error().code != ErrorCode::PermissionDenied) return 2;
                  const auto removed = directory->remove("present");
                  if (removed || removed.error().code != ErrorCode::PermissionDenied) return 3;
                  if (directory->subdirectory("s") || directory->lock("lock")) return 4;
                  return directory->open("present") && directory->list() ? 0 : 5;
              }),
              0);
    EXPECT_EQ(::chmod(root.path().c_str(), 0700), 0);
}

TEST(PosixError, MapsEveryKindOfFailure) {
    const std::pair<int, ErrorCode> expected[] = {
        {ENOENT, ErrorCode::NotFound},          {EEXIST, ErrorCode::AlreadyExists},
        {ENOSPC, ErrorCode::StorageFull},       {EDQUOT, ErrorCode::StorageFull},
        {EFBIG, ErrorCode::StorageFull},        {ENOMEM, ErrorCode::ResourceExhausted},
        {EMFILE, ErrorCode::ResourceExhausted}, {ENFILE, ErrorCode::ResourceExhausted},
        {EROFS, ErrorCode::ReadOnly},           {EACCES, ErrorCode::PermissionDenied},
        {EPERM, ErrorCode::PermissionDenied},   {EIO, ErrorCode::IoError},
    };
    for (const auto& [error_number, code] : expected) {
        const Error error = posix_error("write to", "/data/log", error_number);
        EXPECT_EQ(error.code, code) << error.message;
        EXPECT_TRUE(error.message.starts_with("cannot write to /data/log: ")) << error.message;
    }
    EXPECT_NE(posix_error("x", "y", ENOSPC).message.find("no space left"), std::string::npos);
}

}  // namespace
}  // namespace braid::store
