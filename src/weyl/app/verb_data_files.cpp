#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <numeric>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/random.h"
#include "weyl/data/dataset.h"
#include "weyl/data/formats/npz.h"
#include "weyl/data/sets/nbody.h"
#include "weyl/data/tensor_format.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

using Written = std::vector<std::pair<std::string, int64_t>>;  // file, samples

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  require<DataError>(!error, path, ": must be a folder that can be made, but ", error.message());
}

void refuse_existing(const std::string& path) {
  require<ConfigError>(!fs::exists(path), path, ": is there already; files are never replaced");
}

int tell(const Written& files, bool json) {
  Json list = Json::array();
  for (const auto& [file, samples] : files) {
    list.add(Json::object().set("file", file).set("samples", samples));
    if (!json) {
      std::cout << file << "  (" << samples << " samples)\n";
    }
  }
  if (json) {
    std::cout << Json::object().set("files", list).dump() << "\n";
  }
  return exit_done;
}

std::vector<int64_t> all_of(const Dataset& data) {
  std::vector<int64_t> indices(static_cast<size_t>(data.size()));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

Array array_of(const Tensor& tensor) {
  const Tensor t = tensor.detach().cpu().contiguous();
  Array array;
  array.type = element_type(t.scalar_type());
  array.shape = t.sizes().vec();
  const auto* bytes = static_cast<const std::byte*>(t.data_ptr());
  array.bytes.assign(bytes, bytes + t.nbytes());
  return array;
}

// One data set as one file, in the format that its name says.
void write_as(const Dataset& data, const std::string& path) {
  refuse_existing(path);
  const Batch batch = data.batch(all_of(data));
  if (path.ends_with(".safetensors")) {
    write_tensor_file(path, batch, data.schema());
    return;
  }
  // By way of the tensor file: it is what says which tensors a carrier has.
  const std::string between = path + ".tmp.safetensors";
  write_tensor_file(between, batch, data.schema());
  NamedTensors tensors;
  try {
    tensors = load_tensors(between);
  } catch (...) {
    fs::remove(between);
    throw;
  }
  fs::remove(between);
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : tensors) {
    arrays.push_back({name, array_of(tensor)});
  }
  write_npz(path, arrays);
}

}  // namespace

int run(const DataConvertCommand& command) {
  const bool to_file = command.out.ends_with(".safetensors") || command.out.ends_with(".npz");
  require<DataError>(fs::exists(command.in), command.in,
                     ": must be a data file or folder, but does not exist");
  if (to_file) {
    const auto data = open_file(command.in, DataOptions{});
    write_as(*data, command.out);
    return tell({{command.out, data->size()}}, command.talk.json);
  }
  require<ConfigError>(
      !fs::path(command.out).has_extension(), command.out,
      ": must end in .safetensors or .npz, or name a folder (carrier tensor files of every split)");
  require<ConfigError>(
      fs::is_directory(command.in), command.in,
      ": must be a folder with splits when OUT is a folder; name a file .safetensors or .npz");
  NbodyDataOptions options;
  options.path = command.in;
  options.train = options.valid = options.test = 0;  // all
  const Splits splits = open_splits({options});
  for (const char* name : {"train", "valid", "test"}) {
    refuse_existing(command.out + "/" + name + ".safetensors");
  }
  make_folder(command.out);
  Written files;
  for (const auto& [name, data] :
       {std::pair{"train", splits.train}, {"valid", splits.valid}, {"test", splits.test}}) {
    if (data != nullptr) {
      const std::string path = command.out + "/" + name + ".safetensors";
      write_as(*data, path);
      files.emplace_back(path, data->size());
    }
  }
  return tell(files, command.talk.json);
}

int run(const DataSplitCommand& command) {
  require<DataError>(fs::is_regular_file(command.path), command.path, ": must be a data file to split");
  const SafetensorsFile file(command.path);
  const auto format = file.header().metadata.find("format");
  const bool trajectories = format != file.header().metadata.end() && format->second == nbody_format;
  NamedTensors tensors;  // of trajectories, one simulation a row
  TensorFile samples;
  int64_t count = 0;
  if (trajectories) {
    tensors = load_tensors(file);
    require<DataError>(tensors.contains("positions"), command.path, ": must have the tensor 'positions'");
    count = tensors.at("positions").size(0);
  } else {
    samples = read_tensor_file(command.path);
    count = samples.batch.count();
  }
  Stream stream(static_cast<uint64_t>(command.seed), "data split");
  const std::vector<int64_t> order = stream.permutation(count);
  const auto train = static_cast<int64_t>(std::llround(command.train * static_cast<double>(count)));
  const auto valid =
      std::min(count - train, static_cast<int64_t>(std::llround(command.valid * static_cast<double>(count))));
  const std::pair<const char*, std::pair<int64_t, int64_t>> parts[] = {
      {"train", {0, train}}, {"valid", {train, train + valid}}, {"test", {train + valid, count}}};
  for (const auto& [name, range] : parts) {
    refuse_existing(command.out + "/" + name + ".safetensors");
  }
  make_folder(command.out);
  Written files;
  for (const auto& [name, range] : parts) {
    const std::vector<int64_t> which(order.begin() + range.first, order.begin() + range.second);
    if (which.empty()) {
      continue;
    }
    const std::string path = command.out + "/" + name + ".safetensors";
    std::map<std::string, std::string> metadata = file.header().metadata;
    metadata["split_of"] = fs::path(command.path).filename().string();
    metadata["split_seed"] = std::to_string(command.seed);
    if (trajectories) {
      NamedTensors taken;
      const Tensor index = at::tensor(which, at::kLong);
      for (const auto& [key, tensor] : tensors) {
        require<DataError>(tensor.dim() > 0 && tensor.size(0) == count, command.path, ": tensor '", key,
                           "' must have ", count, " rows");
        taken[key] = at::index_select(tensor, 0, index);
      }
      save_tensors(path, taken, metadata);
    } else {
      write_tensor_file(path, take(samples.batch, which, samples.schema), samples.schema, metadata);
    }
    files.emplace_back(path, static_cast<int64_t>(which.size()));
  }
  return tell(files, command.talk.json);
}

}  // namespace weyl
