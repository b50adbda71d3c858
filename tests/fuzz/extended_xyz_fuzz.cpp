#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/atoms/extended_xyz.h"

namespace {

/// The frames of a text, written again; an atom must have a place and an element.
std::string rewritten(std::string_view file) {
  weyl::ExtendedXyzReader reader(weyl::bytes_of(std::as_bytes(std::span(file)), "input"), "input");
  std::string result;
  for (weyl::AtomsFrame frame; reader.next(frame);) {
    bool sound = frame.positions.size() == 3 * frame.numbers.size();
    for (const double x : frame.positions) {
      sound = sound && std::isfinite(x);
    }
    for (const int z : frame.numbers) {
      sound = sound && z >= 0 && z <= 118;
    }
    if (!sound) {
      std::abort();
    }
    try {
      weyl::append_extended_xyz(result, frame);
    } catch (const weyl::DataError&) {  // a column named as extended xyz cannot
    }
  }
  return result;
}

}  // namespace

/// A text is refused with a DataError, or its frames are sound, and written and read again stay as they are.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string once;
  try {
    once = rewritten({reinterpret_cast<const char*>(data), size});
  } catch (const weyl::DataError&) {
    return 0;
  }
  if (!once.empty() && rewritten(once) != once) {
    std::abort();
  }
  return 0;
}
