#include <string>

#include "tests/fuzz/frames.h"
#include "weyl/data/atoms/molecule3d.h"
#include "weyl/data/atoms/sdf.h"

/// A table beside a sound SDF file of two molecules is refused with a DataError, or its frames fit together.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string molecules =
      "\n\n\n  1  0  0  0  0  0            999 V2000\n    0.0000    0.0000    0.0000 C   0  0\nM  END\n$$$$\n"
      "\n\n\n  1  0  0  0  0  0            999 V2000\n    0.0000    0.0000    0.0000 O   0  0\nM  END\n$$$$\n";
  try {
    auto sdf =
        std::make_unique<weyl::SdfReader>(weyl::bytes_of(std::as_bytes(std::span(molecules)), "sdf"), "sdf");
    weyl::Molecule3dReader reader(
        std::move(sdf), weyl::bytes_of({reinterpret_cast<const std::byte*>(data), size}, "input"), "input");
    weyl::expect_sound_frames(reader);
  } catch (const weyl::DataError&) {
  }
  return 0;
}
