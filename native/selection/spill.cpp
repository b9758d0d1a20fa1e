#include "selection/spill.hpp"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace espalier {

namespace {

static_assert(sizeof(off_t) == 8, "offsets in large files");

// The text is strerror's; std::strerror itself is not safe in threads.
[[noreturn]] void fail(const std::string& action, const std::string& folder, int error) {
  throw SpillError("Cannot " + action + " in the folder '" + folder + "' for counts that exceed the memory: " +
                   std::generic_category().message(error) + ". Give more memory or another folder.");
}

}  // namespace

SpillFile::SpillFile(std::string folder) : folder_(std::move(folder)) {
  std::string path = folder_ + "/espalier-counts-XXXXXX";
  file_ = mkstemp(path.data());
  if (file_ < 0) fail("make a temporary file", folder_, errno);
  unlink(path.c_str());
  fcntl(file_, F_SETFD, FD_CLOEXEC);  // programs that this process starts must not hold the space on the disk
}

SpillFile::~SpillFile() { close(file_); }

void SpillFile::write(const void* from, std::int64_t n_bytes, std::int64_t offset) {
  const char* at = static_cast<const char*>(from);
  while (n_bytes > 0) {
    const ssize_t n = pwrite(file_, at, static_cast<std::size_t>(n_bytes), offset);
    if (n < 0 && errno == EINTR) continue;
    // The system may write a part, and say only the next time why the rest does not fit.
    if (n <= 0) fail("write a temporary file", folder_, n < 0 ? errno : ENOSPC);
    at += n;
    offset += n;
    n_bytes -= n;
  }
}

void SpillFile::read(void* to, std::int64_t n_bytes, std::int64_t offset) const {
  char* at = static_cast<char*>(to);
  while (n_bytes > 0) {
    const ssize_t n = pread(file_, at, static_cast<std::size_t>(n_bytes), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("read a temporary file", folder_, n < 0 ? errno : EIO);
    at += n;
    offset += n;
    n_bytes -= n;
  }
}

}  // namespace espalier
