#include "weyl/data/clouds/point_clouds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <utility>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/child_process.h"
#include "weyl/core/input_file.h"
#include "weyl/core/module.h"
#include "weyl/core/quote.h"
#include "weyl/data/clouds/hdf5_module.h"

namespace weyl {
namespace {

constexpr uint64_t kDecoded = 1UL << 20U;   // bytes of a file, at the best ratio, that take a second at most
constexpr uint64_t kMetadata = 1UL << 26U;  // bytes that the library may take before sizes are known

struct Hdf5Module : OpenedModule {
  decltype(&weyl_hdf5_begin) begin = nullptr;
  decltype(&weyl_hdf5_send_point_clouds) send_point_clouds = nullptr;
  decltype(&weyl_hdf5_send_entries) send_entries = nullptr;
  decltype(&weyl_hdf5_send_arrays) send_arrays = nullptr;
  decltype(&weyl_hdf5_write) write = nullptr;

  Hdf5Module() : OpenedModule(WEYL_HDF5_MODULE) {
    find(begin, "weyl_hdf5_begin");
    find(send_point_clouds, "weyl_hdf5_send_point_clouds");
    find(send_entries, "weyl_hdf5_send_entries");
    find(send_arrays, "weyl_hdf5_send_arrays");
    find(write, "weyl_hdf5_write");
    if (fault().empty()) {
      begin();
    }
  }
};

const Hdf5Module& hdf5_module() {
  static const Hdf5Module opened;
  return opened;
}

/// The library is not made for several threads.
std::unique_lock<std::mutex> use_hdf5(std::string_view where) {
  static std::mutex mutex;
  std::unique_lock lock(mutex);
  require<ConfigError>(hdf5_module().fault().empty(), where, ": needs HDF5 (", WEYL_HDF5_MODULE, "), ",
                       hdf5_module().fault());
  return lock;
}

void require_signature(std::span<const std::byte> bytes, std::string_view where) {
  constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
  require<DataError>(bytes.size() >= kSignature.size() &&
                         std::equal(kSignature.begin(), kSignature.end(), bytes.begin(),
                                    [](char a, std::byte b) { return static_cast<std::byte>(a) == b; }),
                     where, ": is no HDF5 file");
}

ChildLimits limits_for(std::span<const std::byte> bytes) {
  return {.memory = kMetadata + 4 * bytes.size(), .seconds = 5 + bytes.size() / kDecoded};
}

}  // namespace

PointClouds parse_point_clouds(std::span<const std::byte> bytes, std::string_view where, uint64_t limit) {
  require_signature(bytes, where);
  const ChildLimits limits = limits_for(bytes);
  // In this process, for the child may open no file; locked, or it would wait for another thread that is inside of the
  // library.
  auto lock = use_hdf5(where);
  ChildProcess child(std::string(where), limits, [&](ChildProcess::Sender& out) {
    hdf5_module().send_point_clouds(bytes, where, limit, out);
  });
  lock.unlock();
  PointClouds clouds;
  std::array<int64_t, 2> shape{};
  child.receive(std::as_writable_bytes(std::span(shape)));
  const auto [samples, points] = shape;
  require<DataError>(samples > 0 && points > 0 &&
                         static_cast<uint64_t>(points) <= limit / kPoint / static_cast<uint64_t>(samples),
                     where, ": is corrupt");
  clouds.points = points;
  clouds.positions.resize(samples * points * 3);
  clouds.labels.resize(samples);
  child.receive(std::as_writable_bytes(std::span(clouds.positions)));
  child.receive(std::as_writable_bytes(std::span(clouds.labels)));
  const auto bad = std::find_if(clouds.positions.begin(), clouds.positions.end(),
                                [](float x) { return !std::isfinite(x); });
  require<DataError>(bad == clouds.positions.end(), where, ": positions must be finite, those of sample ",
                     (bad - clouds.positions.begin()) / (3 * clouds.points), " are not");
  return clouds;
}

PointClouds read_point_clouds(const std::string& path, uint64_t limit) {
  const MappedFile file(path);
  return parse_point_clouds(file.bytes(), path, limit);
}

std::vector<Hdf5Entry> parse_hdf5_entries(std::span<const std::byte> bytes, std::string_view where) {
  require_signature(bytes, where);
  auto lock = use_hdf5(where);  // as above
  ChildProcess child(std::string(where), limits_for(bytes),
                     [&](ChildProcess::Sender& out) { hdf5_module().send_entries(bytes, where, out); });
  lock.unlock();
  int64_t count = 0;
  child.receive(std::as_writable_bytes(std::span(&count, 1)));
  require<DataError>(count >= 0 && count <= kMostEntries, where, ": is corrupt");
  std::vector<Hdf5Entry> entries;
  for (int64_t i = 0; i < count; ++i) {
    SentEntry said;
    child.receive(std::as_writable_bytes(std::span(&said, 1)));
    require<DataError>(said.axes >= 0 && said.axes <= 4 && said.name.back() == '\0', where, ": is corrupt");
    entries.push_back({said.name.data(), {said.shape.begin(), said.shape.begin() + said.axes}});
  }
  return entries;
}

std::vector<Hdf5Entry> read_hdf5_entries(const std::string& path) {
  const MappedFile file(path);
  return parse_hdf5_entries(file.bytes(), path);
}

std::vector<NamedArray> parse_hdf5_arrays(std::span<const std::byte> bytes, std::string_view where,
                                          std::span<const std::vector<std::string>> wanted, uint64_t limit) {
  require_signature(bytes, where);
  auto lock = use_hdf5(where);  // as above
  ChildProcess child(std::string(where), limits_for(bytes), [&](ChildProcess::Sender& out) {
    hdf5_module().send_arrays(bytes, where, wanted, limit, out);
  });
  lock.unlock();
  std::vector<NamedArray> arrays;
  uint64_t all = 0;
  for (const auto& names : wanted) {
    SentArray said;
    child.receive(std::as_writable_bytes(std::span(&said, 1)));
    if (said.name < 0) {
      continue;
    }
    const auto sound = [&](bool holds) { require<DataError>(holds, where, ": is corrupt"); };
    sound(said.name < std::ssize(names) && said.axes >= 0 && said.axes <= 4);
    const auto type = static_cast<ElementType>(said.type);
    sound(type == ElementType::f32 || type == ElementType::f64 || type == ElementType::u8 ||
          type == ElementType::i64);
    std::vector<int64_t> shape(said.shape.begin(), said.shape.begin() + said.axes);
    const auto size = byte_count(type, shape);
    sound(size && *size <= limit - std::min(all, limit));
    all += *size;
    require_memory(*size, where);
    NamedArray& to = arrays.emplace_back(names[said.name], Array{type, shape, std::vector<std::byte>(*size)});
    child.receive(to.array.bytes);
  }
  return arrays;
}

std::vector<NamedArray> read_hdf5_arrays(const std::string& path,
                                         std::span<const std::vector<std::string>> wanted, uint64_t limit) {
  const MappedFile file(path);
  return parse_hdf5_arrays(file.bytes(), path, wanted, limit);
}

void write_point_clouds(const std::string& path, const PointClouds& clouds, Existing existing) {
  require(clouds.count() > 0 && clouds.points > 0 &&
              clouds.positions.size() == static_cast<size_t>(clouds.count() * clouds.points * 3),
          "write_point_clouds: there must be (", clouds.count(), ", ", clouds.points, ", 3) positions, got ",
          clouds.positions.size());
  std::vector<std::byte> image;
  {
    const auto lock = use_hdf5(path);
    hdf5_module().write(clouds, path, image);
  }
  AtomicFile out(path, existing);
  out.write(image);
  out.commit();
}

}  // namespace weyl
