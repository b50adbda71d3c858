#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/setting.h"
#include "weyl/data/containers/array.h"

namespace weyl {

/// The name of a parameter without the prefixes that wrappers add: every path component "_orig_mod" (torch.compile),
/// and "module" (DataParallel) and "net" (Lightning) at the front, any number of times. The last component always
/// stays.
///   "net._orig_mod.layers.0.weight" -> "layers.0.weight"
std::string unwrapped_name(std::string_view name);

/// The named tensors of a .safetensors file or a PyTorch zip checkpoint, told apart by content. Names are unwrapped.
/// The order is the file's (by name for safetensors). Nothing is executed; data/containers/pytorch_zip.h says which
/// entries of a checkpoint are read. DataError: a broken file, another format, or two names that become one by
/// unwrapping.
std::vector<NamedArray> read_weights(const std::string& path);

struct Pickle;

/// The dict `hyper_parameters` of a PyTorch zip checkpoint, which PyTorch Lightning writes beside the weights: its
/// entries whose keys are texts. Empty for a file without such a dict or of another format. Nothing is executed.
/// DataError: a broken archive or pickle.
Settings parse_hyper_parameters(std::span<const std::byte> file, std::string_view where);
Settings hyper_parameters_of(const Pickle& pickle);
Settings read_hyper_parameters(const std::string& path);

/// Which rows of a tensor of shape (rows, columns) the optimiser of a checkpoint has moved. A row was moved when its
/// second moments (`exp_avg_sq` of Adam and its kin, in `optimizer_states`) are not all 0. Where several tensors have
/// that shape, a row counts when one of them has moved it. Empty where the file does not say: it is of another format,
/// or has no optimiser, no moments of that shape, moments that cannot be read, or only zeros. DataError: a broken
/// archive or pickle.
std::vector<bool> parse_trained_rows(std::span<const std::byte> file, int64_t rows, int64_t columns,
                                     std::string_view where);
std::vector<bool> read_trained_rows(const std::string& path, int64_t rows, int64_t columns);

}  // namespace weyl
