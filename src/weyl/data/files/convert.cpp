#include "weyl/data/files/convert.h"

#include <filesystem>
#include <map>
#include <numeric>
#include <span>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/formats/npz.h"
#include "weyl/data/sets/image_files.h"
#include "weyl/data/sets/nbody.h"
#include "weyl/data/sets/pose_files.h"

namespace weyl {
namespace {

// An .npz has no place for metadata, so they travel as one more array: the bytes of a JSON object. No tensor
// can have this name, which safetensors keeps for itself.
constexpr const char* metadata_name = "__metadata__";

std::map<std::string, std::string> metadata_of(const Array& array, const std::string& where) {
  require<DataError>(array.type == ElementType::u8 && array.shape.size() == 1, where,
                     ": __metadata__ must be the bytes of a JSON object");
  const std::string_view source(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  const Json json = Json::parse(source, where + ": __metadata__");
  require<DataError>(json.is_object(), where, ": __metadata__ must be a JSON object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.members()) {
    metadata[key] = value.string_or("");
  }
  return metadata;
}

void npz_to_safetensors(const std::string& in, const std::string& out) {
  const std::vector<NamedArray> arrays = read_npz(in);
  std::vector<TensorBytes> tensors;
  std::map<std::string, std::string> metadata;
  for (const auto& [name, array] : arrays) {
    if (name == metadata_name) {
      metadata = metadata_of(array, in);
      continue;
    }
    tensors.push_back({name, array.type, array.shape, array.bytes});
  }
  write_safetensors(out, tensors, metadata);
}

void safetensors_to_npz(const std::string& in, const std::string& out) {
  const SafetensorsFile file(in);
  std::vector<NamedArray> arrays;
  for (const auto& [name, entry] : file.header().tensors) {
    const auto bytes = file.bytes(name);
    arrays.push_back({name, {entry.type, entry.shape, {bytes.begin(), bytes.end()}}});
  }
  if (!file.header().metadata.empty()) {
    Json json = Json::object();
    for (const auto& [key, value] : file.header().metadata) {
      json.set(key, value);
    }
    const std::string source = json.dump();
    const auto bytes = std::as_bytes(std::span(source));
    arrays.push_back({metadata_name,
                      {ElementType::u8, {static_cast<int64_t>(bytes.size())}, {bytes.begin(), bytes.end()}}});
  }
  write_npz(out, arrays);
}

void images_to_safetensors(const std::string& in, const std::string& out, const Dataset& images) {
  std::vector<int64_t> all(images.size());
  std::iota(all.begin(), all.end(), 0);
  write_tensor_file(out, images.batch(all), images.schema(),
                    {{"converted_from", std::filesystem::path(in).filename().string()}});
}

}  // namespace

std::vector<std::string> convert(const std::string& in, const std::string& out,
                                 const std::optional<PoseFileOptions>& poses) {
  namespace fs = std::filesystem;
  require<DataError>(fs::exists(in), in, ": there is no such file");
  const bool trajectory = !fs::is_directory(in) && (is_pose_file(in) || (poses && poses->format)) &&
                          out.ends_with(".safetensors");
  require<ConfigError>(!poses || trajectory,
                       "convert: options go with a trajectory of poses (.txt, .csv, "
                       ".tum, .kitti) to .safetensors, got ",
                       in, " to ", out);
  if (!poses && converts_frames(in, out)) {
    convert_frames(in, out, {});
    return {out};
  }
  if (fs::is_directory(in)) {
    return convert_nbody(in, out);
  }
  const auto images = out.ends_with(".safetensors") ? open_image_file(in, {}) : nullptr;
  const bool pack = in.ends_with(".npz") && out.ends_with(".safetensors");
  const bool unpack = in.ends_with(".safetensors") && out.ends_with(".npz");
  require<ConfigError>(
      pack || unpack || trajectory || images,
      "convert: must be a folder of N-body .npy files to a folder, .npz to .safetensors, "
      ".safetensors to .npz, or a trajectory of poses (.txt, .csv, .tum, .kitti) or images (.png, "
      ".jpg, .bmp, .amat, IDX, .bin of CIFAR-10) to .safetensors, or frames of atoms to .xyz or .npz, got ",
      in, " to ", out);
  require<ConfigError>(!fs::exists(out), out, ": exists already; remove it or choose another name");
  if (trajectory) {
    convert_pose_file(in, out, poses.value_or(PoseFileOptions{}));
  } else if (images) {
    images_to_safetensors(in, out, *images);
  } else if (pack) {
    npz_to_safetensors(in, out);
  } else {
    safetensors_to_npz(in, out);
  }
  return {out};
}

}  // namespace weyl
