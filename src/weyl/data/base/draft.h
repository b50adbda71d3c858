#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/config/toml.h"

namespace weyl {

/// A value as TOML text.
struct TomlText {
  TomlText(int n) : TomlText(static_cast<int64_t>(n)) {}
  TomlText(int64_t n);
  TomlText(double x);
  TomlText(bool b) : text(b ? "true" : "false") {}
  TomlText(const char* s) : TomlText(std::string(s)) {}
  TomlText(const std::string& s);
  TomlText(const std::vector<std::string>& list);
  TomlText(const std::vector<int64_t>& list);
  TomlText(const std::vector<double>& list);
  /// A text that is TOML already, such as an inline table.
  static TomlText raw(std::string text);

  std::string text;
};

/// A config for new data, drafted from a shipped recipe, for people to read and change. The recipe's lines stay as they
/// are. Lines that the data change are marked by `#>` and the reason.
class ConfigDraft {
 public:
  /// `recipe` is a config of configs/. The comment at its head is left out.
  explicit ConfigDraft(std::string_view recipe);

  /// Adds a line of comment at the end of the open table, or at the head of the file before a table is open.
  void remark(const std::string& comment);
  /// Adds a line of comment to the head of the file, whatever table is open.
  void remark_at_head(const std::string& comment) { head_.push_back(comment); }
  /// Opens the table of this path; the keys that follow belong to it. A table that the recipe lacks is added behind
  /// those of the same beginning ("data.", "task."), or at the end; `interface` is added behind the data tables.
  void table(const std::string& path);
  /// Sets a key of the open table. Where the recipe has the same value its line stays; otherwise the line is marked.
  /// `reason` says why the value is as it is; empty: the key's help does.
  void set(const std::string& key, const TomlText& value, const std::string& reason = {});
  /// Gives a key of the open table a comment, where its line has none.
  void note(const std::string& key, const std::string& comment);
  /// Removes the comments within the value of a key of the open table, one of several lines.
  void uncomment(const std::string& key);
  /// Removes a key of the open table.
  void drop(const std::string& key);
  /// Removes all keys of this table and of the tables in it. A table that is opened again keeps its place.
  void clear(const std::string& path);
  /// The text of a value, as the recipe has it or as it was set; empty when there is none.
  std::string value(const std::string& table, const std::string& key) const;
  double number(const std::string& table, const std::string& key, double otherwise) const;

  /// The text of the file. `visit` shows the options; their help stands beside keys without a comment. Text from data
  /// files is made harmless (core/quote.h, `visible`).
  std::string file(const Visit& visit) const;

 private:
  struct Line {
    std::string key, text, comment;  // a key with its value; or a comment alone
    bool changed = false;
  };
  struct Table {
    std::string path;
    std::vector<Line> lines;
    bool cleared = false;
  };
  Table& open();

  std::vector<std::string> head_;
  std::map<std::string, Line> recipe_;  // its keys, by path
  std::vector<Table> tables_;
  std::string open_;
};

/// A task that data have labels for.
struct FittingTask {
  std::string name;         // "force_field"
  std::string by_what;      // "energies and forces"
  bool on_request = false;  // chosen only where the user names it
};

/// Data as `weyl config new` sees them: what decides which recipe is used and what is changed in it.
struct FoundData {
  enum class Family { atoms, particles, points, shapes, poses, images, volumes, bodies };
  Family family = Family::points;
  std::string what;                // "950 frames of 9 atoms", for the head of the file
  std::vector<FittingTask> tasks;  // several: the user must name one; none: the path is part of a data set
  int64_t dimension = 3;
  int64_t samples = 0;  // for training
  double mean_tokens = 1;
  int64_t most_tokens = 1;  // of the largest sample for training
  std::vector<int64_t> cells,
      most_cells;  // of grids: the fewest and the most that a sample has along each axis
  std::vector<int64_t>
      crop;  // of volumes that are too large to be learned from whole: cells of a part; else none
  std::string why_crop;
  std::string upright;       // why the data fix a direction; empty: they do not
  std::string upright_axis;  // of shapes that may all stand upright: along this axis; empty: of other data
  std::string handed;        // why mirror images may be of other classes; empty: nothing says so
  std::string group;         // of poses
  bool periodic = false, forces = false, one_composition = false;
  double radius = 5, neighbours = 0;  // of atoms: a radius in Angstrom, and the mean neighbours within it
  std::vector<std::string> warnings;  // what is likely wrong with the data, a line each
  bool patches = false;               // whether the set can also give images as points
  bool voxels = true;                 // whether the set can also give shapes as voxels
  /// What of the above depends on the system that is chosen; none where nothing does.
  std::function<void(FoundData&, const std::string& task, const std::string& system)> plan;
  /// Writes what of a net follows from these grids, into its open table; none: what the recipe has serves.
  std::function<void(ConfigDraft&, const FoundData&, const std::string& system)> write_model;
  /// write_data writes [data] and [interface], and write_task writes [task], for the chosen task and system.
  std::function<void(ConfigDraft&, const std::string& task, const std::string& system)> write_data,
      write_task;
};

/// Writes the lines that every draft begins with: the set, why it is that one, and the path of the data. The set's table
/// is then open.
void write_set(ConfigDraft& draft, const std::string& set, const std::string& path,
               const std::string& why = {});

/// Sets the dimension and the counts of samples and tokens from the training split. DataError when that has no samples.
void count_samples(FoundData& found, const Splits& splits, const std::string& path);

/// The classes of a label: their number, and their names where the files have them.
struct Classes {
  int64_t count = 0;
  std::vector<std::string> names;
};
Classes classes_of(const Splits& splits, const std::string& label);
/// Writes the table of a segmentation or classification task, with the names of the classes where they are known.
void write_classes(ConfigDraft& draft, const std::string& task, const Classes& classes);

/// Why pictures with classes are not turned in training: FoundData::upright.
inline constexpr const char* upright_pictures =
    "pictures are taken to have an up, as photographs have; \"rotations\" where they may lie any way";

/// A number above 0 rounded to two digits; 0 of others.
double two_digits(double x);

/// Whether a system reads images and volumes as grids; the others see them as points.
bool reads_grids(std::string_view system);

/// The size of the part that is taken at a time of volumes of `least` to `most` cells; none where all are learned from
/// whole.
std::vector<int64_t> crop_of(const std::vector<int64_t>& least, const std::vector<int64_t>& most);

}  // namespace weyl
