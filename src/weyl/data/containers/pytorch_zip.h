#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/containers/archives.h"
#include "weyl/data/containers/array.h"
#include "weyl/data/containers/pickled_tensors.h"

namespace weyl {

/// Reads the tensors of a PyTorch zip checkpoint (the format of torch.save since version 1.6) without executing
/// anything.
///
/// The checkpoint is a dict of tensors. Dicts (also OrderedDict), lists and tuples may nest; a name is the path of keys
/// and list indices, joined by dots. Where a dict has an entry "state_dict", "model_state_dict" or "model" that is
/// itself a dict with tensors, only that entry is read: optimisers and counters beside it are not.
///
/// The tensors are those that torch.save itself writes: _rebuild_tensor, _rebuild_tensor_v2, _rebuild_tensor_v3,
/// _rebuild_parameter, _rebuild_parameter_with_state, and _rebuild_from_type_v2 of Tensor, Parameter or Buffer. They
/// may have any strides, shared storages and either byte order, and the types bool, u8 to i64, f16, bf16, f32 and f64.
/// Calls of another torch "_rebuild..." function (sparse, quantised, subclasses) are refused by name, so that a weight
/// never vanishes silently. Other things (numbers, strings, objects of any class) are passed over.
///
/// `where` names the file in messages. DataError:
///   * a broken archive or pickle, a tensor beyond its storage, a name given twice, or no tensor at all;
///   * a pickled module or a TorchScript archive in place of a state dict;
///   * the legacy format (the message says how to convert it);
///   * tensors of more than 64 MiB + 16 times the file's size.
std::vector<NamedArray> parse_pytorch_zip(std::span<const std::byte> file, std::string_view where);
std::vector<NamedArray> read_pytorch_zip(const std::string& path);

/// The archive of such a checkpoint, for reading what stands in it beside the weights. `file` must outlive it.
/// DataError when it is no archive or of another format, or has more bytes than the limit above.
class PytorchArchive {
 public:
  PytorchArchive(std::span<const std::byte> file, std::string_view where);
  /// The pickle that describes the checkpoint.
  std::vector<std::byte> pickle();
  /// The values of tensors that the pickle describes. DataError as of parse_pytorch_zip.
  std::vector<NamedArray> arrays(const std::vector<PickledTensor>& views);

 private:
  std::string where_;
  uint64_t limit_;
  ZipArchive archive_;
  std::string root_;  // "NAME/" of its entries
  bool big_endian_ = false;
};

/// Returns the bytes of the storage with this key.
using StorageReader = std::function<std::vector<std::byte>(std::string_view key)>;

/// Reads the tensors of a checkpoint from its pickle (`data.pkl`) and the storages that it names, at most `limit` bytes
/// of tensors.
std::vector<NamedArray> parse_pytorch_pickle(std::span<const std::byte> pickle, const StorageReader& storage,
                                             bool big_endian, uint64_t limit, std::string_view where);
/// The values of tensors that a pickle describes, at most `limit` bytes.
std::vector<NamedArray> arrays_of(const std::vector<PickledTensor>& views, const StorageReader& storage,
                                  bool big_endian, uint64_t limit, std::string_view where);

}  // namespace weyl
