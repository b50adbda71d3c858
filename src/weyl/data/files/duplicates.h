#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace weyl {

/// Finds samples with the same inputs, within splits and between them, by 64 bits of a hash of each
/// (core/checksum.h): a million different samples are all told apart with a probability above 1 - 1e-7. Time and
/// memory N, of which about 60 bytes a sample stay.
class Duplicates {
 public:
  /// A sample of a split in words, by its index from 0: "sample 12", "water.xyz: frame 13".
  using Name = std::function<std::string(int64_t sample)>;

  /// What `add` gives from now on are samples of this split ("train"; "": of a set without splits). `name` must be
  /// callable as long as this object lives.
  void begin(std::string split, Name name);
  /// The next sample, by hashes of its inputs and of its labels.
  void add(uint64_t inputs, uint64_t labels);
  /// The next sample, which is not to be compared: it is empty, say.
  void skip() { ++splits_.back().size; }

  /// What was found of the split that was begun last: a line for each split (itself, or an earlier one) that has
  /// samples with the same inputs, which counts them and those whose labels differ, and names the first three.
  std::vector<std::string> lines() const;

 private:
  struct Seen {
    uint64_t labels;
    size_t split;
    int64_t sample;
  };
  struct Found {
    int64_t samples = 0, other_labels = 0;
    std::vector<std::pair<int64_t, int64_t>> first;  // sample of this split, and the earlier one
  };
  struct Split {
    std::string label;
    Name name;
    int64_t size = 0;
    std::map<size_t, Found> found;  // by the split of the earlier samples
  };

  std::unordered_map<uint64_t, Seen> seen_;  // the first sample of each hash
  std::vector<Split> splits_;
};

/// A doubt about the number of samples of a split: none, or one alone. `what`: "sample" or "frame". Empty: no doubt.
std::string doubt_about_size(const std::string& split, int64_t size, const std::string& what);
/// The same of splits that are not there at all, of those with these names: training or validation. Nothing of a set
/// without splits (one name, empty).
std::vector<std::string> doubts_about_absent(const std::vector<std::string>& splits);

}  // namespace weyl
