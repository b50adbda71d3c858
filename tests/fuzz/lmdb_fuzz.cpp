#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/data/atoms/lmdb_files.h"
#include "tests/fuzz/frames.h"
#include "weyl/data/atoms/ase_lmdb.h"

namespace {

/// A file in memory, read by its path as any other.
struct File {
  int descriptor = ::memfd_create("weyl-lmdb-fuzz", 0);
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  ~File() { ::close(descriptor); }

  void write(const uint8_t* data, size_t size) const {
    if (::ftruncate(descriptor, 0) != 0 ||
        ::pwrite(descriptor, data, size, 0) != static_cast<ssize_t>(size)) {
      std::abort();
    }
  }
};

}  // namespace

/// The first byte says what the rest is: a data file; a row of JSON in a sound file; or what a row unpacks from. The
/// file is refused with a DataError, or its frames fit together, one after the other and from the last to the first.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  static const File file;
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 4 == 0) {
    file.write(data + 1, size - 1);
  } else {
    auto rows = weyl::ase_rows(2);
    rows["2"] = data[0] % 4 == 1 ? rest : weyl::zlib_packed(rest);
    const std::string whole = weyl::LmdbPages(rows, size % 2 == 0 ? 512 : 4096).file();
    file.write(reinterpret_cast<const uint8_t*>(whole.data()), whole.size());
  }
  try {
    weyl::AseLmdbReader reader(file.path);
    weyl::expect_sound_frames(reader, 1000);
    weyl::AtomsFrame frame;
    std::vector<weyl::FramePlace> places;
    std::optional<weyl::FramePlace> place;
    for (reader.go_to({0}); places.size() < 100; places.push_back(*place)) {
      place = reader.place();
      if (!reader.next(frame)) {
        break;
      }
    }
    for (; !places.empty(); places.pop_back()) {
      reader.go_to(places.back());
      if (!reader.next(frame)) {
        std::abort();
      }
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
