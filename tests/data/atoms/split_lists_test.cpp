// Lists of samples, as JSON and as torch.save writes dicts of NumPy arrays, tensors and lists
// (tools/goldens/listed_molecules_fixture.py).
#include "weyl/data/atoms/split_lists.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"

namespace weyl {
namespace split_lists_test {

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/molecules/";

TEST(SplitLists, OfTorchHoweverTheyArePickled) {
  const SplitLists wanted{{"train", {0, 1, 2}}, {"valid", {3}}, {"test-dev", {4}}, {"test-challenge", {}}};
  for (const char* name :
       {"split_dict.pt", "split_dict.p4.pt", "split_dict.tensors.pt", "split_dict.lists.pt"}) {
    EXPECT_EQ(read_split_lists(fixtures + "pcqm4mv2/" + name), wanted) << name;
  }
}

TEST(SplitLists, AsJson) {
  const auto lists = read_split_lists(fixtures + "molecule3d/random_split_inds.json");
  EXPECT_EQ(lists, (SplitLists{{"train", {4, 0, 2}}, {"valid", {1}}, {"test", {3}}}));
  const auto list = [&](const char* name, int64_t most, int64_t size) {
    return split_list(lists, name, most, size, "a");
  };
  EXPECT_EQ(list("train", 0, 5), (std::vector<int64_t>{0, 2, 4}));
  EXPECT_EQ(list("train", 2, 5), (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(list("other", 0, 5), std::vector<int64_t>());
  EXPECT_NE(message_of<DataError>([&] { list("train", 4, 5); }).find("train must have 4 samples, has 3"),
            std::string::npos);
  EXPECT_NE(message_of<DataError>([&] { list("train", 0, 4); }).find("must list samples of 0 .. 3, lists 4"),
            std::string::npos);
  EXPECT_NO_THROW(require_disjoint({{0, 1}, {2}}, 3, "a"));
  EXPECT_THROW(require_disjoint({{0, 1}, {1}}, 3, "a"), DataError);
  EXPECT_THROW(require_disjoint({{0, 0}, {1}}, 3, "a"), DataError);
}

TEST(SplitLists, FaultsAreRefused) {
  const Folder folder;
  for (const char* wrong :
       {"", "[]", "{\"train\": 1}", "{\"train\": [1.5]}", "{\"train\": [\"a\"]}", "{\"train\": [1]",
        "{\"train\": [1]} 2", "{\"train\": [1], \"train\": [2]}", "{\"train\": [[1]]}"}) {
    std::ofstream(folder / "a.json") << wrong;
    EXPECT_THROW(read_split_lists(folder / "a.json"), DataError) << wrong;
  }
  // Cut, and with each of its bytes changed: refused, or read, and never more.
  const std::string sound = contents_of(fixtures + "pcqm4mv2/split_dict.pt");
  for (size_t i = 0; i < sound.size(); i += 41) {
    std::string broken = sound;
    broken[i] = static_cast<char>(broken[i] ^ 0x55);
    std::ofstream(folder / "a.pt") << broken;
    try {
      read_split_lists(folder / "a.pt");
    } catch (const DataError&) {
    }
    std::ofstream(folder / "a.pt") << sound.substr(0, i);
    EXPECT_THROW(read_split_lists(folder / "a.pt"), DataError);
  }
}

}  // namespace split_lists_test
}  // namespace weyl
