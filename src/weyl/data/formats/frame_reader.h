#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "weyl/carriers/atoms_frame.h"

namespace weyl {

/// Frames of atoms, one after the other, from a file or folder of any format; one at a time is in memory
/// where the format allows.
class FrameReader {
 public:
  virtual ~FrameReader() = default;
  /// The next frame; false at the end. `frame` is overwritten, its memory used again. DataError naming file,
  /// frame (from 1) and, of a text, line.
  virtual bool next(AtomsFrame& frame) = 0;
  /// The place of the frame given last, for messages: "water.xyz: frame 12, line 310".
  virtual std::string where() const = 0;
  /// The unit, in the words of units.h, of a column, a value, or `pos`, the places and the cell; empty where
  /// the format does not say.
  virtual std::string_view unit_of(std::string_view /*name*/) const { return {}; }
  /// The same of `energy`, `pos`, `forces` and `stress`, where nobody may say another: the file says it, or its
  /// format knows no other. Empty where it is only usual, or follows from the units of energies and lengths.
  virtual std::string_view stated_unit_of(std::string_view name) const { return unit_of(name); }
  /// How many frames there are, of a format that knows it without reading them, and can go to any.
  virtual std::optional<int64_t> count() const { return std::nullopt; }
  /// Where `count` says it: `next` then gives the frame of this index, from 0.
  virtual void go_to(int64_t /*frame*/) {}
};

/// The frames of a path, by its name and content: extended xyz (also gzip), QM9's files, SDF and mol files (gdb9.sdf
/// with its table beside it),
/// .npz of MD17's kind, databases of ASE in LMDB, a DeePMD folder; of a folder of such (but .npz), or of a tar
/// archive of texts, those of one after the other, in the order of their names (of an archive: its own). DataError: see the readers; a path
/// that is nothing of these.
std::unique_ptr<FrameReader> open_frames(const std::string& path);

/// Takes the reason why a file cannot be read, or not beyond some frame.
using FileFault = std::function<void(const std::string& reason)>;
/// The same, but the frames of a folder of files go on with the next file where one cannot be read, from the frame on
/// that is at fault. DataError: no file of the folder has a frame that can be read; it says what is wrong with the
/// first.
std::unique_ptr<FrameReader> open_readable_frames(const std::string& path, FileFault fault);

/// Whether a path is named, or a folder looks, like one that `open_frames` reads. An .npz is told by its
/// arrays.
bool holds_frames(const std::string& path);

}  // namespace weyl
