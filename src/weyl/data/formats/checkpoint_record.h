#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/setting.h"

namespace weyl {

struct Pickle;

/// The entries with names of the dict `hyper_parameters`, which PyTorch Lightning writes beside the weights, of a
/// PyTorch zip checkpoint; none of a file that has no such dict or is of another format. Nothing is executed. DataError:
/// a broken archive or pickle.
Settings parse_hyper_parameters(std::span<const std::byte> file, std::string_view where);
Settings hyper_parameters_of(const Pickle& pickle);
Settings read_hyper_parameters(const std::string& path);

/// Which rows of tensors of one shape (rows, columns) the optimiser of a checkpoint has moved: its second moments
/// (`exp_avg_sq` of Adam and its kin, in `optimizer_states`) are not all 0 there. Of several such tensors a row counts
/// when one of them has it. Empty where the file does not say: of another format, without an optimiser, with none of
/// that shape, with moments that cannot be read or are all 0. DataError: a broken archive or pickle.
std::vector<bool> parse_trained_rows(std::span<const std::byte> file, int64_t rows, int64_t columns,
                                     std::string_view where);
std::vector<bool> read_trained_rows(const std::string& path, int64_t rows, int64_t columns);

}  // namespace weyl
