#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/child_process.h"
#include "weyl/data/clouds/point_clouds.h"

namespace weyl {

constexpr uint64_t kPoint = 3 * sizeof(float);  // bytes of its place

/// What the child says of an array before its bytes: which of its names it has, the type, the axes.
struct SentArray {
  int64_t name = -1, type = 0, axes = 0;
  std::array<int64_t, 4> shape{};
};

/// What the child says of a data set that nobody asked for by name.
struct SentEntry {
  std::array<char, 65> name{};
  int64_t axes = 0;
  std::array<int64_t, 4> shape{};
};
constexpr int64_t kMostEntries = 64;

// What the module weyl_hdf5 has for clouds/point_clouds.cpp, which finds the functions by their names: all that calls
// libhdf5, which on Debian brings curl, OpenSSL and Kerberos with it. It is built from the same tree: the types need no
// stable layout. One thread at a time.
extern "C" {
/// Before all others, and once.
void weyl_hdf5_begin();
/// What runs in a child. The samples S and points P, the positions, the labels.
void weyl_hdf5_send_point_clouds(std::span<const std::byte> bytes, std::string_view where, uint64_t limit,
                                 ChildProcess::Sender& out);
/// How many data sets there are in the root, and a SentEntry of each.
void weyl_hdf5_send_entries(std::span<const std::byte> bytes, std::string_view where,
                            ChildProcess::Sender& out);
/// Of each list of names a SentArray, and the bytes of the array that is there.
void weyl_hdf5_send_arrays(std::span<const std::byte> bytes, std::string_view where,
                           std::span<const std::vector<std::string>> wanted, uint64_t limit,
                           ChildProcess::Sender& out);
/// The bytes of a file of clouds, of which there are some; `path` is for messages.
void weyl_hdf5_write(const PointClouds& clouds, const std::string& path, std::vector<std::byte>& image);
}

}  // namespace weyl
