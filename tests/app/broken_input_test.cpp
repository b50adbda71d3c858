// Broken configs, checkpoints, weights and data files, given to the built program: each is refused with one
// line on stderr that says what is wrong, the right exit code, nothing on stdout and no file written.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/app/refusals.h"

namespace weyl {
namespace broken_input_test {

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures";
const std::string checkpoint = fixtures + "/checkpoints/v1/best/model.safetensors";
const std::string points = fixtures + "/points/two_graphs.safetensors";

/// A tensor file's bytes with `from` in its header replaced by `to`; the header's length is set anew.
std::string with_header(const std::string& file, const std::string& from, const std::string& to) {
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  std::string header = file.substr(8, length);
  const std::string data = file.substr(8 + length);
  const size_t at = header.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << header;
  header.replace(std::min(at, header.size()), from.size(), to);
  length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(std::min(at, text.size()), from.size(), to);
}

class BrokenInput : public Refusals {
 protected:
  void bytes_refused(const std::string& bytes, const std::string& fault) const {
    write_bytes(at("m.safetensors"), bytes);
    refused("predict m.safetensors '" + points + "' --out o.safetensors", 3, fault);
    refused("info m.safetensors", 3, fault);
  }

  template <class Spoil>
  void model_refused(const Spoil& spoil, const std::string& fault,
                     const std::string& verb = "predict") const {
    TensorFile file(checkpoint);
    spoil(file);
    file.write(at("m.safetensors"));
    refused(verb == "predict" ? "predict m.safetensors '" + points + "' --out o.safetensors"
                              : verb + " m.safetensors",
            3, fault);
  }

  template <class Spoil>
  void points_refused(const Spoil& spoil, const std::string& fault) const {
    TensorFile file(points);
    spoil(file);
    file.write(at("d.safetensors"));
    refused("predict --quiet '" + checkpoint + "' d.safetensors --out o.safetensors", 3, fault);
  }
};

TEST_F(BrokenInput, EveryConfig) {
  int64_t seen = 0;
  for (const auto& file : fs::directory_iterator(fixtures + "/broken/config")) {
    refused("config check '" + file.path().string() + "'", 2, file.path().filename().string());
    ++seen;
  }
  EXPECT_GE(seen, 30);
  const std::string broken = fixtures + "/broken/config/";
  refused("train '" + broken + "misspelt_key.toml' --out run", 2, "did you mean");
  refused("audit '" + broken + "not_utf8.toml'", 2, "not_utf8.toml");
  refused("info '" + broken + "out_of_range.toml'", 2, "must be");
  refused("bench '" + broken + "unclosed_list.toml'", 2, "unclosed_list.toml");
  refused("import '" + checkpoint + "' --config '" + broken + "unknown_system.toml' --out m.safetensors", 2,
          "unknown_system.toml");
}

TEST_F(BrokenInput, BytesOfACheckpoint) {
  const std::string whole = contents(checkpoint);
  bytes_refused("", "8 bytes of header length, got 0");
  bytes_refused(whole.substr(0, 7), "8 bytes of header length, got 7");
  bytes_refused(whole.substr(0, 200), "exceeds the file");
  bytes_refused(whole.substr(0, whole.size() - 100), "bytes of data");
  bytes_refused(whole + "more", "4 bytes after the last tensor");
  bytes_refused(std::string(8, '\x7f') + whole.substr(8), "header length must be at most");
  bytes_refused(with_header(whole, "[24,88]", "[16,80]"), "they overlap");
  bytes_refused(with_header(whole, "[24,88]", "[28,92]"), "a hole");
  bytes_refused(with_header(whole, "[9188,9380]", "[9188,99380]"), "data");
  bytes_refused(with_header(whole, "\"F32\"", "\"F99\""), "got 'F99'");
  bytes_refused(with_header(whole, "\"F32\"", "\"F64\""), "F64");
  bytes_refused(with_header(whole, "{", "["), "header");
}

TEST_F(BrokenInput, TensorsOfACheckpoint) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string weight = "blocks.0.mlp.0.weight";
  model_refused([&](TensorFile& f) { f.set(weight, 3, nan); }, "'" + weight + "' must be finite");
  model_refused([&](TensorFile& f) { f.set(weight, 0, HUGE_VALF); }, "must be finite", "audit");
  model_refused([&](TensorFile& f) { f.set("task.scale", 0, std::nan("")); }, "'scale' must be finite");
  model_refused([&](TensorFile& f) { f.tensors.erase("task.scale"); }, "'scale'");
  model_refused([&](TensorFile& f) { f.tensors.erase(weight); }, "must hold '" + weight + "'");
  model_refused([&](TensorFile& f) { f.tensors["extra"] = f.tensors[weight]; }, "unexpected tensor 'extra'");
  model_refused([&](TensorFile& f) { std::swap(f.tensors[weight].shape[0], f.tensors[weight].shape[1]); },
                "'" + weight + "' must be real with shape [32, 16], got Float [16, 32]");
  model_refused([&](TensorFile& f) { f.tensors[weight].type = ElementType::i32; },
                "'" + weight + "' must be real");
}

TEST_F(BrokenInput, MetadataOfACheckpoint) {
  for (const char* key : {"format_version", "recipe", "interface", "carrier"}) {
    model_refused([&](TensorFile& f) { f.metadata.erase(key); }, key);
  }
  model_refused([](TensorFile& f) { f.metadata.clear(); }, "m.safetensors");
  model_refused([](TensorFile& f) { f.metadata["format_version"] = "99"; }, "99");
  model_refused([](TensorFile& f) { f.metadata["format_version"] = "one"; }, "one", "info");
  model_refused([](TensorFile& f) { f.metadata["carrier"] = "ropes"; }, "ropes");
  model_refused([](TensorFile& f) { f.metadata["interface"] += "nonsense"; }, "m.safetensors");
  const auto recipe = [](const char* from, const char* to) {
    return [=](TensorFile& f) { f.metadata["recipe"] = replaced(f.metadata["recipe"], from, to); };
  };
  model_refused(recipe("width = 16", "width = 18"), "m.safetensors");
  model_refused(recipe("width = 16", "width = 1e9"), "width");
  model_refused(recipe("system = \"transformer\"", "system = \"oracle\""), "oracle");
}

TEST_F(BrokenInput, RunFolders) {
  fs::create_directories(at("empty"));
  refused("eval empty", 3, "must hold a checkpoint");
  refused("train --resume empty", 3, "config.toml");
  fs::create_directories(at("run/best/model.safetensors"));
  refused("info run", 3, "run");
  refused("audit run/best/model.safetensors", 3, "model.safetensors");
  refused("plot empty --out pictures", 3, "empty");
}

TEST_F(BrokenInput, Weights) {
  write_bytes(at("i.toml"),
              "[interface]\nfeatures = [{ name = \"s\" }]\noutputs = [{ name = \"y\", level = \"graph\" }]\n"
              "[model]\nsystem = \"platonic\"\n[model.platonic]\nwidth = 48\nblocks = 1\n");
  const auto import = [&](const std::string& weights, const std::string& fault) {
    refused("import '" + weights + "' --config i.toml --out m.safetensors", 3, fault);
  };
  const std::string broken = fixtures + "/broken/";
  import(broken + "pytorch/truncated.pt", "cannot read the archive");
  import(broken + "pytorch/system_call.pt", "os.system");
  import(broken + "pytorch/plain_pickle.pt", "plain pickle");
  import(broken + "pytorch/overflowing_stride.pt", "beyond its storage");
  import(broken + "safetensors/overlap.safetensors", "they overlap");
  import(at("i.toml"), "i.toml");
  import(points, "two_graphs.safetensors: tensor '");
  TensorFile file(points);
  file.tensors.clear();
  file.write(at("none.safetensors"));
  import(at("none.safetensors"), "none.safetensors");
}

TEST_F(BrokenInput, DataFiles) {
  points_refused([](TensorFile& f) { f.tensors.erase("positions"); }, "positions");
  points_refused([](TensorFile& f) { f.tensors.erase("offsets"); }, "offsets: is absent");
  points_refused([](TensorFile& f) { f.tensors.erase("vectors"); }, "vectors: is absent");
  points_refused([](TensorFile& f) { f.set("offsets", 0, int64_t{1}); }, "must begin with 0, got 1");
  points_refused([](TensorFile& f) { f.set("offsets", 1, int64_t{-1}); }, "must not decrease");
  points_refused([](TensorFile& f) { f.set("offsets", 2, int64_t{1} << 62); }, "must end with");
  points_refused([](TensorFile& f) { f.set("positions", 5, std::nanf("")); }, "positions: must be finite");
  points_refused([](TensorFile& f) { f.set("scalars", 0, HUGE_VALF); }, "scalars: must be finite");
  points_refused([](TensorFile& f) { f.tensors["positions"].type = ElementType::i32; },
                 "positions: must be of a floating-point type");
  points_refused([](TensorFile& f) { f.tensors["positions"].shape = {12, 2}; }, "positions");
  points_refused([](TensorFile& f) { f.tensors["scalars"].shape = {4, 2}; }, "scalars: must be (8, 1)");
  write_bytes(at("cut.safetensors"), contents(points).substr(0, 150));
  refused("predict --quiet '" + checkpoint + "' cut.safetensors --out o.safetensors", 3, "exceeds the file");
  refused("data inspect cut.safetensors", 3, "exceeds the file");
  refused("data inspect '" + fixtures + "/broken/multivectors/fifteen_numbers.safetensors'", 3,
          "multivectors: must be (3, 2, 16), got (3, 2, 15)");
  refused("data split cut.safetensors --out parts", 3, "exceeds the file");
  refused("data convert cut.safetensors cut.npz", 3, "exceeds the file");
  refused("data convert '" + fixtures + "/broken/npz/damaged_data.npz' c.safetensors", 3, "CRC");
  refused("predict --quiet '" + checkpoint + "' . --out o.safetensors", 3, "holds neither");
  refused("eval --quiet '" + checkpoint + "' --data '" + points + "'", 3, "needs the label 'displacement'");
  refused("eval --quiet '" + checkpoint + "' --data none", 3, "none");
}

// What the system refuses to say of a path (no permission, a disk that fails, here a name that is too long) was
// "filesystem error: status: ..." with exit code 1.
TEST_F(BrokenInput, PathsThatCannotBeLookedAt) {
  const std::string name = std::string(300, 'a') + ".xyz", fault = name + ": File name too long";
  refused("data inspect " + name, 3, fault);
  refused("data convert " + name + " out.xyz", 3, fault);
  refused("data split " + name + " --out parts", 3, fault);
  refused("eval --quiet '" + checkpoint + "' --data " + name, 3, fault);
}

}  // namespace broken_input_test
}  // namespace weyl
