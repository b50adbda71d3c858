#include "weyl/data/containers/weights.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace weights_test {

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/";

/// Removed when the tests end.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("weyl-weights-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

std::string path_of(const std::string& name) {
  static const Folder folder;
  return (folder.path / name).string();
}

void write_names(const std::string& path, const std::vector<std::string>& names) {
  static constexpr std::byte bytes[4] = {};
  std::vector<TensorBytes> tensors;
  for (const auto& name : names) {
    tensors.push_back({name, ElementType::f32, {1}, bytes});
  }
  write_safetensors(path, tensors);
}

TEST(Weights, WrappersLeaveNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"layers.0.weight", "layers.0.weight"},
      {"net.layers.0.weight", "layers.0.weight"},
      {"net._orig_mod.layers.0.weight", "layers.0.weight"},
      {"module.net._orig_mod.module.w", "w"},
      {"layers._orig_mod.0.weight", "layers.0.weight"},
      {"layers.net.weight", "layers.net.weight"},  // only at the front
      {"layers.module.weight", "layers.module.weight"},
      {"network.w", "network.w"},  // only whole components
      {"net", "net"},              // a name never vanishes
      {"module.net", "net"},
      {"a._orig_mod", "a._orig_mod"},
      {"", ""},
      {"net..w", ".w"},
  };
  for (const auto& [name, expected] : cases) {
    EXPECT_EQ(unwrapped_name(name), expected) << name;
  }
}

TEST(Weights, ReadsBothFormatsWhateverTheirName) {
  const auto torch = read_weights(fixtures + "pytorch/lightning.ckpt");
  ASSERT_EQ(torch.size(), 2);
  EXPECT_EQ(torch[0].name, "a.weight");
  EXPECT_EQ(torch[1].name, "b");
  EXPECT_EQ(torch[1].array.shape, std::vector<int64_t>{2});

  const float values[] = {1, 2};
  const TensorBytes tensors[] = {{"module.b", ElementType::f32, {2}, std::as_bytes(std::span(values))}};
  for (const char* name : {"w.safetensors", "w.bin", "w.pt"}) {
    write_safetensors(path_of(name), tensors);
    const auto arrays = read_weights(path_of(name));
    ASSERT_EQ(arrays.size(), 1) << name;
    EXPECT_EQ(arrays[0].name, "b");
    EXPECT_EQ(std::memcmp(arrays[0].array.bytes.data(), values, sizeof values), 0);
  }
}

TEST(Weights, TwoNamesThatBecomeOneAreRefused) {
  const auto path = path_of("collision.safetensors");
  write_names(path, {"net.w", "w"});
  try {
    read_weights(path);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()),
              path + ": tensors 'net.w' and 'w' are both 'w' without their wrappers' prefixes");
  }
  write_names(path, {"net.w", "net.v"});
  EXPECT_EQ(read_weights(path).size(), 2);
}

TEST(Weights, OtherFilesAreNamedAsSuch) {
  const auto refusal = [](const std::string& path) {
    try {
      read_weights(path);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  std::ofstream(path_of("text.txt")) << "hello, this is text";
  std::ofstream(path_of("text.safetensors")) << "hello, this is text";
  std::ofstream(path_of("text.pth")) << "hello, this is text";
  EXPECT_NE(refusal(path_of("text.txt")).find("must be a safetensors file or a PyTorch zip checkpoint"),
            std::string::npos);
  EXPECT_NE(refusal(path_of("text.safetensors")).find("header length"), std::string::npos);
  EXPECT_NE(refusal(path_of("text.pth")).find("cannot read the archive"), std::string::npos);
  EXPECT_NE(refusal(fixtures + "numpy/stored.npz").find("without data.pkl"), std::string::npos);
  EXPECT_NE(refusal(fixtures + "pytorch/legacy.pt").find("legacy format"), std::string::npos);
  EXPECT_NE(refusal(path_of("absent.pt")).find("No such file"), std::string::npos);
}

}  // namespace weights_test
}  // namespace weyl
