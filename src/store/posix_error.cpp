#include "braid/store/posix_error.hpp"

#include <cerrno>
#include <system_error>

namespace braid::store {
namespace {

ErrorCode code_of(int error_number) noexcept {
    switch (error_number) {
        case ENOENT:
        case ENOTDIR:
            return ErrorCode::NotFound;
        case EEXIST:
        case ENOTEMPTY:
        case EISDIR:
            return ErrorCode::AlreadyExists;
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            return ErrorCode::StorageFull;
        case EMFILE:
        case ENFILE:
        case ENOMEM:
            return ErrorCode::ResourceExhausted;
        case EROFS:
            return ErrorCode::ReadOnly;
        case EACCES:
        case EPERM:
        case ELOOP:
            return ErrorCode::PermissionDenied;
        case EWOULDBLOCK:
            return ErrorCode::Locked;
        case ENAMETOOLONG:
            return ErrorCode::InvalidArgument;
        default:
            return ErrorCode::IoError;
    }
}

std::string meaning_of(int error_number) {
    switch (error_number) {
        case ENOSPC:
            return "no space left on the device (ENOSPC)";
        case EDQUOT:
            return "no space left in the quota (EDQUOT)";
        case EFBIG:
            return "the file would be larger than the limit allows (EFBIG)";
        case EMFILE:
        case ENFILE:
            return "too many open files";
        case ELOOP:
            return "it is a symbolic link, which is refused here";
        default:
            return std::generic_category().message(error_number);
    }
}

}  // namespace

Error posix_error(std::string_view doing, const std::string& path, int error_number) {
    return {code_of(error_number),
            "cannot " + std::string(doing) + " " + path + ": " + meaning_of(error_number)};
}

}  // namespace braid::store
