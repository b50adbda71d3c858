#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A file format is a struct without members in `files.h` of its kind's folder, with a place in the list `FileFormats`
/// (data/formats.h). Its first two functions give its words in messages and help pages. Every other function is
/// optional: a format has those for what it can do. The commands in brackets go over the list and use the formats that
/// have one:
///
///   holds, names()         "poses", ".txt, .csv, .tum, .kitti"
///   takes(path, asked)     whether a path is of this format: by its name or, where names do not tell, by its
///                          content. `asked`: the data set that is asked for
///   lays_out(folder)       whether a folder is a data set in this format's layout; no file is read whole
///   open(request)          a path that it takes, as a data set                    [open_file, data inspect]
///   sets(folder)           the splits of a folder that it lays out                [data inspect]
///   sound_sets(folder, faults)   the same without the broken files, with a line for each in `faults`
///   require_index(folder)  DataError: the file that says what the others are cannot be read, so that they say nothing
///   draft(path)            what a config for a path that it takes or lays out should say (base/draft.h);
///                          without tasks: the path is a part of a data set        [config new]
///   inspect(path, report)  what `data inspect` says of a path that is no data set
///   converts(in, out, options), convert(in, out, options)                         [data convert]
///                          `converts_to` has the words for `out`; ConvertOptions are the options, if any
///   split(path, folder, options)                                                  [data split]
///                          `splits_into` is the ending of the parts; ConvertOptions, if any, are the last argument
///   as_tensors             true: its data sets are converted to, and split into, carrier tensor files
///
/// This header is free of torch, and so are the words, because help pages need them. A function that is declared but
/// not defined is a link error that names it.
namespace weyl {

class Dataset;
struct FoundData;    // draft.h
struct Inspection;   // inspection.h
struct OpenRequest;  // open_request.h
struct Splits;
struct SplitIndices;  // parts.h
struct SplitOptions;

/// Refers to the options of the data set that is asked for, of whatever kind; the options must outlive it. By default
/// no set is asked for.
class AskedSet {
 public:
  AskedSet() = default;
  template <class Options>
    requires requires { Options::name_in_config; }
  explicit AskedSet(const Options& options) : options_(&options), name_(Options::name_in_config) {}

  /// The same options, which note in `read`, if it is there, that somebody read them. It must outlive them.
  AskedSet noting(bool* read) const {
    AskedSet noting = *this;
    noting.read_ = read;
    return noting;
  }

  /// Null where another set, or none, is asked for.
  template <class Options>
  const Options* get_if() const {
    if (!is<Options>()) {
      return nullptr;
    }
    if (read_ != nullptr) {
      *read_ = true;
    }
    return static_cast<const Options*>(options_);
  }
  template <class Options>
  bool is() const {
    return name_ == Options::name_in_config;
  }

 private:
  const void* options_ = nullptr;
  std::string_view name_;
  bool* read_ = nullptr;
};

/// Data sets with the names of their splits; a single set has an empty name.
using NamedSets = std::vector<std::pair<std::string, std::shared_ptr<const Dataset>>>;
/// The splits that exist.
NamedSets named_sets(const Splits& splits);
/// Opens, by `open`, whichever of train.safetensors, valid.safetensors and test.safetensors a folder has.
NamedSets tensor_file_sets(
    const std::string& folder,
    const std::function<std::shared_ptr<const Dataset>(const std::string& file)>& open);

/// The metadata `format` of a .safetensors file. Empty: it has none, or the path is no such file. DataError: it is
/// broken.
std::string tensor_file_format(const std::string& path);
/// The same for the first of train.safetensors, valid.safetensors and test.safetensors that a folder has.
std::string tensor_folder_format(const std::string& folder);
/// Whether a folder has at least one of these three files.
bool is_tensor_folder(const std::string& folder);

/// Whether a folder has an entry whose name satisfies `such`.
bool has_entry(const std::string& folder, const std::function<bool(const std::string& name)>& such);

/// Takes what was found in a data set, split by split.
using InspectionReport = std::function<void(const std::string& split, const Inspection& found)>;

/// What a conversion wrote, the names of what it found no place for, and what is likely wrong with the data.
struct Converted {
  std::vector<std::string> files, left_out, warnings = {};
};

/// The key=value arguments of `data convert` and `data split`.
using OptionTexts = std::vector<std::string>;

/// Checks, before any work, that a path to be written does not exist yet: else ConfigError. The path is then written
/// with Existing::keep.
void require_new(const std::string& path);

/// These concepts say what a format can do, by the functions that it has.
template <class Format>
concept CanTake = requires(const std::string& path, AskedSet asked) { Format::takes(path, asked); };
template <class Format>
concept CanOpen = requires(const OpenRequest& request) { Format::open(request); };
template <class Format>
concept HasLayout = requires(const std::string& folder) { Format::lays_out(folder); };
template <class Format>
concept HasSets = requires(const std::string& folder) { Format::sets(folder); };
template <class Format>
concept LeavesOutFaults = requires(const std::string& folder, std::vector<std::string>& faults) {
  Format::sound_sets(folder, faults);
};
template <class Format>
concept HasIndex = requires(const std::string& folder) { Format::require_index(folder); };
template <class Format>
concept CanDraft = requires(const std::string& path) { Format::draft(path); };
/// Whose files are no training set by themselves: it says what is, in the words of `--data`.
template <class Format>
concept SaysSet = requires { Format::set_of_files; };
/// Whose files are no training set by themselves, but lie in the folder that is.
template <class Format>
concept SetIsFolderAbove = requires { requires Format::set_is_folder_above; };
template <class Format>
concept CanInspect = requires { &Format::inspect; };
template <class Format>
concept AsTensors = requires { requires Format::as_tensors; };
template <class Format>
concept CanConvert = requires { Format::converts_to; };
template <class Format>
concept CanSplit = requires { Format::splits_into; };

}  // namespace weyl
