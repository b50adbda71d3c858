#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/clouds/options.h"

namespace weyl {

/// One cloud as its file has it.
struct Cloud {
  std::vector<double> positions;              // (P, 3)
  std::vector<std::vector<double>> features;  // those of the options in their order, each (P, c) or (P, 3)
  int64_t label = -1;                         // that the file itself says, or none
  std::vector<int64_t> classes;               // (P) of the points, where the options name them

  int64_t points() const { return static_cast<int64_t>(positions.size()) / 3; }
};

/// Whether a path ends as a file of clouds does: .ply, .pcd, .las, .off, .bin, .npz, .h5, .hdf5, .xyz, .txt, .csv, .pts, .asc.
bool is_cloud_file(std::string_view path);
/// Of these, whether it ends as text does: .xyz, .txt, .csv, .pts, .asc.
bool is_cloud_text(std::string_view path);

/// The endings of files of clouds, for messages.
inline constexpr std::string_view cloud_endings = ".npz, .ply, .pcd, .las, .off, .bin, .h5 or text of points";

/// Reads the clouds of a file one after the other, as the options say, in their order: one of PLY
/// (clouds/ply.h), PCD (clouds/pcd.h), LAS (clouds/las.h), OFF (its vertices), scans as KITTI's (clouds/lidar_scan.h) and text
/// (clouds/point_text.h); of .npz and HDF5 those of the array of positions,
/// (P, 3) or (B, P, 3). A feature is the array of its key, (P) or (P, c), with B before where positions have it, or the
/// columns that options.cpp names; bytes (0 .. 255 by their type) become parts of 255. Labels are whole numbers (), (1),
/// (B) or (B, 1), those of points (P), (P, 1), (B, P) or (B, P, 1), or a column; by a usual name labels of points are not taken
/// for those of clouds. DataError naming the file: what the formats
/// say, an array that is not there or has another shape, numbers that are not finite, labels below 0 (of points -1 is a class that is not known) or no whole numbers.
void read_clouds(const std::string& path, const CloudsDataOptions& options,
                 const std::function<void(Cloud)>& use);

/// The first usual name (part, semantic, classification, ..., in letters of any size) under which a file has a class for each point, as the file has it;
/// empty: there is none, or the file cannot be read. Of an archive the headers alone are read.
std::string usual_point_label(const std::string& path, const CloudsDataOptions& options);

/// Whether a path ends as HDF5 does: .h5, .hdf5.
bool is_hdf5(std::string_view path);

/// Whether an .npz or HDF5 file has positions by a usual name, of a shape that clouds have, and no atomic numbers (rMD17
/// has `coords`); `data` and `label` of HDF5 are ModelNet's (clouds/modelnet.h). Its headers alone are read. False, too:
/// it cannot be read.
bool holds_clouds(const std::string& path);

/// Whether a file in a folder that nobody named seems to be clouds: PLY, PCD, LAS and OFF by their names, scans by their first
/// points, archives by their arrays, those of ModelNet too, text by its first line (clouds/point_text.h). None: it cannot be read.
std::optional<bool> seems_clouds(const std::string& path);

/// Whether an archive has many clouds with a class of each, so that it belongs to no one class.
bool is_labelled_set(const std::string& path);

}  // namespace weyl
