#include "weyl/data/convert.h"

#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/formats/npz.h"
#include "weyl/data/sets/nbody.h"

namespace weyl {
namespace {

void npz_to_safetensors(const std::string& in, const std::string& out) {
  const std::vector<NamedArray> arrays = read_npz(in);
  std::vector<TensorBytes> tensors;
  for (const auto& [name, array] : arrays) {
    tensors.push_back({name, array.type, array.shape, array.bytes});
  }
  write_safetensors(out, tensors);
}

void safetensors_to_npz(const std::string& in, const std::string& out) {
  const SafetensorsFile file(in);
  std::vector<NamedArray> arrays;
  for (const auto& [name, entry] : file.header().tensors) {
    const auto bytes = file.bytes(name);
    arrays.push_back({name, {entry.type, entry.shape, {bytes.begin(), bytes.end()}}});
  }
  write_npz(out, arrays);
}

}  // namespace

std::vector<std::string> convert(const std::string& in, const std::string& out) {
  namespace fs = std::filesystem;
  require<DataError>(fs::exists(in), in, ": there is no such file");
  if (fs::is_directory(in)) {
    return convert_nbody(in, out);
  }
  const bool pack = in.ends_with(".npz") && out.ends_with(".safetensors");
  const bool unpack = in.ends_with(".safetensors") && out.ends_with(".npz");
  require<ConfigError>(pack || unpack,
                       "convert: must be a folder of N-body .npy files to a folder, .npz to .safetensors, or "
                       ".safetensors to .npz, got ",
                       in, " to ", out);
  require<ConfigError>(!fs::exists(out), out, ": exists already; remove it or choose another name");
  if (pack) {
    npz_to_safetensors(in, out);
  } else {
    safetensors_to_npz(in, out);
  }
  return {out};
}

}  // namespace weyl
