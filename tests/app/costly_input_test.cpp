// Input that costs: pipes that never begin, metadata that nest without end, disks that are full. The program
// answers each with one line and the right exit code, without waiting, and leaves no file behind.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "tests/app/refusals.h"

namespace weyl {
namespace costly_input_test {

const std::string checkpoint = WEYL_SOURCE_DIR "/tests/fixtures/checkpoints/v1/best/model.safetensors";
const std::string points = WEYL_SOURCE_DIR "/tests/fixtures/points/two_graphs.safetensors";

class CostlyInput : public Refusals {};

// Before, these waited for ever.
TEST_F(CostlyInput, APipeIsRefusedWithoutWaiting) {
  const std::string fault = "must be a regular file, got a pipe, socket or device";
  ASSERT_EQ(::mkfifo(at("pipe.toml").c_str(), 0600), 0);
  for (const char* verb : {"config check", "info", "audit"}) {
    refused(std::string(verb) + " pipe.toml", 2, "pipe.toml: " + fault);
  }
  refused("train pipe.toml --out run", 2, "pipe.toml: " + fault);
  refused("config check /dev/null", 2, "/dev/null: " + fault);  // was taken for an empty config
  refused("config check .", 2, ".: cannot be read: Is a directory");
  for (const char* name :
       {"p.xyz", "p.npz", "p.safetensors", "p.nii.gz", "p.off", "p.h5", "p.tar", "p.png"}) {
    ASSERT_EQ(::mkfifo(at(name).c_str(), 0600), 0);
    refused(std::string("data inspect ") + name, 3, std::string(name) + ": " + fault);
  }
  fs::create_directory(at("set"));
  ASSERT_EQ(::mkfifo(at("set/dataset.json").c_str(), 0600), 0);
  refused("data inspect set", 3, "set: ");
}

// 20,000 nested arrays ended these by SIGSEGV.
TEST_F(CostlyInput, MetadataThatNestAreRefused) {
  const std::string deep = std::string(20'000, '[') + std::string(20'000, ']');
  for (const char* key : {"training", "symmetry", "parts"}) {
    TensorFile model(checkpoint);
    if (model.metadata.contains(key)) {
      model.metadata[key] = deep;
      model.write(at("m.safetensors"));
      refused("info m.safetensors", 3,
              std::string("m.safetensors: metadata '") + key + "': JSON must nest at most 64 deep");
    }
  }
  fs::create_directory(at("set"));
  write_bytes(at("set/dataset.json"), "{\"name\": \"x\", \"training\": " + deep + "}");
  refused("data inspect set", 3, "set/dataset.json: JSON must nest at most 64 deep");
  write_bytes(at("deep.toml"), "x = " + deep);
  refused("config check deep.toml", 2, "deep.toml:1: not valid TOML");
}

/// No file that this process or a child writes grows beyond so many bytes, while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

TEST_F(CostlyInput, OnAFullDiskEachVerbEndsInOneLine) {
  std::string frames;
  for (int i = 0; i < 100; ++i) {
    frames += "2\nProperties=species:S:1:pos:R:3 energy=-1.5\nO 0 0 0\nH 0 0 1\n";
  }
  write_bytes(at("a.xyz"), frames);
  fs::copy_file(points, at("p.safetensors"));
  const FileSizeLimit limit(600);
  const std::string fault = "cannot write: File too large";
  for (const char* verb :
       {"data make nbody --out made train=8 valid=4 test=4 -q",
        "data make pose_sequences --out made train=8 valid=4 test=4 -q",
        "data make phantoms --out made count=1 size=[16,16,16] -q",
        "data make solids --out made train=2 test=1 points=64 -q", "data make lesions --out made count=2 -q",
        "data make glyphs --out made train=8 test=4 -q", "data convert a.xyz b.xyz",
        "data convert a.xyz b.npz from=eV to=eV", "data convert p.safetensors p.npz",
        "data split a.xyz --out parts", "data split p.safetensors --out parts"}) {
    refused(verb, 3, fault);
  }
  refused("predict '" + checkpoint + "' p.safetensors --out o.safetensors -q", 3, fault);
}

TEST_F(CostlyInput, ARunOnAFullDiskLeavesNoEmptyFile) {
  ASSERT_EQ(weyl_program("data make nbody --out d train=16 valid=4 test=4 -q", at(".")).code, 0);
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{600}, rlim_t{4'000}, rlim_t{100'000}}) {
    const std::string run = "run" + std::to_string(bytes);
    Outcome outcome;
    {
      const FileSizeLimit limit(bytes);
      outcome = weyl_program("train '" WEYL_SOURCE_DIR
                             "/configs/nbody/platonic.toml' data.nbody.path=d "
                             "data.nbody.train=0 data.nbody.valid=0 data.nbody.test=0 train.epochs=1 "
                             "--threads 1 --out " +
                                 run + " 2>&1 >/dev/null | cat",
                             at("."));
    }
    EXPECT_NE(outcome.out.find("cannot "), std::string::npos) << outcome.out;
    for (const auto& [path, bytes_left] : files_below(at("."))) {
      const bool lock = path.ends_with(".lock");
      EXPECT_TRUE(fs::is_directory(path) || lock || !bytes_left.empty()) << path << " is empty";
      EXPECT_FALSE(path.ends_with(".tmp")) << path;
    }
  }
}

TEST_F(CostlyInput, AFullStdoutIsAnError) {
  if (!fs::exists("/dev/full")) {
    GTEST_SKIP() << "no /dev/full";
  }
  fs::copy_file(points, at("p.safetensors"));
  for (const std::string& verb :
       {std::string("--help"), std::string("--version"), std::string("train --help"),
        std::string("config check '" WEYL_SOURCE_DIR "/configs/nbody/platonic.toml'"),
        std::string("info '" WEYL_SOURCE_DIR "/configs/nbody/platonic.toml'"),
        std::string("data inspect p.safetensors"), std::string("config schema"),
        std::string("config explain train.epochs"), std::string("doctor")}) {
    refused(verb + " >/dev/full", 3, "stdout: must be writable, but a write failed");
  }
}

}  // namespace costly_input_test
}  // namespace weyl
