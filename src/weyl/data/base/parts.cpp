#include "weyl/data/base/parts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/core/numpy_random.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

int64_t share(double fraction, int64_t size) {
  return std::llround(fraction * static_cast<double>(size));
}

/// Pieces of an order, one after the other.
std::vector<std::vector<int64_t>> pieces(const std::vector<int64_t>& order,
                                         const std::vector<int64_t>& counts) {
  std::vector<std::vector<int64_t>> parts;
  auto begin = order.begin();
  for (const int64_t count : counts) {
    require(count >= 0 && count <= order.end() - begin, "draw_parts: parts must be of at most ", order.size(),
            " samples in all");
    parts.emplace_back(begin, begin + count);
    begin += count;
  }
  return parts;
}

}  // namespace

void require_fold(const Folds& folds) {
  require<ConfigError>(folds.count >= 2, "data.folds must be 0 or at least 2, got ", folds.count);
  require<ConfigError>(folds.fold >= 0 && folds.fold < folds.count, "data.fold must be 0 .. ",
                       folds.count - 1, ", because data.folds is ", folds.count, ", got ", folds.fold);
}

FoldIndices draw_fold(int64_t size, const Folds& folds, int64_t seed) {
  require_fold(folds);
  require<ConfigError>(size >= folds.count, "data.folds must be at most ", size,
                       ", the samples for training and validation, got ", folds.count);
  const auto order = Stream(static_cast<uint64_t>(seed), "folds").permutation(size);
  const auto begin = order.begin() + size * folds.fold / folds.count,
             end = order.begin() + size * (folds.fold + 1) / folds.count;
  FoldIndices indices;
  indices.valid.assign(begin, end);
  indices.train.assign(order.begin(), begin);
  indices.train.insert(indices.train.end(), end, order.end());
  std::ranges::sort(indices.valid);
  std::ranges::sort(indices.train);
  return indices;
}

PartCounts part_counts(int64_t size, const std::vector<double>& fractions, const PartCounts& asked,
                       const std::string& where) {
  require<ConfigError>(fractions.size() == 3 && fractions[0] + fractions[1] + fractions[2] <= 1 + 1e-9, where,
                       ".fractions must be three that add up to at most 1");
  int64_t left = size;
  const auto count = [&](int64_t wanted, double fraction) {
    const int64_t n =
        wanted > 0 ? wanted : std::clamp<int64_t>(share(fraction, size), 0, std::max<int64_t>(left, 0));
    left -= n;
    return n;
  };
  PartCounts counts;
  counts.valid = count(asked.valid, fractions[1]);
  counts.test = count(asked.test, fractions[2]);
  counts.train = count(asked.train, fractions[0]);
  require<DataError>(left >= 0, where, ".train, valid and test must add up to at most ", size,
                     ", the samples there are, got ", counts.train, ", ", counts.valid, " and ", counts.test);
  return counts;
}

std::vector<std::vector<int64_t>> draw_parts(int64_t size, const std::vector<int64_t>& counts, int64_t seed,
                                             std::string_view stream) {
  return pieces(Stream(static_cast<uint64_t>(seed), stream).permutation(size), counts);
}

std::vector<std::vector<int64_t>> draw_parts_by_numpy(int64_t size, const std::vector<int64_t>& counts,
                                                      int64_t seed) {
  return pieces(NumpyRandom(static_cast<uint32_t>(seed)).permutation(size), counts);
}

std::vector<std::vector<int64_t>> parts_in_order(int64_t size, const std::vector<int64_t>& counts) {
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  return pieces(order, counts);
}

SplitIndices random_split(int64_t size, const SplitOptions& options) {
  require<ConfigError>(options.train >= 0 && options.valid >= 0 && options.train + options.valid <= 1 + 1e-12,
                       "split: train and valid must be fractions that add up to at most 1, got ",
                       options.train, " and ", options.valid);
  const int64_t train = std::min(share(options.train, size), size),
                valid = std::min(share(options.valid, size), size - train);
  auto parts = draw_parts(size, {train, valid, size - train - valid}, options.seed, "split");
  for (auto& part : parts) {
    std::sort(part.begin(), part.end());
  }
  return {std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

std::map<std::string, std::string> split_metadata(const std::string& path, const SplitOptions& options) {
  return {{"split_of", std::filesystem::path(path).filename().string()},
          {"split_seed", std::to_string(options.seed)}};
}

std::vector<const std::vector<int64_t>*> add_parts(NewFiles& files, const std::string& folder,
                                                   const SplitIndices& parts, const std::string& ending) {
  std::vector<const std::vector<int64_t>*> filled;
  for (const auto& [split, part] :
       {std::pair{"train", &parts.train}, {"valid", &parts.valid}, {"test", &parts.test}}) {
    if (!part->empty()) {
      files.add_split(folder, split, ending);
      filled.push_back(part);
    }
  }
  return filled;
}

SplitIndices write_parts(
    const std::string& folder, const SplitOptions& options, int64_t size,
    const std::function<void(const std::string& path, const std::vector<int64_t>& samples)>& write) {
  SplitIndices parts = random_split(size, options);
  NewFiles files;
  const auto filled = add_parts(files, folder, parts, ".safetensors");
  files.write_each([&](size_t i) { write(files.path(i), *filled[i]); });
  return parts;
}

}  // namespace weyl
