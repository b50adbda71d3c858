// Configs, overrides, run folders and model files of before some keys were renamed: each verb reads them as before,
// with one warning, and what is written has the new names.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "tests/app/nbody.h"
#include "tests/app/program.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace old_names_test {

/// A text in which optimiser and schedule have the names of before.
std::string aged(std::string text) {
  for (const std::string table : {"[train.optimiser]\n", "[train.schedule]\n"}) {
    const size_t at = text.find(table), key = text.find("name = ", at);
    EXPECT_NE(at, std::string::npos) << text;
    EXPECT_NE(key, std::string::npos) << text;
    text.replace(key, 4, "law");
  }
  return text;
}

size_t count(const std::string& text, const std::string& word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++n;
  }
  return n;
}

std::string without_seconds(const std::string& json) {
  const size_t begin = json.find("\"seconds\""), end = json.find('\n', begin);
  return json.substr(0, begin) + json.substr(end);
}

/// A text without the line that gives a key.
std::string without_key(std::string text, const std::string& key) {
  const size_t at = text.find("\n" + key + " = ");
  EXPECT_NE(at, std::string::npos) << text;
  return text.erase(at, text.find('\n', at + 1) - at);
}

template <class F>
void age_model(const std::string& path, const F& older) {
  const std::string old = path + ".old";
  {
    const SafetensorsFile file(path);
    auto metadata = file.header().metadata;
    metadata["recipe"] = older(metadata.at("recipe"));
    std::vector<TensorBytes> tensors;
    std::map<std::string, std::vector<std::byte>> bytes;  // what they point into
    for (const auto& [name, entry] : file.header().tensors) {
      tensors.push_back({name, entry.type, entry.shape, bytes[name] = file.bytes(name)});
    }
    std::ranges::sort(tensors, {}, [&](const TensorBytes& t) { return file.entry(t.name).begin; });
    write_safetensors(old, tensors, metadata);
  }
  std::filesystem::rename(old, path);
}

TEST(OldNames, RunsAndModelsOfBefore) {
  const std::string folder = scratch("old-names");
  std::ofstream(folder + "/c.toml") << nbody_config(3) + "optimiser.law = \"adam\"\n";
  ASSERT_EQ(weyl_program("data make nbody --out data train=12 valid=6 test=6", folder).code, 0);
  const std::string run = folder + "/run";
  const std::string was = "train.optimiser.law is now train.optimiser.name";

  const Outcome trained =
      weyl_program("train c.toml --out run --threads 1 train.schedule.law=constant", folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(count(trained.err, was + ", train.schedule.law is now train.schedule.name"), 1U) << trained.err;
  EXPECT_EQ(contents(run + "/config.toml").find("law"), std::string::npos);
  const Outcome checked = weyl_program("config check c.toml", folder);
  EXPECT_EQ(checked.code, 0);
  EXPECT_EQ(count(checked.err, was), 1U) << checked.err;

  const Outcome before = weyl_program("eval run --threads 1 --json", folder);
  ASSERT_EQ(before.code, 0) << before.err;
  EXPECT_EQ(before.err.find(was), std::string::npos) << before.err;

  std::ofstream(run + "/config.toml.new") << aged(contents(run + "/config.toml"));
  std::filesystem::rename(run + "/config.toml.new", run + "/config.toml");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run)) {
    if (entry.path().extension() == ".safetensors" && entry.path().parent_path().filename() != "plots") {
      age_model(entry.path().string(), aged);
    }
  }
  const Outcome after = weyl_program("eval run --threads 1 --json", folder);
  EXPECT_EQ(after.code, 0) << after.err;
  EXPECT_EQ(without_seconds(after.out), without_seconds(before.out));
  EXPECT_EQ(count(after.err, was), 1U) << after.err;
  for (const std::string& verb : std::vector<std::string>{
           "predict run/best/model.safetensors data/test.safetensors --out p.safetensors", "info run",
           "info run/best/model.safetensors", "audit run/best/model.safetensors", "train --resume run"}) {
    const Outcome done = weyl_program(verb, folder);
    EXPECT_EQ(done.code, 0) << verb << ": " << done.err;
    EXPECT_EQ(count(done.err, was), 1U) << verb << ": " << done.err;
  }
}

// Model C had GELU before `score_activation` was there: runs and models that lack it go on with GELU.
TEST(OldNames, RunsAndModelsOfBeforeAKeyWasThere) {
  const std::string folder = scratch("old-keys"), run = folder + "/run";
  ASSERT_EQ(
      weyl_program("data make pose_sequences --out data group=se2 train=16 valid=4 test=4", folder).code, 0);
  const Outcome trained =
      weyl_program("train '" WEYL_SOURCE_DIR
                   "/configs/completion/se2.toml' data.pose_sequences.path=data train.epochs=2 train.batch=8 "
                   "model.lie.variant=C model.lie.score_activation=gelu --threads 1 --out run",
                   folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto evaluated = [&] {
    const Outcome done = weyl_program("eval run --threads 1 --json", folder);
    EXPECT_EQ(done.code, 0) << done.err;
    return without_seconds(done.out);
  };
  const auto rewrite = [&](const auto& change) {
    std::ofstream(run + "/config.toml.new") << change(contents(run + "/config.toml"));
    std::filesystem::rename(run + "/config.toml.new", run + "/config.toml");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run)) {
      if (entry.path().extension() == ".safetensors" && entry.path().parent_path().filename() != "plots") {
        age_model(entry.path().string(), change);
      }
    }
  };
  const std::string before = evaluated();
  rewrite([](std::string text) {  // control: these weights with ReLU answer otherwise
    const std::string gelu = "score_activation = \"gelu\"";
    EXPECT_NE(text.find(gelu), std::string::npos) << text;
    return text.replace(text.find(gelu), gelu.size(), "score_activation = \"relu\"");
  });
  EXPECT_NE(evaluated(), before);
  rewrite([](const std::string& text) { return without_key(text, "score_activation"); });
  EXPECT_EQ(evaluated(), before);
  const Outcome config = weyl_program("config check run/config.toml", folder);
  EXPECT_NE(config.out.find("score_activation = \"gelu\""), std::string::npos) << config.out << config.err;
}

}  // namespace old_names_test
}  // namespace weyl
