// Lists of samples, as JSON and as torch.save writes dicts of NumPy arrays, tensors and lists
// (tools/goldens/listed_molecules_fixture.py).
#include "weyl/data/atoms/split_lists.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/data/folder.h"
#include "tests/data/pytorch_file.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"

namespace weyl {
namespace split_lists_test {

const std::vector<std::string> known{"train", "valid", "test", "test-dev", "test-challenge"};
const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/molecules/";

TEST(SplitLists, OfTorchHoweverTheyArePickled) {
  const SplitLists wanted{{"train", {0, 1, 2}}, {"valid", {3}}, {"test-dev", {4}}, {"test-challenge", {}}};
  for (const char* name :
       {"split_dict.pt", "split_dict.p4.pt", "split_dict.tensors.pt", "split_dict.lists.pt"}) {
    EXPECT_EQ(read_split_lists(fixtures + "pcqm4mv2/" + name, known), wanted) << name;
  }
}

// Lists that share one memory are more samples than the file has bytes; something else than a list is no split.
TEST(SplitLists, OfTorchNothingIsRepeatedOrSkipped) {
  const Folder folder;
  std::vector<std::string> names;
  for (char name = 'a'; name <= 'z'; ++name) {
    names.emplace_back(1, name);
  }
  const auto read = [&](PytorchFile& file) {
    file.close().write(folder / "a.pt");
    return read_split_lists(folder / "a.pt", names);
  };
  PytorchFile once, shared, other;
  for (PytorchFile* file : {&once, &shared}) {  // the list is the object 1 of the program
    file->open().word("a").empty_list().put("q\x01(");
    for (int32_t sample = 0; sample < 20; ++sample) {
      file->whole(sample);
    }
    file->put("e");
  }
  EXPECT_EQ(read(once).at("a").size(), 20);
  for (size_t name = 1; name < names.size(); ++name) {
    shared.word(names[name]).put("h\x01");
  }
  EXPECT_NE(message_of<DataError>([&] { read(shared); }).find("must not share its samples with another"),
            std::string::npos);
  other.open().word("a").put("ctorch._utils\nsomething\n)R");
  EXPECT_NE(message_of<DataError>([&] {
              read(other);
            }).find("the split 'a' must be a NumPy array, a tensor or a list of integers"),
            std::string::npos);
}

TEST(SplitLists, AsJson) {
  const auto lists = read_split_lists(fixtures + "molecule3d/random_split_inds.json", known);
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
    EXPECT_THROW(read_split_lists(folder / "a.json", known), DataError) << wrong;
  }
  // Cut, and with each of its bytes changed: refused, or read, and never more.
  const std::string sound = contents_of(fixtures + "pcqm4mv2/split_dict.pt");
  for (size_t i = 0; i < sound.size(); i += 41) {
    std::string broken = sound;
    broken[i] = static_cast<char>(broken[i] ^ 0x55);
    std::ofstream(folder / "a.pt") << broken;
    try {
      read_split_lists(folder / "a.pt", known);
    } catch (const DataError&) {
    }
    std::ofstream(folder / "a.pt") << sound.substr(0, i);
    EXPECT_THROW(read_split_lists(folder / "a.pt", known), DataError);
  }
}

}  // namespace split_lists_test
}  // namespace weyl
