#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace weyl {

/// Finds samples with the same inputs, within a split and between splits, by a 64-bit hash of each (core/checksum.h).
/// With a probability above 1 - 1e-7, a million different samples are all told apart. Time and memory are O(N); about
/// 60 bytes a sample are kept.
class Duplicates {
 public:
  /// The name of a sample of a split, by its index from 0: "sample 12", "water.xyz: frame 13".
  using Name = std::function<std::string(int64_t sample)>;

  /// Begins a split ("train"; "": a set without splits). The samples that `add` gives from now on belong to it. `name`
  /// must be callable as long as this object lives.
  void begin(std::string split, Name name);
  /// Adds the next sample, by hashes of its inputs and of its labels. ShapeError before the first `begin`.
  void add(uint64_t inputs, uint64_t labels);
  /// Passes over the next sample, which is not to be compared (because it is empty, say).
  void skip() { ++splits_.back().size; }

  /// What was found in the newest split: a line for each split, itself or an earlier one, that has samples with the
  /// same inputs. A line counts these samples and those whose labels differ, and names the first three.
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

/// A warning about a split with no sample, or one alone; empty for larger splits. `what`: "sample" or "frame".
std::string warning_about_size(const std::string& split, int64_t size, const std::string& what);
/// Warnings when there is no split for training or for validation among splits of these names. Nothing for a set
/// without splits (one name, empty).
std::vector<std::string> warnings_about_absent(const std::vector<std::string>& splits);

}  // namespace weyl
