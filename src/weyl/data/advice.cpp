#include "weyl/data/advice.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "weyl/core/alternatives.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/small_letters.h"
#include "weyl/data/clouds/cloud_reader.h"
#include "weyl/data/clouds/point_clouds.h"
#include "weyl/data/clouds/point_text.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/formats.h"
#include "weyl/data/poses/pose_file.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kClouds =
    "point clouds, one a file, in a folder for each class are read by data.set = \"clouds\"";
constexpr size_t kMostNames = 8, kMostTried = 100;  // listed and looked at, of many

/// Files of other programs, by their ending or name.
struct Known {
  std::string_view end, seems, advice;
};
constexpr std::string_view kByAse =
    "frames of atoms of other programs become extended xyz by ASE (`ase convert IN OUT.extxyz`)";
constexpr std::string_view kByPdal =
    "PDAL saves it as PLY (`pdal translate IN OUT.ply --writers.ply.storage_mode=little-endian`), which data.set = \"clouds\" "
    "reads, the column classification too";
constexpr Known known[] = {
    {".ply", "a PLY cloud or mesh", kClouds},
    {".pcd", "a PCD cloud", kClouds},
    {".las", "a LAS cloud", kClouds},
    {".laz", "a LAZ cloud",
     "`pdal translate IN.laz OUT.las` or `laszip -i IN.laz -o OUT.las` unpacks it, which data.set = \"clouds\" reads"},
    {".e57", "an E57 cloud", kByPdal},
    {".obj", "an OBJ mesh", "save it as OFF (data.set = \"modelnet\") or as PLY (data.set = \"clouds\")"},
    {".stl", "an STL mesh", "save it as OFF (data.set = \"modelnet\") or as PLY (data.set = \"clouds\")"},
    {".npy", "one array of numpy",
     "numpy.savez with places R and atomic numbers z makes frames of atoms, and point clouds, one a file, "
     "are read by data.set = \"clouds\""},
    {".pdb", "a PDB file", kByAse},
    {".cif", "a CIF file", kByAse},
    {".traj", "a trajectory of ASE", kByAse},
    {".db", "a database of ASE", kByAse},
    {".gro", "a GROMACS file", kByAse},
    {".dump", "a LAMMPS dump", kByAse},
    {".lammpstrj", "a LAMMPS dump", kByAse},
    {"vasprun.xml", "an output of VASP", kByAse},
    {"outcar", "an output of VASP", kByAse},
    {"xdatcar", "an output of VASP", kByAse},
    {"poscar", "a structure of VASP", kByAse},
    {"contcar", "a structure of VASP", kByAse},
    {".vasp", "a structure of VASP", kByAse},
    {".tif", "a TIFF image", "save it as PNG"},
    {".tiff", "a TIFF image", "save it as PNG"},
    {".dcm", "a DICOM image", "save the series as NIfTI (dcm2niix)"},
    {".nhdr", "the header of an NRRD volume", "save it as one file, .nrrd"},
    {".mhd", "the header of a MetaImage volume", "save it as one file, .mha"}};

const Known* known_by(const std::string& path) {
  std::string name = in_small_letters(fs::path(path).filename().string());
  if (std::ifstream file(path, std::ios::binary); file) {  // what begins as PLY is PLY, whatever its name
    std::array<char, 4> begin{};
    file.read(begin.data(), begin.size());
    name = std::string_view(begin.data(), 4) == "ply\n" || std::string_view(begin.data(), 4) == "ply\r"
               ? ".ply"
               : name;
  }
  const auto* found = std::ranges::find_if(known, [&](const Known& k) { return name.ends_with(k.end); });
  return found == std::end(known) ? nullptr : found;
}

/// The arrays of an archive as "'points' f32 [2048, 3], ..."; empty: it cannot be read.
std::string arrays_of(const std::string& path) {
  std::string list;
  try {
    const std::vector<NpzEntry> entries = read_npz_entries(path);
    for (size_t i = 0; i < std::min(entries.size(), kMostNames); ++i) {
      list += text(i == 0 ? "" : ", ", quote(entries[i].name, 40), " ", name_of(entries[i].header.type), " ",
                   shape_text(entries[i].header.shape));
    }
    return list + (entries.empty() ? "none" : entries.size() > kMostNames ? ", ..." : "");
  } catch (const DataError&) {
    return {};
  }
}

/// Whether a path is of some format, or would be but for what is wrong in it.
bool taken(const std::string& path) {
  if (is_hdf5(path) && !fs::is_directory(path)) {  // by their names alone all are
    return seems_clouds(path).value_or(false);
  }
  try {
    return recognise(path, {}, [](auto) {});
  } catch (const DataError&) {
    return fs::is_directory(path);
  }
}

/// Of a table of names and numbers, or of words, that is no trajectory.
std::string advice_for_table(const std::string& path, const std::string& columns) {
  const fs::path described = fs::path(path).stem();
  if (described.extension() == ".sdf") {
    return text("is the table of the molecules in ", quote(described.string(), 80),
                ", with which it is read: give that file, or their folder");
  }
  return looks_like_points(path).value_or(false)
             ? text("seems to be a point cloud; ", kClouds)
             : text("is a table of ", columns,
                    ", which name no pose; tables are read beside the files that they describe");
}

/// What is in a folder, by name, hidden entries left out.
struct Entries {
  std::vector<std::string> folders, files;
};

Entries entries_of(const std::string& folder) {
  Entries found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with('.')) {
      continue;
    }
    if (entry.is_directory(error)) {
      found.folders.push_back(entry.path().string());
    } else if (entry.is_regular_file(error)) {
      found.files.push_back(entry.path().string());
    }
  }
  std::ranges::sort(found.folders);
  std::ranges::sort(found.files);
  return found;
}

std::string advice_for_folder(const std::string& path) {
  std::map<std::string, int64_t> endings;  // of files
  const auto [folders, files] = entries_of(path);
  std::string example;
  for (const std::string& file : files) {
    const std::string end = fs::path(file).extension().string();
    ++endings[end];
    if (example.empty() && (known_by(file) != nullptr || end == ".npz" || is_hdf5(file))) {
      example = file;
    }
  }
  if (endings.empty() && folders.empty()) {
    return "is an empty folder";
  }
  std::string holds;
  size_t listed = 0;
  for (const auto& [end, count] : endings) {
    if (listed++ < kMostNames) {
      holds += text(holds.empty() ? "" : ", ", count, " ", end.empty() ? "without ending" : quote(end, 20));
    }
  }
  if (!folders.empty()) {
    holds += text(holds.empty() ? "" : ", ", folders.size(), folders.size() == 1 ? " folder" : " folders");
  }
  std::string begin = text("holds no data set (", holds, ")");
  if (const std::string within = data_set_within(path); !within.empty()) {
    return text(begin, "; its ", fs::is_directory(within) ? "folder " : "file ",
                quote(fs::path(within).filename().string(), 80), " is one: inspect that");
  }
  if (!example.empty()) {
    return text(begin, "; ", quote(fs::path(example).filename().string(), 80), " ", advice_for(example));
  }
  for (size_t i = 0; i < std::min(folders.size(), kMostNames); ++i) {  // a folder for each class
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folders[i], error)) {
      if (!entry.is_regular_file(error)) {
        continue;
      }
      const Known* is = known_by(entry.path().string());
      if ((is != nullptr && is->end == ".ply") || entry.path().extension() == ".npz") {
        return text(begin, "; ", kClouds);
      }
    }
  }
  return begin;
}

/// The data sets of an HDF5 file; empty: it cannot be read.
std::string data_sets_of(const std::string& path) {
  std::string list;
  try {
    for (const Hdf5Entry& entry : read_hdf5_entries(path)) {
      list += text(list.empty() ? "" : ", ", quote(entry.name, 40), " ", shape_text(entry.shape));
    }
  } catch (const DataError&) {
    return {};
  }
  return list.empty() ? "none" : list;
}

}  // namespace

std::string data_set_within(const std::string& folder) {
  const auto [folders, files] = entries_of(folder);
  for (size_t i = 0; i < std::min(files.size(), kMostTried); ++i) {
    const bool notes = files[i].ends_with(".txt") || files[i].ends_with(".csv");  // poses or anything
    if (!notes && taken(files[i])) {
      return files[i];
    }
  }
  for (size_t i = 0; i < std::min(folders.size(), kMostNames); ++i) {
    if (taken(folders[i])) {
      return folders[i];
    }
  }
  return {};
}

std::string advice_for(const std::string& path) {
  if (fs::is_directory(path)) {
    return advice_for_folder(path);
  }
  if (is_hdf5(path)) {
    const std::string arrays = data_sets_of(path);
    return arrays.empty() ? "is no HDF5 file that can be read"
                          : text("has no positions of points by a usual name, its arrays are ", arrays,
                                 "; data.set = \"clouds\" reads those that data.clouds.positions names");
  }
  if (path.ends_with(".npz")) {
    const std::string arrays = arrays_of(path);
    return text(
        "is no trajectory, which has places (R or coords) and atomic numbers (z or nuclear_charges)",
        arrays.empty() ? "" : ", it has " + arrays, "; ", kClouds,
        ", digits by data.set = \"rotated_mnist\", and `weyl data convert` makes .safetensors of any arrays");
  }
  if (is_pose_file(path) && fs::is_regular_file(path)) {
    if (const std::string columns = other_table(path); !columns.empty()) {
      return advice_for_table(path, columns);
    }
  }
  const Known* is = fs::is_regular_file(path) ? known_by(path) : nullptr;
  return is == nullptr ? "" : text("seems to be ", is->seems, "; ", is->advice);
}

}  // namespace weyl
