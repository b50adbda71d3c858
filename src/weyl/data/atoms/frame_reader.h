#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/data/atoms/stated_units.h"
#include "weyl/data/containers/byte_source.h"
#include "weyl/data/containers/text_lines.h"

namespace weyl {

/// Where a frame begins: its first byte in a text, its number in a database, with the number of the file in the highest
/// 16 bits where there are several; and the first byte of what a second file says of it.
struct FramePlace {
  uint64_t at = 0, beside = 0;
  bool operator==(const FramePlace&) const = default;
};

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
  /// What the file says of its units and the reader does not understand.
  virtual std::span<const UnreadUnit> unread_units() const { return {}; }
  /// Symbols of the types in their order, for files that number types without saying what they are; others, and other
  /// formats, keep their own elements. A list in which some symbol is no element names nothing: that of all atomic
  /// numbers, from "X" on, is what a model has that was given none.
  virtual void name_types(const std::vector<std::string>& /*symbols*/) {}
  /// Where the frame begins that `next` gives; nothing where the reader can only go on, as in a packed file.
  virtual std::optional<FramePlace> place() { return std::nullopt; }
  /// Makes `next` give the frame at a place that this reader, or another of the same path, has said. DataError: of a
  /// place that nobody has said, here or where that frame is read.
  virtual void go_to(const FramePlace& /*place*/) {}
  /// Where several readers may begin to read the frames together, each up to the place where the next one begins:
  /// ascending, without the first frame's, the same each time. Empty where that is not known before all is read.
  virtual std::vector<FramePlace> cuts() { return {}; }
};

/// The place of the next line of a text; and that of a reader with the next line of a text beside its file. Nothing where
/// one cannot go back.
std::optional<FramePlace> place_of(const TextLines& lines);
std::optional<FramePlace> place_of(FrameReader& reader, const TextLines& beside);

/// The frames of a path, by its name and content: extended xyz (also gzip), QM9's files, SDF and mol files (gdb9.sdf
/// with its table beside it),
/// .npz of MD17's kind, databases of ASE in LMDB, a DeePMD folder; of a folder of such (but .npz), or of a tar
/// archive of texts, those of one after the other, in the order of their names (of an archive: its own). DataError: see the readers; a path
/// that is nothing of these.
std::unique_ptr<FrameReader> open_frames(const std::string& path);

/// The frames of these paths, one after the other.
std::unique_ptr<FrameReader> open_frames_of_all(std::vector<std::string> paths);

/// Takes the reason why a file cannot be read, or not beyond some frame.
using FileFault = std::function<void(const std::string& reason)>;
/// The same, but the frames of a folder of files go on with the next file where one cannot be read, from the frame on
/// that is at fault. DataError: no file of the folder has a frame that can be read; it says what is wrong with the
/// first.
std::unique_ptr<FrameReader> open_readable_frames(const std::string& path, FileFault fault);

/// Whether a path is named, or a folder looks, like one that `open_frames` reads. An .npz is told by its
/// arrays.
bool holds_frames(const std::string& path);

/// A format of frames of atoms: how its files end (a folder has no ending), what tells it from others of
/// these endings, and its reader. A text may also be packed by gzip, lie in a folder with others, or in an
/// archive. The table is in frame_reader.cpp; to add a format: its reader, and a row there.
struct FrameFormat {
  std::vector<std::string_view> endings{};
  // A text has:
  bool (*begins)(std::string_view begin_of_file) = nullptr;  // null: the ending is enough
  std::unique_ptr<FrameReader> (*open_text)(std::unique_ptr<ByteSource>, std::string_view where) = nullptr;
  // Another file, or a folder, has:
  bool (*holds)(const std::string& path) = nullptr;
  std::unique_ptr<FrameReader> (*open)(const std::string& path) = nullptr;
  bool in_folders = false;   // whether folders of such files, as of texts, are read
  const char* folders = "";  // whose folders are of the format
};

/// Whether a name is that of a text with frames.
bool is_frame_text(std::string_view path);
/// Whether it is that of a file that is read in folders of such, too.
bool lies_in_folders(std::string_view path);

/// The format of such a text; `begin` gives its first bytes, where the name alone does not tell.
const FrameFormat& format_of_frame_text(std::string_view path,
                                        const std::function<std::vector<std::byte>()>& begin);

/// The format of a folder, and of a file that is no text by its name; null for none.
const FrameFormat* frame_format_of_folder(const std::string& path);
const FrameFormat* frame_format_of_file(std::string_view path);

/// The files that open_frames reads of a path: itself, with the table that may lie beside it; of a folder its files with frames,
/// and of those of a format all files right in it and in its folders set.*. DataError: a folder cannot be read.
std::vector<std::string> files_of_frames(const std::string& path);

/// How files with frames end, each ending once: ".xyz", ".xyz.gz", ...; archives and folders left out.
std::vector<std::string> frame_endings();

/// What is read, in short, for messages: ".xyz, .extxyz, ..., .npz, .tar, DeePMD".
std::string frame_format_names();

/// For messages, too: the endings of texts, of other files or of those in folders, with `last` before the last one,
/// and whose folders are read.
enum class FrameEndings { texts, others, in_folders };
std::string frame_endings_line(FrameEndings of, std::string_view last = ", ");
std::string frame_folders();

}  // namespace weyl
