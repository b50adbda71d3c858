#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/containers/npy.h"

namespace weyl {

namespace fs = std::filesystem;

inline void write(const std::string& path, const std::string& contents) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << contents;
}

template <class T>
NamedArray array(const std::string& name, ElementType type, std::vector<int64_t> shape,
                 const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {name, {type, std::move(shape), std::move(bytes)}};
}

inline const std::vector<float> places{0, 0, 0, 1, 2, 3, -4, 5, 6};

inline const Points& points_of(const Batch& batch) {
  return std::get<Points>(batch.input);
}

inline Batch sample(const std::shared_ptr<const Dataset>& data, int64_t index) {
  return data->batch({&index, 1});
}

inline std::vector<int64_t> classes_of(const std::shared_ptr<const Dataset>& data) {
  std::vector<int64_t> classes;
  for (int64_t i = 0; data != nullptr && i < data->size(); ++i) {
    classes.push_back(sample(data, i).labels.at("class").item<int64_t>());
  }
  return classes;
}

}  // namespace weyl
