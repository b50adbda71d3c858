#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/formats/array.h"

namespace weyl {

/// The name of a parameter without what wrappers put around it: every path component "_orig_mod"
/// (torch.compile), and "module" (DataParallel) and "net" (Lightning) at the front, any number of times. The
/// last component always stays.
///   "net._orig_mod.layers.0.weight" -> "layers.0.weight"
std::string unwrapped_name(std::string_view name);

/// Named tensors of a .safetensors file or a PyTorch zip checkpoint (data/formats/pytorch_zip.h says which of
/// its entries are read), told apart by content, under their unwrapped names, in the file's order (by name
/// for safetensors). Nothing is executed. DataError: a broken file, another format, two names that unwrapping
/// makes one.
std::vector<NamedArray> read_weights(const std::string& path);

}  // namespace weyl
