#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/formats/array.h"
#include "weyl/data/formats/pickled_tensors.h"
#include "weyl/data/formats/zip_archive.h"

namespace weyl {

/// Reads the tensors of a PyTorch zip checkpoint (what torch.save has written since version 1.6) without
/// executing anything. The checkpoint is a dict of tensors; dicts (also OrderedDict), lists and tuples may
/// nest, and a name is the path of keys and list indices, joined by dots. A dict with an entry "state_dict",
/// "model_state_dict" or "model" that is itself a dict with tensors stands for that entry: optimisers and
/// counters beside it are not read.
///
/// Tensors are those that torch.save itself writes: _rebuild_tensor, _rebuild_tensor_v2, _rebuild_tensor_v3,
/// _rebuild_parameter, _rebuild_parameter_with_state, and _rebuild_from_type_v2 of Tensor, Parameter or
/// Buffer; any strides, shared storages, either byte order; bool, u8 to i64, f16, bf16, f32, f64. Other
/// things (numbers, strings, objects of any class) are passed over, except calls of another torch
/// "_rebuild..." function (sparse, quantised, subclasses), which are refused by name: a weight never vanishes
/// silently.
///
/// `where` names the file in messages. DataError: a broken archive or pickle, a tensor beyond its storage, a
/// name given twice, no tensor at all, a pickled module or TorchScript archive in place of a state dict, the
/// legacy format (the message says how to convert it), more than 64 MiB + 16 times the file's size of
/// tensors.
std::vector<NamedArray> parse_pytorch_zip(std::span<const std::byte> file, std::string_view where);
std::vector<NamedArray> read_pytorch_zip(const std::string& path);

/// The archive of such a checkpoint, for what stands in it beside the weights. `file` must outlive it. DataError: no
/// archive, another format, more bytes than the limit above.
class PytorchArchive {
 public:
  PytorchArchive(std::span<const std::byte> file, std::string_view where);
  /// The pickle that describes the checkpoint.
  std::vector<std::byte> pickle();
  /// The numbers of tensors that it describes. DataError: as of parse_pytorch_zip.
  std::vector<NamedArray> arrays(const std::vector<PickledTensor>& views);

 private:
  std::string where_;
  uint64_t limit_;
  ZipArchive archive_;
  std::string root_;  // "NAME/" of its entries
  bool big_endian_ = false;
};

/// The bytes of one storage by its key.
using StorageReader = std::function<std::vector<std::byte>(std::string_view key)>;

/// The same for the pickle of a checkpoint (`data.pkl`) and the storages it names, at most `limit` bytes of
/// tensors.
std::vector<NamedArray> parse_pytorch_pickle(std::span<const std::byte> pickle, const StorageReader& storage,
                                             bool big_endian, uint64_t limit, std::string_view where);
/// The numbers of tensors that a pickle describes.
std::vector<NamedArray> arrays_of(const std::vector<PickledTensor>& views, const StorageReader& storage,
                                  bool big_endian, uint64_t limit, std::string_view where);

}  // namespace weyl
