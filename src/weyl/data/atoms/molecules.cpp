#include "weyl/data/atoms/molecules.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "weyl/carriers/dataset.h"
#include "weyl/core/check.h"
#include "weyl/core/jobs.h"
#include "weyl/core/text_number.h"
#include "weyl/core/version.h"
#include "weyl/data/atoms/potential_keys.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/containers/text_lines.h"

namespace weyl {

namespace {

/// The frames of a path; the elements of a layout name the types of files that only number them.
std::unique_ptr<FrameReader> open_frames_of(const std::string& path,
                                            const std::vector<std::string>& elements) {
  auto reader = open_frames(path);
  reader->name_types(elements);
  return reader;
}

}  // namespace

namespace {

uint64_t bytes_of(const std::vector<std::string>& files) {
  uint64_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    bytes += error ? 0 : size;
  }
  return bytes;
}

}  // namespace

StreamedFrames::StreamedFrames(std::string path, Open open, const FrameLayout& layout,
                               FrameCollector::Labels labels, std::function<bool(const AtomsFrame&)> wanted,
                               const std::string& how)
    : path_(std::move(path)),
      open_(std::move(open)),
      config_type_(layout.config_type),
      wanted_(std::move(wanted)) {
  index_.states.resize(layout.states.size());
  const auto reader = open_();
  FrameCollector collector(layout, *reader, labels);
  try {
    const auto files = how.empty() ? std::vector<std::string>() : files_of_frames(path_);
    if (bytes_of(files) >= least_bytes_indexed) {
      state_ = state_of_contents(path_, files);
      how_ = how;
    }
  } catch (const DataError&) {  // then nothing is kept, and the reader says what is wrong if it is
  }
  const PreparedFile file = prepared("index");
  if (!take_index(file, layout, collector)) {
    PreparedFile::Turn turn(file);
    if (take_index(file, layout, collector)) {  // which another has made by now
      turn.kept();
    } else {
      const auto last = read_all(collector);
      schema_ = collector.schema();
      index_.common = collector.common();
      if (const std::string fault = file.keeps() ? write_index(file, index_) : ""; !fault.empty()) {
        notes_ = {text(path_, ": what is known of its ", size(),
                       " samples cannot be kept, and is read again each time: ", fault)};
      } else {
        turn.kept();
      }
    }
  }
  collector_ = std::move(collector);
}

PreparedFile StreamedFrames::prepared(const std::string& what) const {
  return how_.empty() ? PreparedFile()
                      : PreparedFile::beside(path_, how_ + what,
                                             text("frames ", reading_version, "; weyl ", version(), "\n",
                                                  how_, what, "\n", state_),
                                             state_);
}

/// Whether the index is there.
bool StreamedFrames::take_index(const PreparedFile& file, const FrameLayout& layout,
                                FrameCollector& collector) {
  std::string fault;
  if (const auto found = file.open(&fault)) {
    try {
      std::vector<int64_t> channels;
      for (const FrameState& state : layout.states) {
        channels.push_back(state.channels());
      }
      FrameIndex index = read_index(*found, channels);
      schema_ = collector.know(index.common);
      index_ = std::move(index);
      notes_.clear();
      return true;
    } catch (const DataError& error) {
      fault = error.what();
    }
  }
  notes_.clear();
  if (!fault.empty()) {
    notes_.push_back(fault + "; all samples are read again, and it is made anew");
  }
  return false;
}

/// Reads every frame, in parts that are put together in their order. Returns the last reading, which the collector names in
/// messages.
std::unique_ptr<StreamedFrames::Reading> StreamedFrames::read_all(FrameCollector& collector) {
  struct Part {
    FrameIndex index;
    std::unique_ptr<Reading> read;  // null: it is not known what its frames have in common
  };
  const std::vector<FramePlace> cuts = open_()->cuts();
  const auto count = std::ssize(cuts) + 1;
  std::vector<Part> parts(static_cast<size_t>(count));
  const auto read = [&](int64_t i) {
    Part& part = parts[static_cast<size_t>(i)];
    part.index = {};
    part.index.states.resize(index_.states.size());
    auto reading = begin(collector);
    if (i > 0) {
      reading->reader->go_to(cuts[static_cast<size_t>(i) - 1]);
    }
    add(*reading, part.index, i + 1 < count ? std::optional(cuts[static_cast<size_t>(i)]) : std::nullopt);
    part.read = std::move(reading);
  };
  if (count > 1) {
    std::atomic<bool> failed = false;
    run_samples(count, at::get_num_threads(), {}, [&](int64_t i, const std::atomic<bool>& /*stopped*/) {
      try {
        if (!failed) {
          read(i);
        }
      } catch (const std::exception&) {
        failed = true;  // and found again below, if it comes first
      }
    });
  }
  for (int64_t i = 0; i < count; ++i) {
    Part& part = parts[static_cast<size_t>(i)];
    if (part.read == nullptr || !collector.follow(part.read->collector)) {
      read(i);  // by a collector that knows the frames before
      collector = std::move(part.read->collector);
    }
    const auto before = size();
    index_.sizes.insert(index_.sizes.end(), part.index.sizes.begin(), part.index.sizes.end());
    index_.places.insert(index_.places.end(), part.index.places.begin(), part.index.places.end());
    for (size_t s = 0; s < index_.states.size(); ++s) {
      index_.states[s].insert(index_.states[s].end(), part.index.states[s].begin(),
                              part.index.states[s].end());
    }
    for (const int64_t sample : part.index.isolated) {
      index_.isolated.push_back(before + sample);
    }
    if (i + 1 < count) {
      part = {};
    }
  }
  collector.follow(*parts.back().read->reader);
  return std::move(parts.back().read);
}

/// A reading from the first frame on.
std::unique_ptr<StreamedFrames::Reading> StreamedFrames::begin(const FrameCollector& collector) const {
  auto reading = std::make_unique<Reading>(Reading{open_(), collector});
  reading->collector.follow(*reading->reader);
  return reading;
}

/// Reads up to a place.
void StreamedFrames::add(Reading& r, FrameIndex& to, const std::optional<FramePlace>& end) const {
  std::optional<FramePlace> place = r.reader->place();
  while (r.reader->next(r.frame)) {
    const std::optional<FramePlace> behind = place ? r.reader->place() : std::nullopt;
    if (end && behind && std::pair(behind->at, behind->beside) > std::pair(end->at, end->beside)) {
      return;  // it is of the next part
    }
    if (!wanted_ || wanted_(r.frame)) {
      r.collector.add(r.frame);
      if (is_isolated_atom(r.frame, config_type_)) {
        to.isolated.push_back(std::ssize(to.sizes));
      }
      to.sizes.push_back(static_cast<uint32_t>(r.frame.size()));
      if (place) {
        to.places.push_back(*place);
      }
      const std::vector<uint16_t> channels = r.collector.states_of_last();
      for (size_t i = 0; i < to.states.size(); ++i) {
        to.states[i].push_back(channels[i]);
      }
      r.collector.forget();
    }
    place = behind;
  }
}

/// Reads on to the next sample; false at the end.
bool StreamedFrames::next(Reading& r) const {
  while (r.reader->next(r.frame)) {
    if (!wanted_ || wanted_(r.frame)) {
      return true;
    }
  }
  return false;
}

/// Sees to it that the sample is one of those that `next` comes to.
void StreamedFrames::go_to(Reading& r, int64_t sample) const {
  if (r.at > sample && index_.places.empty()) {
    r.reader = open_();
    r.collector.follow(*r.reader);
    r.at = 0;
  }
  if (r.at != sample && !index_.places.empty()) {
    r.reader->go_to(index_.places[static_cast<size_t>(sample)]);
    r.at = sample;
  }
}

int64_t StreamedFrames::tokens(int64_t index) const {
  require(index >= 0 && index < size(), "data set: sample ", index, " is not one of 0 .. ", size() - 1);
  return index_.sizes[static_cast<size_t>(index)];
}

/// A reading that no thread uses, of a reader that can only go on the one that is nearest before `first`.
std::unique_ptr<StreamedFrames::Reading> StreamedFrames::lend(int64_t first) const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      const auto ahead = [&](const std::unique_ptr<Reading>& r) { return r->at > first ? -1 : r->at; };
      const auto best = index_.places.empty() ? std::ranges::max_element(idle_, {}, ahead) : idle_.end() - 1;
      std::unique_ptr<Reading> reading = std::move(*best);
      idle_.erase(best);
      return reading;
    }
  }
  return begin(*collector_);
}

Batch StreamedFrames::batch(std::span<const int64_t> indices) const {
  std::unique_ptr<Reading> reading = lend(indices.empty() ? 0 : indices.front());
  std::vector<Batch> parts;
  for (size_t begin = 0; begin < indices.size() || parts.empty();) {
    size_t end = index_.places.empty() ? std::min(begin + 1, indices.size()) : indices.size();
    while (end < indices.size() && indices[end] > indices[end - 1]) {
      ++end;
    }
    parts.push_back(one_by_one(*reading, indices.subspan(begin, end - begin)));
    begin = end;
  }
  Batch batch = parts.size() == 1 ? std::move(parts[0]) : concatenate(parts, schema_);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(reading));
  return batch;
}

/// After an error the reading is of no more use.
Batch StreamedFrames::one_by_one(Reading& r, std::span<const int64_t> indices) const {
  for (const int64_t index : indices) {
    const int64_t size = tokens(index);
    bool there = true;
    try {
      go_to(r, index);
      while (there && r.at <= index) {
        there = next(r);
        r.at += there ? 1 : 0;
      }
    } catch (const DataError&) {  // of what was read without one
      there = false;
    }
    require<DataError>(there && r.frame.size() == size, path_,
                       ": must not change while it is read, but sample ", index + 1,
                       " is another than it was");
    r.collector.add(r.frame);
  }
  return r.collector.take_batch(schema_);
}

void keep_for_training(std::vector<std::vector<int64_t>>& parts, const std::vector<int64_t>& isolated) {
  const auto alone = [&](int64_t sample) { return std::ranges::binary_search(isolated, sample); };
  std::vector<int64_t>& train = parts[0];
  int64_t others = std::ranges::count_if(train, [&](int64_t sample) { return !alone(sample); });
  auto last = train.rbegin();
  for (size_t part = 1; part < parts.size(); ++part) {
    for (int64_t& sample : parts[part]) {
      if (!alone(sample) || 2 * (others - 1) < static_cast<int64_t>(train.size())) {
        continue;
      }
      last = std::find_if_not(last, train.rend(), alone);
      std::swap(*last, sample);
      --others;
    }
  }
}

namespace {

namespace fs = std::filesystem;

void require_there(const std::string& path) {
  require<DataError>(fs::exists(path), path, ": there is no such file or folder");
}

/// The frames of a file, and the channels that they have of each state of their layout, one for each frame.
struct HeldFrames {
  std::shared_ptr<const Dataset> data;
  std::vector<std::vector<uint16_t>> channels;
  std::vector<FrameState> states;
  std::vector<int64_t> isolated;  // the samples that are isolated atoms, ascending
};

/// All frames but those that `leave_out` names by their value `index`.
HeldFrames read_all(const std::string& path, const FrameLayout& layout, FrameCollector::Labels labels,
                    Keep keep, const std::set<int64_t>& leave_out = {}, const std::string& how = "") {
  std::function<bool(const AtomsFrame&)> wanted;
  if (!leave_out.empty()) {
    wanted = [leave_out](const AtomsFrame& frame) {
      const FrameValue* index = frame.value("index");
      const auto numbers = index != nullptr ? reals_of(index->values) : std::nullopt;
      return !(numbers && numbers->size() == 1 && leave_out.contains(static_cast<int64_t>(numbers->front())));
    };
  }
  if (keep == Keep::on_disk) {
    auto streamed = std::make_shared<StreamedFrames>(
        path, [path, elements = layout.elements] { return open_frames_of(path, elements); }, layout, labels,
        wanted, how);
    auto channels = streamed->take_states();
    auto isolated = streamed->isolated();
    return {std::move(streamed), std::move(channels), layout.states, std::move(isolated)};
  }
  const auto reader = open_frames_of(path, layout.elements);
  FrameCollector collector(layout, *reader, labels);
  std::vector<std::vector<uint16_t>> channels(layout.states.size());
  std::vector<int64_t> isolated;
  AtomsFrame frame;
  while (reader->next(frame)) {
    if (!wanted || wanted(frame)) {
      if (is_isolated_atom(frame, layout.config_type)) {
        isolated.push_back(collector.size());
      }
      collector.add(frame);
      const std::vector<uint16_t> of_frame = collector.states_of_last();
      for (size_t i = 0; i < channels.size(); ++i) {
        channels[i].push_back(of_frame[i]);
      }
    }
  }
  auto [batch, schema] = collector.take();
  return {std::make_shared<InMemory>(std::move(batch), std::move(schema)), std::move(channels), layout.states,
          std::move(isolated)};
}

/// The values of a state that some samples have, ascending.
std::vector<std::string> state_values(const FrameState& state, const std::vector<uint16_t>& channels,
                                      const std::vector<int64_t>& samples) {
  std::vector<bool> there(static_cast<size_t>(state.channels()), false);
  for (const int64_t s : samples) {
    there[channels[static_cast<size_t>(s)]] = true;
  }
  std::vector<std::string> values;
  for (int64_t channel = 0; channel < state.channels(); ++channel) {
    if (there[static_cast<size_t>(channel)]) {
      values.push_back(std::to_string(state.least + channel));
    }
  }
  return values;
}

/// The lowest energy of the isolated atoms of each type among some samples, ascending: that of the ground state, beside
/// which ions and other states may stand.
std::map<int64_t, double> atom_energies(const HeldFrames& all, const std::vector<int64_t>& samples) {
  std::vector<int64_t> alone;
  std::ranges::set_intersection(samples, all.isolated, std::back_inserter(alone));
  if (alone.empty() || find_quantity(all.data->schema().labels, "energy") == nullptr) {
    return {};
  }
  const Batch batch = all.data->batch(alone);
  const Tensor &types = std::get<Points>(batch.input).types, &energies = batch.labels.at("energy");
  std::map<int64_t, double> lowest;
  for (int64_t i = 0; i < batch.count(); ++i) {
    const auto type = types.const_data_ptr<int64_t>()[i];
    const double energy = energies.const_data_ptr<double>()[i];
    if (!std::isnan(energy)) {
      double& least = lowest.try_emplace(type, energy).first->second;
      least = std::min(least, energy);
    }
  }
  return lowest;
}

/// Some samples of a set, with their mean number of atoms, the values of states and the isolated atoms that they have; null for none.
std::shared_ptr<const Dataset> part(const HeldFrames& all, std::vector<int64_t> samples,
                                    double typical_nodes = 0) {
  if (samples.empty()) {
    return nullptr;
  }
  Schema schema = all.data->schema();
  double nodes = 0;
  for (const int64_t s : samples) {
    nodes += static_cast<double>(all.data->tokens(s));
  }
  for (size_t i = 0; i < all.states.size(); ++i) {
    schema.category_names[all.states[i].key] = state_values(all.states[i], all.channels[i], samples);
  }
  schema.atom_energies = atom_energies(all, samples);
  schema.interface.typical_nodes =
      typical_nodes > 0 ? typical_nodes : nodes / static_cast<double>(samples.size());
  return std::make_shared<Subset>(all.data, std::move(samples), std::move(schema));
}

/// The samples of each part, in ascending order.
template <class Options>
std::vector<std::vector<int64_t>> drawn(int64_t size, const std::vector<int64_t>& counts, const Options& o,
                                        const std::vector<int64_t>& isolated) {
  SplitOrder order = SplitOrder::weyl;
  if constexpr (requires { o.order; }) {
    order = o.order;
  }
  std::vector<int64_t> all = counts;
  all.push_back(size - std::accumulate(counts.begin(), counts.end(), int64_t{0}));  // what no part takes
  auto parts = order == SplitOrder::file    ? parts_in_order(size, all)
               : order == SplitOrder::numpy ? draw_parts_by_numpy(size, all, o.seed)
                                            : draw_parts(size, all, o.seed, "split");
  if (order != SplitOrder::file && !isolated.empty()) {
    keep_for_training(parts, isolated);
  }
  parts.resize(counts.size());
  for (auto& samples : parts) {
    std::ranges::sort(samples);
  }
  return parts;
}

template <class Options>
Splits split(const HeldFrames& all, const Options& o, const std::string& option) {
  const int64_t size = all.data->size();
  PartCounts counts{o.train, o.valid, o.test};
  if (o.train == 0 && o.valid == 0 && o.test == 0) {
    counts = part_counts(size, o.fractions, counts, option);
  } else {
    const int64_t rest = size - o.train - o.valid;
    counts.test = o.test > 0 ? o.test : rest;
    require<DataError>(rest >= o.test, option, ".train, valid and test must add up to at most ", size,
                       ", the frames there are, got ", o.train, ", ", o.valid, " and ", o.test);
  }
  auto parts = drawn(size, {counts.train, counts.valid, counts.test}, o, all.isolated);
  Splits splits;
  splits.train = part(all, std::move(parts[0]));
  const double typical = splits.train ? splits.train->schema().interface.typical_nodes : 0;
  splits.valid = part(all, std::move(parts[1]), typical);
  splits.test = part(all, std::move(parts[2]), typical);
  return splits;
}

}  // namespace

std::string frames_of_split(const std::string& folder, const std::string& split) {
  std::string found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if ((name == split || name.starts_with(split + ".")) && holds_frames(entry.path().string())) {
      require<DataError>(found.empty(), folder, ": must hold one file ", split, ".*, got ", found, " and ",
                         entry.path().string());
      found = entry.path().string();
    }
  }
  return found;
}

namespace {

/// What QM9's authors list as not to be trusted: lines that begin with the index of a molecule, alone or with
/// its names; two words are a title or a sum ("3054 compounds").
std::set<int64_t> indices_in(const std::string& path) {
  std::set<int64_t> found;
  for (TextLines lines(open_bytes(path), path); lines.next();) {
    std::string_view line = lines.line();
    const std::string_view first = take_word(line);
    const bool title = !take_word(line).empty() && take_word(line).empty();
    const bool number = !first.empty() && first.size() < 10 &&
                        std::ranges::all_of(first, [](char c) { return c >= '0' && c <= '9'; });
    if (number && !title) {
      found.insert(parse_integer(first).value());
    }
  }
  require<DataError>(!found.empty(), path, ": must list molecules, a line each that begins with an index");
  return found;
}

/// ConfigError: what the options say of labels that the training frames do not have. A set without training frames
/// may well lack labels that others have.
void require_effect(const MoleculesDataOptions& o, const Splits& splits) {
  if (splits.train == nullptr) {
    return;
  }
  const auto has = [&](const char* label) {
    return find_quantity(splits.train->schema().labels, label) != nullptr;
  };
  for (const auto& [option, given, label] :
       {std::tuple{"force_unit", !o.force_unit.empty(), "forces"},
        {"force_sign", o.force_sign != ForceSign::force, "forces"},
        {"stress_unit", !o.stress_unit.empty(), "stress"},
        {"stress_sign", o.stress_sign != StressSign::tension, "stress"},
        {"stress_order", o.stress_order != StressOrder::voigt, "stress"}}) {
    require<ConfigError>(
        !given || has(label), "data.molecules.", option, ": has no effect, the frames give no label '", label,
        "'", also_in_files(splits.train->schema(), "; they also have "), "; leave the option out");
  }
}

/// ConfigError: frames that the options want to stay on disk can only be read from the beginning, which each batch in
/// another order would do.
Keep keep_of(const MoleculesDataOptions& o, Keep keep, const std::string& path) {
  require<ConfigError>(
      !o.stream || open_frames(path)->place(), "data.molecules.stream: must be false for ", path,
      ", whose frames are only read one after the other; those of texts that are not packed, and of .aselmdb, are in any order");
  return o.stream ? Keep::on_disk : keep;
}

}  // namespace

std::string frames_path(const std::string& path) {
  for (const char* split : {"test", "valid", "train"}) {
    const std::string file = fs::is_directory(path) ? frames_of_split(path, split) : "";
    if (!file.empty()) {
      return file;
    }
  }
  return path;
}

void name_stress(MoleculesDataOptions& options, const std::string& key) {
  if (is_virial_key(key) != is_virial_key(options.stress)) {
    options.stress_unit.clear();
    options.stress_sign = StressSign::tension;
  }
  options.stress = key;
}

void take_virial_of(const std::string& path, MoleculesDataOptions& options) {
  const bool usual = options.stress.empty() && options.stress_unit.empty() &&
                     options.stress_sign == StressSign::tension && options.stress_order == StressOrder::voigt;
  if (usual || is_virial_key(options.stress) || !fs::exists(path) || !holds_frames(path)) {
    return;
  }
  constexpr int64_t most =
      1000;  // frames without either, such as isolated atoms, before nothing is to be expected
  const auto reader = open_frames_of(frames_path(path), options.elements);
  AtomsFrame frame;
  for (int64_t i = 0; i < most && reader->next(frame); ++i) {
    if (!frame.cell || frame.pbc != std::array{true, true, true}) {
      continue;  // without a volume there is no stress
    }
    bool stress = frame.value(options.stress) != nullptr;
    std::vector<std::string> virials;
    for (const std::string_view key : stress_keys) {
      if (frame.value(key) != nullptr) {
        stress = stress || !is_virial_key(key);
        virials.emplace_back(key);
      }
    }
    if (!stress && virials.size() == 1) {
      name_stress(options, virials[0]);
    }
    if (!virials.empty() || stress) {
      return;
    }
  }
}

std::shared_ptr<const Dataset> open_frames_file(const std::string& path, const FrameLayout& layout,
                                                FrameCollector::Labels labels, Keep keep) {
  return read_all(frames_path(path), layout, labels, keep).data;
}

Schema declared_schema(const MoleculesDataOptions& options) {
  return frames_schema(layout_of(options));
}

Schema declared_schema(const Md17DataOptions& options) {
  return frames_schema(layout_of(options));
}

Schema declared_schema(const Qm9DataOptions& options) {
  return frames_schema(layout_of(options));
}

Splits open_set(const MoleculesDataOptions& options, Keep keep) {
  require_there(options.path);
  const FrameLayout layout = layout_of(options);
  constexpr auto needed = FrameCollector::Labels::needed;
  const std::string how = options.stream ? how_read(options) : "";
  bool in_files = false;
  for (const char* name : {"train", "valid", "test"}) {
    in_files = in_files || (fs::is_directory(options.path) && !frames_of_split(options.path, name).empty());
  }
  require<ConfigError>(!in_files || options.order == SplitOrder::weyl, layout.option,
                       ".order: has no effect, ", options.path,
                       " has a file for each split; leave the option out");
  Splits splits;
  if (!in_files) {
    const Keep where = keep_of(options, keep, options.path);
    splits = split(read_all(options.path, layout, needed, where, {}, how), options, layout.option);
    require_effect(options, splits);
    return splits;
  }
  double typical = 0;
  const auto open = [&](const char* name, int64_t asked) -> std::shared_ptr<const Dataset> {
    const std::string file = frames_of_split(options.path, name);
    if (file.empty()) {
      return nullptr;
    }
    const HeldFrames all = read_all(file, layout, needed, keep_of(options, keep, file), {}, how);
    const int64_t size = all.data->size();
    require<DataError>(asked <= size, file, ": ", layout.option, ".", name, " must be at most ", size,
                       ", the frames there are (0: all), got ", asked);
    std::vector<int64_t> first(static_cast<size_t>(asked > 0 ? asked : size));
    std::iota(first.begin(), first.end(), 0);
    return part(all, std::move(first), typical);
  };
  splits.train = open("train", options.train);
  typical = splits.train ? splits.train->schema().interface.typical_nodes : 0;
  splits.valid = open("valid", options.valid);
  splits.test = open("test", options.test);
  require_effect(options, splits);
  return splits;
}

Splits open_set(const Md17DataOptions& options, Keep keep) {
  require_there(options.path);
  const FrameLayout layout = layout_of(options);
  return split(read_all(options.path, layout, FrameCollector::Labels::needed, keep), options, layout.option);
}

Splits open_set(const Qm9DataOptions& options, Keep keep) {
  require_there(options.path);
  const FrameLayout layout = layout_of(options);
  const fs::path folder =
      fs::is_directory(options.path) ? fs::path(options.path) : fs::path(options.path).parent_path();
  const std::string listed = (folder / "uncharacterized.txt").string();
  std::set<int64_t> leave_out;
  if (!options.exclude.empty() || fs::exists(listed)) {
    leave_out = indices_in(options.exclude.empty() ? listed : options.exclude);
  }
  return split(read_all(options.path, layout, FrameCollector::Labels::needed, keep, leave_out), options,
               layout.option);
}

}  // namespace weyl
