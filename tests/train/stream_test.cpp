// A training on frames that stay on disk: what it finds by reading all of them is found once.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/train/small_training.h"
#include "weyl/core/check.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/data_warnings.h"
#include "weyl/train/preflight/prepare.h"

namespace weyl {
namespace stream_test {

namespace fs = std::filesystem;

/// Molecules of two to five atoms whose energies and forces differ.
std::string frames(int64_t count) {
  std::string all;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t n = 2 + (i * 7) % 4;
    all += text(n, "\nProperties=species:S:1:pos:R:3:forces:R:3 energy=", -0.5 * static_cast<double>(i % 13),
                "\n");
    for (int64_t a = 0; a < n; ++a) {
      all += text(a % 2 == 0 ? "O " : "H ", 1.5 * static_cast<double>(a), " ",
                  0.125 * static_cast<double>(i % 11), " 0.25 1.5 ", a, " ",
                  0.25 * static_cast<double>(i % 7), "\n");
    }
  }
  return all;
}

class StreamTraining : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    std::ofstream(data_) << frames(9000);
    ASSERT_GT(fs::file_size(data_), uint64_t{1} << 20);
    MoleculesDataOptions data;
    data.path = data_;
    data.stream = true;
    data.order = SplitOrder::file;
    recipe_.data.set = data;
    ForceFieldOptions task;
    task.forces = ForceSource::direct;
    recipe_.task.task = task;
    recipe_.train.epochs.reset();
    recipe_.train.steps = 5;
    recipe_.train.evaluate_every = 1;
    recipe_.train.schedule = {};
    recipe_.train.loaders = 2;
  }
  void TearDown() override { ::unsetenv("XDG_CACHE_HOME"); }

  Prepared prepared() const { return prepare(recipe_, {}, {recipe_.data, recipe_.task, ""}, nullptr); }
  std::map<std::string, std::string> trained(const std::string& name) const {
    TrainRequest request;
    request.out = folder_ / name;
    request.threads = 1;
    return bits_of(train(recipe_, request).run);
  }

  ScratchFolder folder_;
  const std::string data_ = folder_ / "all.xyz", kept_ = folder_ / ".weyl";
  Recipe recipe_ = small_recipe();
};

TEST_F(StreamTraining, ReadsAllSamplesOnce) {
  const Prepared first = prepared();
  const auto warnings = data_warnings(first.data, first.saved.task->labels());
  ASSERT_FALSE(warnings.empty());  // of frames that are there several times
  const auto time = fs::last_write_time(data_);
  std::fstream all(data_,
                   std::ios::in | std::ios::out);  // between the parts that tell whether the file has changed
  all.seekp(static_cast<std::streamoff>(fs::file_size(data_)) * 41 / 126);
  all << std::string(1000, '?');
  all.close();
  fs::last_write_time(data_, time);
  const Prepared second = prepared();
  EXPECT_EQ(second.labels.size(), first.labels.size());
  for (size_t i = 0; i < first.labels.size(); ++i) {
    EXPECT_EQ(second.labels[i].known, first.labels[i].known);
    EXPECT_EQ(second.labels[i].all, first.labels[i].all);
  }
  const NamedTensors a = first.saved.task->state(), b = second.saved.task->state();
  ASSERT_EQ(a.size(), b.size());
  ASSERT_FALSE(a.empty());
  for (const auto& [name, values] : a) {
    EXPECT_TRUE(at::equal(values, b.at(name))) << name;
  }
  EXPECT_EQ(data_warnings(second.data, second.saved.task->labels()), warnings);
  const int threads = at::get_num_threads();
  at::set_num_threads(threads + 1);
  EXPECT_THROW(prepared(), DataError);  // a fit of sums that may have other bits, for which samples are read
  at::set_num_threads(threads);
  EXPECT_THROW(data_warnings(second.data, {}), DataError);  // of other labels, for which samples are read
  recipe_.task.task = ForceFieldOptions{.forces = ForceSource::direct, .reference = Reference::mean};
  EXPECT_THROW(prepared(), DataError);  // another fit, for which samples are read
}

TEST_F(StreamTraining, HasTheSameBitsWithAndWithoutAnIndex) {
  const auto made = trained("a");
  ASSERT_TRUE(fs::exists(kept_));
  EXPECT_EQ(trained("b"), made);
  fs::remove_all(kept_);
  std::ofstream(kept_) << "in the way";
  std::ofstream(folder_ / "cache") << "in the way";
  EXPECT_EQ(trained("c"), made);
  std::get<MoleculesDataOptions>(recipe_.data.set).stream = false;
  recipe_.train.loaders = 1;
  trained("d");
  const NamedTensors a = load_tensors(folder_ / "a/last/model.safetensors"),
                     d = load_tensors(folder_ / "d/last/model.safetensors");
  ASSERT_EQ(a.size(), d.size());
  for (const auto& [name, values] : a) {
    EXPECT_TRUE(at::equal(values, d.at(name))) << name;
  }
  recipe_.train.seed = 6;
  EXPECT_NE(trained("e").at("last/model.safetensors"), made.at("last/model.safetensors"));
}

TEST_F(StreamTraining, NoticesAChangedRow) {
  prepared();
  std::string other = frames(9000);
  const size_t at = other.find("energy=-3", other.size() / 2);
  other.replace(at, 9, "energy=-9");
  std::ofstream(data_) << other;
  const Prepared again = prepared();
  ASSERT_EQ(again.notes.size(), 1U);
  EXPECT_NE(again.notes[0].find("all samples are read again, and it is made anew"), std::string::npos)
      << again.notes[0];
  fs::remove_all(kept_);
  const NamedTensors a = again.saved.task->state(), b = prepared().saved.task->state();
  for (const auto& [name, values] : a) {
    EXPECT_TRUE(at::equal(values, b.at(name))) << name;
  }
}

}  // namespace stream_test
}  // namespace weyl
