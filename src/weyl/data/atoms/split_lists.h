#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// The samples of each split, by its name, in the order of the file.
using SplitLists = std::map<std::string, std::vector<int64_t>>;

/// Reads a file that lists the samples of splits: a JSON object of lists of integers ({"train": [0, 5], "valid": [1]}), or,
/// where the name ends with .pt, a dict of NumPy arrays, tensors or lists of integers that torch.save wrote
/// (data/containers/pickle.h: nothing is executed). DataError with the file: it is neither; a list holds something else
/// than integers; a split is there twice, or is none of `known`.
SplitLists read_split_lists(const std::string& path, const std::vector<std::string>& known);
/// The same of contents in memory, `where` for messages.
SplitLists parse_json_lists(std::string_view text, const std::string& where);
SplitLists parse_torch_lists(std::span<const std::byte> file, const std::string& where);

/// The list of the name, shortened to its first `most` (0: all) and sorted. Empty where there is no such list. DataError:
/// fewer than `most`; an index that is not one of 0 .. size - 1.
std::vector<int64_t> split_list(const SplitLists& lists, const std::string& name, int64_t most, int64_t size,
                                const std::string& where);

/// DataError unless no sample is in two of the lists, or in one twice.
void require_disjoint(const std::vector<std::vector<int64_t>>& lists, int64_t size, const std::string& where);

}  // namespace weyl
