#include <vector>

#include "tests/fuzz/frames.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/data/containers/archives.h"

/// An archive is refused with a DataError, or its files are read to their ends, or to a fault of their own.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    weyl::TarArchive archive({reinterpret_cast<const std::byte*>(data), size}, "input");
    for (int files = 0; files < 100 && archive.next(); ++files) {
      try {
        weyl::ExtendedXyzReader reader(archive.bytes(), archive.name());
        weyl::expect_sound_frames(reader, 100);
      } catch (const weyl::DataError&) {  // what is in it is none of the archive's
      }
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
