// Files that were damaged after they were written, and files that change while they are read: each ends in one line
// that names the file, exit code 3.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/app/atoms.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace damaged_files_test {

using namespace atoms;
namespace fs = std::filesystem;

class DamagedFiles : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = scratch("damaged");
    fs::create_directories(folder() + "/data");
    write(folder() + "/data/train.xyz", frames(40, 1));
    write(folder() + "/data/valid.xyz", frames(10, 2));
    write(folder() + "/data/test.xyz", frames(10, 3));
    std::ofstream(folder() + "/c.toml") << config;
    const Outcome trained = weyl("train c.toml train.steps=6 train.evaluate_every=1 --out run --threads 1");
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  static std::string& folder() {
    static std::string path;
    return path;
  }
  static Outcome weyl(const std::string& arguments) { return weyl_program(arguments, folder()); }
  static std::string model() { return contents(folder() + "/run/best/model.safetensors"); }
  static void put(const std::string& name, const std::string& bytes) {
    std::ofstream(folder() + "/" + name, std::ios::binary) << bytes;
  }
  /// Exit code 3, one line that begins with the file, nothing on stdout.
  static void expect_refused(const Outcome& outcome, const std::string& file) {
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.find("weyl: " + file + ": "), 0) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  }
};

size_t header_size(const std::string& file) {
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  return sizeof length + length;
}

TEST_F(DamagedFiles, NoBitOfAModelChangesUnseen) {
  const std::string whole = model();
  Stream stream(15, "flips");
  const auto flip = [&](size_t begin, size_t end) {
    const auto bit = 8 * begin + static_cast<size_t>(stream.below(static_cast<int64_t>(8 * (end - begin))));
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    put("flipped.safetensors", changed);
    return bit;
  };
  for (int i = 0; i < 60; ++i) {
    const auto bit = i % 3 == 0 ? flip(0, header_size(whole)) : flip(header_size(whole), whole.size());
    SCOPED_TRACE(bit);
    const Outcome verified = weyl("info --verify flipped.safetensors");
    expect_refused(verified, "flipped.safetensors");
    if (i % 3 != 0) {
      EXPECT_NE(verified.err.find(": tensor '"), std::string::npos) << verified.err;
    }
    if (i % 10 == 0 || i % 10 == 1) {
      expect_refused(weyl("predict flipped.safetensors data/test.xyz --out never.xyz --threads 1"),
                     "flipped.safetensors");
      EXPECT_FALSE(fs::exists(folder() + "/never.xyz"));
    }
  }
}

TEST_F(DamagedFiles, VerifyReadsAllFilesOfARun) {
  const Outcome text = weyl("info --verify run");
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* name :
       {"run/best/model.safetensors", "run/last/model.safetensors", "run/last/state.safetensors",
        "run/previous/model.safetensors", "run/previous/state.safetensors"}) {
    EXPECT_EQ(fs::exists(folder() + "/" + name),
              text.out.find(std::string(name) + "  as it was written: ") != std::string::npos)
        << name << "\n"
        << text.out;
  }
  EXPECT_NE(text.out.find("run/last/state.safetensors"), std::string::npos) << text.out;
  const Outcome json = weyl("info --verify run --json");
  const Json read = Json::parse(json.out, "stdout");
  const Json* verified = read.find("verified");
  ASSERT_NE(verified, nullptr) << json.out;
  EXPECT_GE(verified->find("files")->number_or(0), 3);
  EXPECT_GE(verified->find("tensors")->number_or(0), 30);
  EXPECT_GE(verified->find("bytes")->number_or(0), static_cast<double>(model().size()));
  EXPECT_TRUE(verified->find("without_checksums")->items().empty());

  fs::copy(folder() + "/run", folder() + "/broken", fs::copy_options::recursive);
  std::string state = contents(folder() + "/broken/last/state.safetensors");
  state.back() = static_cast<char>(state.back() ^ 4);
  put("broken/last/state.safetensors", state);
  for (const char* verb :
       {"info --verify broken", "info --verify broken/last", "info --verify broken --json"}) {
    expect_refused(weyl(verb), "broken/last/state.safetensors");
  }
  EXPECT_EQ(weyl("info --verify broken/best").code, 0);
}

// A fallback leaves last.damaged/ for whoever wants to look at it; the run itself is whole again.
TEST_F(DamagedFiles, VerifyPassesOverWhatWasSetAside) {
  fs::copy(folder() + "/run", folder() + "/fallen", fs::copy_options::recursive);
  for (const char* name : {"last.damaged", "last.damaged-2"}) {
    fs::copy(folder() + "/run/last", folder() + "/fallen/" + name, fs::copy_options::recursive);
    put("fallen/" + std::string(name) + "/state.safetensors", "damaged");
  }
  const Outcome outcome = weyl("info --verify fallen");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("damaged"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("fallen/last/state.safetensors  as it was written: "), std::string::npos);
  EXPECT_NE(outcome.err.find("fallen/last.damaged, fallen/last.damaged-2: not verified"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  EXPECT_EQ(weyl("info --verify fallen --quiet").err, "");
  expect_refused(weyl("info --verify fallen/last.damaged"), "fallen/last.damaged/state.safetensors");
  fs::remove_all(folder() + "/fallen/last");
  fs::remove_all(folder() + "/fallen/previous");
  fs::remove_all(folder() + "/fallen/best");
  EXPECT_EQ(weyl("info --verify fallen").code, 3);
}

TEST_F(DamagedFiles, VerifyTakesFilesAndRunsAlone) {
  EXPECT_EQ(weyl("info --verify c.toml").code, 2);
  EXPECT_EQ(weyl("info --verify run/best/model.safetensors train.steps=3").code, 2);
  EXPECT_EQ(weyl("info --verify absent").code, 3);
  fs::create_directories(folder() + "/empty");
  EXPECT_EQ(weyl("info --verify empty").code, 3);
  EXPECT_EQ(weyl("info --verify data/test.xyz").code, 3);
}

// A file of an earlier weyl, or of another program: it works as it did, and --verify says that it cannot tell.
TEST_F(DamagedFiles, FilesWithoutChecksumsStillLoad) {
  std::string file = model();
  const std::string data = file.substr(header_size(file));
  std::string header = file.substr(8, header_size(file) - 8);
  const size_t begin = header.find("\"weyl.xxh3_64.header\""),
               tensors = header.find("\"weyl.xxh3_64.tensors\""), end = header.find("\"}\",", tensors) + 4;
  ASSERT_LT(begin, tensors);
  header.erase(begin, end - begin);
  const uint64_t length = header.size();
  std::string old(sizeof length, '\0');
  std::memcpy(old.data(), &length, sizeof length);
  put("old.safetensors", old + header + data);
  const Outcome verified = weyl("info --verify old.safetensors --json");
  EXPECT_EQ(verified.code, 0) << verified.err;
  const Json read = Json::parse(verified.out, "stdout");
  EXPECT_EQ(read.find("verified")->find("files")->number_or(-1), 0);
  EXPECT_EQ(read.find("verified")->find("without_checksums")->items().size(), 1);
  ASSERT_EQ(weyl("predict old.safetensors data/test.xyz --out old.xyz --threads 1").code, 0);
  ASSERT_EQ(weyl("predict run data/test.xyz --out new.xyz --threads 1").code, 0);
  EXPECT_EQ(contents(folder() + "/old.xyz"), contents(folder() + "/new.xyz"));
}

TEST_F(DamagedFiles, DataFilesAreComparedWhenTheyAreRead) {
  ASSERT_EQ(weyl("data make nbody --out nbody train=2 valid=2 test=4").code, 0);
  ASSERT_EQ(weyl("info --verify nbody").code, 0);
  std::string bytes = contents(folder() + "/nbody/test.safetensors");
  const SafetensorsFile file(folder() + "/nbody/test.safetensors");
  char& lowest = bytes[file.header().data_begin + file.entry("positions").begin];  // as good a number as any
  lowest = static_cast<char>(lowest ^ 1);
  put("data.safetensors", bytes);
  for (const char* verb :
       {"data inspect data.safetensors", "info --verify data.safetensors",
        "data convert data.safetensors p.npz", "data split data.safetensors --out parts"}) {
    const Outcome outcome = weyl(verb);
    expect_refused(outcome, "data.safetensors");
    EXPECT_NE(outcome.err.find(": tensor 'positions': "), std::string::npos) << verb << ": " << outcome.err;
  }
}

TEST_F(DamagedFiles, PredictionsHaveChecksumsToo) {
  ASSERT_EQ(weyl("predict run data/test.xyz --out predicted.safetensors --threads 1").code, 0);
  EXPECT_TRUE(SafetensorsFile(folder() + "/predicted.safetensors").header().has_checksums);
}

// Half of the frames are cut off while `predict` streams them; by SIGBUS it ended before.
TEST_F(DamagedFiles, FramesThatAreShortenedWhileTheyAreRead) {
  std::string text = contents(folder() + "/data/test.xyz"), many;
  for (int i = 0; i < 4000; ++i) {
    many += text;
  }
  for (const std::string name : {"many.xyz", "many.xyz.gz"}) {
    put("many.xyz", many);
    if (name == "many.xyz.gz") {
      ASSERT_EQ(std::system(("gzip -1kf '" + folder() + "/many.xyz'").c_str()), 0);
    }
    const std::string command = "cd '" + folder() + "' && '" WEYL_BINARY_DIR "/bin/weyl' predict run " +
                                name + " --out long.xyz --threads 1 > said 2>&1; echo \"code $?\" >> said";
    FILE* program = popen(command.c_str(), "r");
    ASSERT_NE(program, nullptr);
    const auto begun = [] {  // the output under its temporary name has its first frames
      for (const auto& entry : fs::directory_iterator(folder())) {
        if (entry.path().filename().string().starts_with("long.xyz.") && fs::file_size(entry.path()) > 0) {
          return true;
        }
      }
      return false;
    };
    for (int i = 0; i < 20'000 && !begun(); ++i) {  // minutes
      usleep(10'000);
    }
    fs::resize_file(folder() + "/" + name, fs::file_size(folder() + "/" + name) / 2);
    pclose(program);
    const std::string said = contents(folder() + "/said");
    EXPECT_NE(said.find("code 3\n"), std::string::npos) << said;
    EXPECT_NE(said.find("weyl: " + name + ": frame "), std::string::npos) << said;
    EXPECT_NE(said.find("must stay as it is while it is read, but was shortened"), std::string::npos) << said;
    EXPECT_FALSE(begun());  // no litter
    EXPECT_FALSE(fs::exists(folder() + "/long.xyz"));
  }
}

}  // namespace damaged_files_test
}  // namespace weyl
