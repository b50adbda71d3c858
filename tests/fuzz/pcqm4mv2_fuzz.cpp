#include <string>

#include "tests/fuzz/frames.h"
#include "weyl/data/atoms/pcqm4mv2.h"
#include "weyl/data/atoms/sdf.h"

/// Conformers beside three gaps and the geometries of two molecules are refused with a DataError, or their frames fit
/// together; so is the input as a table of gaps.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string geometries =
      "\n\n\n  2  1  0  0  0  0            999 V2000\n    0.0000    0.0000    0.0000 C   0  0\n    1.0000    0.0000    0.0000 O   0  0\n"
      "  1  2  1  0\nM  END\n$$$$\n"
      "\n\n\n  1  0  0  0  0  0            999 V2000\n    0.0000    0.0000    0.0000 O   0  0\nM  END\n$$$$\n";
  const std::span<const std::byte> input{reinterpret_cast<const std::byte*>(data), size};
  const auto sdf = [](std::span<const std::byte> bytes) {
    return std::make_unique<weyl::SdfReader>(weyl::bytes_of(bytes, "input"), "input");
  };
  try {
    weyl::Pcqm4mv2Reader reader({sdf(input), sdf(std::as_bytes(std::span(geometries))),
                                 std::make_shared<std::vector<double>>(3, 1.0),
                                 std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{0, 2}), 2});
    weyl::expect_sound_frames(reader);
  } catch (const weyl::DataError&) {
  }
  try {
    weyl::read_pcqm4mv2_gaps(weyl::bytes_of(input, "input"), "input");
  } catch (const weyl::DataError&) {
  }
  return 0;
}
