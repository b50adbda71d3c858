#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/frames.h"
#include "weyl/data/atoms/deepmd.h"
#include "weyl/data/containers/array.h"
#include "weyl/data/containers/npy.h"

namespace {

namespace fs = std::filesystem;

constexpr std::array names{"type.raw",           "type_map.raw",       "set.000/coord.npy",
                           "set.000/box.npy",    "set.000/energy.npy", "set.000/force.npy",
                           "set.000/virial.npy", "set.000/atom_x.npy"};

/// A sound folder of two frames of two atoms.
std::array<std::string, names.size()> sound() {
  const auto npy = [](int64_t columns) {
    std::vector<double> values(static_cast<size_t>(2 * columns));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = i % 4 == 0 ? 5 : 0.25;  // of a box too: independent
    }
    const auto bytes = weyl::npy_bytes(weyl::array_of(values, {2, columns}));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  return {"0\n1\n", "O\nH\n", npy(6), npy(9), npy(1), npy(6), npy(9), npy(2)};
}

/// One for the whole process, gone with it.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("weyl-deepmd-fuzz-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path / "set.000"); }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

}  // namespace

/// The first byte says which file of a sound folder the rest stands for: the folder is refused with a
/// DataError, or its frames fit together, with places that are finite and elements that are known.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  static const Folder folder;
  auto files = sound();
  files[data[0] % names.size()].assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (size_t i = 0; i < names.size(); ++i) {
    std::ofstream(folder.path / names[i], std::ios::binary) << files[i];
  }
  try {
    weyl::DeepmdReader reader(folder.path.string());
    weyl::expect_sound_frames(reader, 1000);
  } catch (const weyl::DataError&) {
  }
  return 0;
}
