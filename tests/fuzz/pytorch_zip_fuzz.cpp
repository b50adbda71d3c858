#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/containers/pytorch_zip.h"
#include "weyl/data/containers/weights.h"

namespace {

std::vector<weyl::NamedArray> parse(std::span<const std::byte> input) {
  if (input.size() > 1 && input[0] == std::byte{'P'} && input[1] == std::byte{'K'}) {
    weyl::parse_hyper_parameters(input, "input");
    weyl::parse_trained_rows(input, 2, 3, "input");
    return weyl::parse_pytorch_zip(input, "input");
  }
  // Input that is no zip archive is the pickle of one, so that checksums do not keep the fuzzer out.
  const auto storage = [](std::string_view) { return std::vector<std::byte>(256, std::byte{1}); };
  const weyl::Pickle pickle = weyl::parse_pickle(input, "input");
  weyl::hyper_parameters_of(pickle);
  weyl::pickled_tensors_of(pickle, "optimizer_states", "input");
  constexpr uint64_t limit = 1 << 20;
  return weyl::parse_pytorch_pickle(input, storage, input.size() % 2 == 0, limit, "input");
}

}  // namespace

/// A checkpoint is refused with a DataError, or every tensor has the bytes of its shape.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    for (const auto& [name, array] : parse(std::as_bytes(std::span(data, size)))) {
      if (weyl::byte_count(array.type, array.shape) != array.bytes.size() ||
          weyl::unwrapped_name(name).size() > name.size()) {
        std::abort();
      }
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
