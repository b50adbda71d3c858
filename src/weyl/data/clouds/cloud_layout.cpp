#include "weyl/data/clouds/cloud_layout.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/base/class_names.h"
#include "weyl/data/clouds/cloud_reader.h"
#include "weyl/data/clouds/modelnet_files.h"
#include "weyl/data/clouds/point_text.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostClasses = 1'000'000;
constexpr size_t kLooked = 4;  // files of a class, of what they are
constexpr const char* split_names[] = {"train", "valid", "test"};

std::vector<fs::path> folder_entries(const fs::path& folder, bool folders) {
  std::vector<fs::path> result;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.') && (folders ? entry.is_directory(error) : entry.is_regular_file(error))) {
      result.push_back(entry.path());
    }
  }
  std::ranges::sort(result);
  return result;
}

/// Folders with clouds in them.
std::vector<fs::path> class_folders(const fs::path& folder) {
  std::vector<fs::path> result;
  for (const fs::path& path : folder_entries(folder, true)) {
    if (!clouds_in(path.string()).empty()) {
      result.push_back(path);
    }
  }
  return result;
}

/// The scans of a folder `velodyne`; empty where there is no such folder.
std::vector<std::string> scans_in(const fs::path& velodyne) {
  auto files = clouds_in(velodyne.string());
  std::erase_if(files, [](const std::string& file) { return !file.ends_with(".bin"); });
  return files;
}

/// Folders `velodyne` of scans, as KITTI has them: in the folder, in those in it, or in `sequences` and those in that.
std::vector<fs::path> scan_folders(const fs::path& folder) {
  const fs::path above = fs::is_directory(folder / "sequences") ? folder / "sequences" : folder;
  std::vector<fs::path> places = folder_entries(above, true), result;
  places.insert(places.begin(), above);
  for (const fs::path& place : places) {
    if (!scans_in(place / "velodyne").empty()) {
      result.push_back(place / "velodyne");
    }
  }
  return result;
}

/// What a folder of one split, or of a set without folders of splits, holds: scans, or folders of classes, files or both.
struct CloudFolder {
  std::vector<fs::path> scans;     // folders `velodyne`
  std::vector<fs::path> classes;   // with clouds in them
  std::vector<std::string> files;  // clouds directly in it

  bool empty() const { return scans.empty() && classes.empty() && files.empty(); }
};

CloudFolder look_into(const fs::path& folder) {
  CloudFolder found{.scans = scan_folders(folder), .classes = {}, .files = {}};
  if (found.scans.empty()) {
    found.classes = class_folders(folder);
    found.files = clouds_in(folder.string());
  }
  return found;
}

/// The folders of the splits of a set that has train or test, by their numbers.
std::vector<std::pair<size_t, fs::path>> split_folders(const fs::path& folder) {
  std::vector<std::pair<size_t, fs::path>> result;
  if (fs::is_directory(folder / "train") || fs::is_directory(folder / "test")) {
    for (const auto& [split, name] : {std::pair{0, "train"}, {1, "valid"}, {1, "val"}, {2, "test"}}) {
      if (fs::is_directory(folder / name)) {
        result.emplace_back(split, folder / name);
      }
    }
  }
  return result;
}

/// Whether the scans of a folder `velodyne` may have labels.
bool has_scan_labels(const fs::path& velodyne) {
  return fs::is_directory(velodyne.parent_path() / "labels");
}

/// All scans. Where classes of points are learned, those of sequences without them, as SemanticKITTI's of its benchmark, are left
/// out, unless no sequence has any.
std::vector<CloudFile> scans_of(const std::vector<fs::path>& folders, const CloudsDataOptions& o,
                                std::vector<std::string>& warnings) {
  const bool labelled = !o.point_label.empty() && std::ranges::any_of(folders, has_scan_labels);
  std::vector<CloudFile> files;
  std::string left;
  for (const fs::path& velodyne : folders) {
    if (labelled && !has_scan_labels(velodyne)) {
      left += text(left.empty() ? "" : ", ", quote(velodyne.parent_path().filename().string(), 80));
      continue;
    }
    for (const std::string& file : scans_in(velodyne)) {
      files.push_back({file, -1});
    }
  }
  if (!left.empty()) {
    warnings.push_back(text(o.path, ": scans without labels beside them are left out, those of ", left));
  }
  return files;
}

/// The files of a folder of one split, or of all; the classes are those of the first folder.
std::vector<CloudFile> cloud_files_of(const fs::path& folder, CloudLayout& layout, bool first,
                                      const CloudsDataOptions& o) {
  CloudFolder found = look_into(folder);
  if (!found.scans.empty()) {
    return scans_of(found.scans, o, layout.warnings);
  }
  std::vector<CloudFile> files;
  std::vector<std::string>& names = layout.classes;
  if (first && !found.classes.empty()) {
    for (const fs::path& path : found.classes) {
      names.push_back(path.filename().string());
    }
    names = classes_of(std::move(names), o.known_classes);
  }
  for (const fs::path& path : found.classes) {
    const auto at = std::ranges::find(names, path.filename().string());
    if (names == o.known_classes) {
      require_known({path.filename().string()}, o.known_classes, folder.string());
    }
    require<DataError>(at != names.end(), path.string(), ": is no class of the training clouds");
    for (const std::string& file : clouds_in(path.string())) {
      files.push_back({file, at - names.begin()});
    }
  }
  auto& loose = found.files;
  if (!found.classes.empty()) {  // notes and lists of names lie beside folders of classes
    std::erase_if(loose, [](const std::string& f) { return f.ends_with(".txt") || f.ends_with(".csv"); });
  }
  require<DataError>(found.classes.empty() || loose.empty(), folder.string(),
                     ": holds folders of classes and clouds beside them, such as ",
                     loose.empty() ? "" : quote(fs::path(loose.front()).filename().string(), 80),
                     "; data.clouds.labels names a table of files and classes");
  for (const std::string& file : loose) {
    files.push_back({file, -1});
  }
  return files;
}

/// The table's lines as cells, with the line's number.
class LabelTable {
 public:
  explicit LabelTable(std::string path) : path_(std::move(path)), contents_(contents_of(path_)) {
    std::string_view rest = contents_;
    if (rest.starts_with("\xEF\xBB\xBF")) {
      rest.remove_prefix(3);
    }
    for (int64_t number = 1; !rest.empty(); ++number) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) {
        line.remove_suffix(1);
      }
      if (line.empty()) {
        continue;
      }
      const auto cells = csv_cells(line);
      if (names_.empty()) {
        names_ = cells;
        file_ = column("file");
        class_ = column("class");
        split_ = std::ranges::find(names_, "split") == names_.end() ? -1 : column("split");
      } else {
        add(cells, number);
      }
    }
    require<DataError>(!rows_.empty(), path_, ": must name at least one file, names none");
  }

  struct Row {
    std::string file, name, split;
    int64_t line = 0;
  };
  const std::vector<Row>& rows() const { return rows_; }
  bool split() const { return split_ >= 0; }

 private:
  int64_t column(const char* name) const {
    const auto at = std::ranges::find(names_, name);
    require<DataError>(
        at != names_.end() && std::ranges::count(names_, name) == 1, path_,
        ": line 1: must name the columns `file` and `class` once each, and `split` where the splits are "
        "given; there is no ",
        at == names_.end() ? "" : "single ", name);
    return at - names_.begin();
  }

  void add(const std::vector<std::string>& cells, int64_t line) {
    require<DataError>(cells.size() == names_.size(), path_, ": line ", line, ": must have ", names_.size(),
                       " columns as the first line, got ", cells.size());
    Row row{cells[file_], cells[class_], split_ < 0 ? "" : cells[split_], line};
    require<DataError>(!row.file.empty() && !row.name.empty(), path_, ": line ", line,
                       ": must name a file and a class");
    require<DataError>(split_ < 0 || std::ranges::find(split_names, row.split) != std::end(split_names),
                       path_, ": line ", line, ": the split must be train, valid or test, got ",
                       quote(row.split, 40));
    require<DataError>(seen_.insert(row.file).second, path_, ": line ", line, ": the file ",
                       quote(row.file, 80), " is named twice");
    rows_.push_back(std::move(row));
  }

  std::string path_, contents_;
  std::vector<std::string> names_;
  int64_t file_ = -1, class_ = -1, split_ = -1;
  std::vector<Row> rows_;
  std::set<std::string> seen_;
};

/// The number of each class of a table; `names` gets their names unless they are numbers.
std::map<std::string, int64_t> class_numbers(const LabelTable& table, std::vector<std::string>& names,
                                             const std::vector<std::string>& known) {
  std::map<std::string, int64_t> numbers;  // by name
  bool whole = true;
  for (const auto& row : table.rows()) {
    const auto number = parse_integer(row.name);
    whole = whole && number && *number >= 0 && *number < kMostClasses;
    numbers[row.name] = number.value_or(-1);
  }
  if (!whole) {
    for (const auto& [name, number] : numbers) {
      names.push_back(name);
    }
    names = classes_of(std::move(names), known);
    for (auto& [name, number] : numbers) {
      number = std::ranges::find(names, name) - names.begin();
    }
  }
  return numbers;
}

CloudLayout labelled(const fs::path& folder, const CloudsDataOptions& o) {
  const std::string where = (folder / o.labels).string();
  const LabelTable table(where);
  CloudLayout layout;
  auto numbers = class_numbers(table, layout.classes, o.known_classes);
  std::set<std::string> used;
  for (const auto& row : table.rows()) {
    const fs::path path = folder / row.file;
    require<DataError>(fs::is_regular_file(path), where, ": line ", row.line, ": there is no file ",
                       quote(path.string(), 120));
    require<DataError>(is_cloud_file(path.string()), where, ": line ", row.line, ": ", quote(row.file, 80),
                       " must be ", cloud_endings);
    auto& to = !table.split()         ? layout.all
               : row.split == "train" ? layout.train
               : row.split == "valid" ? layout.valid
                                      : layout.test;
    to.push_back({path.string(), numbers.at(row.name)});
    used.insert(fs::weakly_canonical(path).string());
  }
  int64_t left = 0;
  for (const std::string& file : clouds_in(folder.string())) {
    const auto name = fs::weakly_canonical(file).string();
    left += name != fs::weakly_canonical(where).string() && !used.contains(name) ? 1 : 0;
  }
  if (left > 0) {
    layout.warnings.push_back(text(folder.string(), ": ", left, left == 1 ? " cloud is" : " clouds are",
                                   " not in ", o.labels, " and left out"));
  }
  return layout;
}

/// Folders beside those of splits, whose clouds nobody would miss: a validation set of another name, for one.
void warn_of_others(CloudLayout& layout, const fs::path& folder, const std::set<fs::path>& taken) {
  for (const fs::path& other : folder_entries(folder, true)) {
    if (!taken.contains(other) && !look_into(other).empty()) {
      layout.warnings.push_back(
          text(folder.string(), ": the folder ", quote(other.filename().string(), 80),
               " is left out, the folders of splits are train, valid (or val) and test"));
    }
  }
}

std::optional<size_t> split_of_stem(const std::string& stem) {
  const auto* at = std::ranges::find(split_names, stem == "val" ? "valid" : stem);
  return at == std::end(split_names) ? std::nullopt : std::optional<size_t>(at - split_names);
}

bool is_named_split(const std::string& path) {
  return split_of_stem(fs::path(path).stem().string()).has_value();
}

/// A text beside files of splits: notes, or a list of names.
bool is_note(const std::string& path) {
  return (path.ends_with(".txt") || path.ends_with(".csv")) && !is_named_split(path);
}

/// train.npz, test.npz, ... where all files but notes have such names.
bool give_splits(CloudLayout& layout) {
  std::vector<CloudFile>* to[] = {&layout.train, &layout.valid, &layout.test};
  const auto split = [](const CloudFile& file) { return is_named_split(file.path); };
  const auto note = [](const CloudFile& file) { return is_note(file.path); };
  if (std::ranges::none_of(layout.all, split) ||
      !std::ranges::all_of(layout.all, [&](const CloudFile& file) { return split(file) || note(file); })) {
    return false;
  }
  std::erase_if(layout.all, note);
  for (const CloudFile& file : layout.all) {
    to[*split_of_stem(fs::path(file.path).stem().string())]->push_back(file);
  }
  layout.all.clear();
  return true;
}

/// SemanticKITTI's own splits where scans are of its sequences, which lie in folders 00 to 21: 08 is for validation, or without it the
/// last that may be learned from, 11 to 21 are for testing. (Scans of one sequence, a tenth of a second apart, are nearly the same in
/// training and test: those of a single one are divided all the same.)
void give_splits_of_sequences(CloudLayout& layout) {
  const auto sequence = [](const CloudFile& file) {
    return fs::path(file.path).parent_path().parent_path().filename().string();
  };
  const auto number = [&](const CloudFile& file) {
    const std::string name = sequence(file);
    return name.size() == 2 ? parse_integer(name).value_or(-1) : -1;
  };
  const auto in = [&](int64_t least, int64_t most) {
    return [=](const CloudFile& file) { return number(file) >= least && number(file) <= most; };
  };
  constexpr int64_t last = 21, usual_validation = 8, first_of_tests = 11;
  std::set<int64_t> learned;  // from
  for (const CloudFile& file : layout.all) {
    if (const int64_t n = number(file); n < first_of_tests && n != usual_validation) {
      learned.insert(n);
    }
  }
  const auto test = in(first_of_tests, last);
  const bool has_usual = std::ranges::any_of(layout.all, in(usual_validation, usual_validation)),
             others = has_usual || std::ranges::any_of(layout.all, test) || learned.size() > 1;
  if (!std::ranges::all_of(layout.all, in(0, last)) || learned.empty() || !others) {
    return;
  }
  const int64_t of_validation = !has_usual && learned.size() > 1 ? *learned.rbegin() : usual_validation;
  const auto valid = in(of_validation, of_validation);
  for (const CloudFile& file : layout.all) {
    (valid(file) ? layout.valid : test(file) ? layout.test : layout.train).push_back(file);
  }
  layout.all.clear();
}

/// train.npz, valid.h5 and the like, each of many clouds.
bool is_folder_of_splits(const std::string& path) {
  bool any = false;
  for (const std::string& file : clouds_in(path)) {
    const bool archive = is_named_split(file) && (file.ends_with(".npz") || is_hdf5(file));
    const bool broken = archive && !seems_clouds(file);
    const bool split = archive && !broken && holds_clouds(file);
    if (!split && !broken && !is_note(file)) {
      return false;
    }
    any = any || split;
  }
  return any;
}

/// .npz and HDF5 files of clouds and nothing else, but ModelNet's own names (clouds/modelnet_files.h).
bool is_folder_of_archives(const std::string& path) {
  bool any = false;
  for (const fs::path& file : folder_entries(path, false)) {
    const auto seems = file.extension() == ".npz" || is_hdf5(file.string()) ? seems_clouds(file.string())
                                                                            : std::optional(false);
    if (seems && !*seems) {
      return false;
    }
    any = any || seems.has_value();
  }
  return any && folder_entries(path, true).empty() && ModelnetFiles(path).empty();
}

/// Whether the first of these files are clouds whose points have labels.
bool have_point_labels(const std::vector<std::string>& files) {
  return !files.empty() &&
         std::ranges::all_of(files | std::views::take(kLooked), [](const std::string& file) {
           return seems_clouds(file).value_or(false) && !usual_point_label(file, {}).empty();
         });
}

/// Clouds and nothing else, the first of which have labels of points.
bool is_folder_of_labelled_points(const std::string& path) {
  const auto files = clouds_in(path);
  return files.size() == folder_entries(path, false).size() && folder_entries(path, true).empty() &&
         have_point_labels(files);
}

}  // namespace

std::vector<std::string> clouds_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const fs::path& path : folder_entries(folder, false)) {
    if (is_cloud_file(path.string())) {
      files.push_back(path.string());
    }
  }
  return files;
}

CloudLayout cloud_layout(const CloudsDataOptions& o) {
  const fs::path folder = o.path;
  CloudLayout layout;
  if (fs::is_regular_file(folder) && o.labels.empty()) {
    require<DataError>(is_cloud_file(o.path), o.path, ": must be ", cloud_endings);
    layout.all = {{o.path, -1}};
    return layout;
  }
  require<DataError>(fs::is_directory(folder), o.path, ": there is no such folder");
  if (!o.labels.empty()) {
    return labelled(folder, o);
  }
  if (const auto splits = split_folders(folder); !splits.empty()) {
    require<DataError>(!fs::is_directory(folder / "valid") || !fs::is_directory(folder / "val"), o.path,
                       ": must have one of the folders valid and val, has both");
    std::vector<CloudFile>* to[] = {&layout.train, &layout.valid, &layout.test};
    std::set<fs::path> taken;
    for (const auto& [split, path] : splits) {
      *to[split] = cloud_files_of(path, layout, taken.empty(), o);
      require<DataError>(!to[split]->empty(), path.string(), ": holds no point cloud");
      taken.insert(path);
    }
    warn_of_others(layout, folder, taken);
    return layout;
  }
  layout.all = cloud_files_of(folder, layout, true, o);
  require<DataError>(!layout.all.empty(), o.path, ": holds no point cloud (", cloud_endings,
                     "), nor a folder of them");
  if (layout.classes.empty() && !give_splits(layout)) {
    give_splits_of_sequences(layout);
  }
  return layout;
}

bool is_flat_cloud_folder(const std::string& path) {
  const auto [scans, classes, files] = look_into(path);
  const bool splits =
      std::ranges::any_of(files, is_named_split) && std::ranges::all_of(files, [](const std::string& file) {
        return is_named_split(file) || is_note(file);
      });
  return !files.empty() && classes.empty() && !splits && split_folders(path).empty();
}

bool is_cloud_folder(const std::string& path) {
  if (const auto splits = split_folders(path); !splits.empty()) {
    return is_cloud_folder(splits.front().second.string());
  }
  const auto [scans, folders, files] = look_into(path);
  if (!scans.empty()) {  // others are no set of their own, but lie beside trajectories or pictures
    return std::ranges::any_of(
        scans, [](const fs::path& velodyne) { return have_point_labels(scans_in(velodyne)); });
  }
  if (folders.empty()) {
    return is_folder_of_splits(path) || is_folder_of_archives(path) || is_folder_of_labelled_points(path);
  }
  if (folders.size() != folder_entries(path, true).size()) {
    return false;
  }
  bool any = false;  // of the first of each class: broken files say nothing
  for (const fs::path& folder : folders) {
    const auto of_class = clouds_in(folder.string());
    if (of_class.size() != folder_entries(folder, false).size() || !folder_entries(folder, true).empty()) {
      return false;
    }
    for (const std::string& file : of_class | std::views::take(kLooked)) {
      const auto seems = seems_clouds(file);
      if ((seems && !*seems) || is_labelled_set(file)) {
        return false;
      }
      any = any || seems.has_value();
    }
  }
  return any;
}

}  // namespace weyl
