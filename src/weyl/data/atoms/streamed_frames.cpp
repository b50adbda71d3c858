#include "weyl/data/atoms/streamed_frames.h"

#include <algorithm>

#include "weyl/core/check.h"

namespace weyl {

StreamedFrames::StreamedFrames(std::string path, const FrameLayout& layout, FrameCollector::Labels labels,
                               std::function<bool(const AtomsFrame&)> wanted)
    : path_(std::move(path)),
      wanted_(std::move(wanted)),
      states_(layout.states.size()),
      reader_(open_frames(path_)),
      collector_(layout, *reader_, labels) {
  for (int64_t frame = 0; reader_->next(frame_); ++frame) {
    if (wanted_ && !wanted_(frame_)) {
      continue;
    }
    collector_.add(frame_);
    sizes_.push_back(frame_.size());
    const std::vector<uint16_t> channels = collector_.states_of_last();
    for (size_t i = 0; i < states_.size(); ++i) {
      states_[i].push_back(channels[i]);
    }
    if (wanted_) {
      frames_.push_back(frame);
    }
    collector_.forget();
  }
  schema_ = collector_.schema();
  reader_.reset();
}

/// Reads on to the next sample; false at the end.
bool StreamedFrames::next() const {
  while (reader_->next(frame_)) {
    if (!wanted_ || wanted_(frame_)) {
      return true;
    }
  }
  return false;
}

/// Sees to it that the sample is one of those that `next` comes to.
void StreamedFrames::go_to(int64_t sample) const {
  if (reader_ == nullptr || (at_ > sample && !reader_->count())) {
    reader_ = open_frames(path_);
    collector_.follow(*reader_);
    at_ = 0;
  }
  if (at_ != sample && reader_->count()) {
    reader_->go_to(frames_.empty() ? sample : frames_[static_cast<size_t>(sample)]);
    at_ = sample;
  }
}

int64_t StreamedFrames::tokens(int64_t index) const {
  require(index >= 0 && index < size(), "data set: sample ", index, " is not one of 0 .. ", size() - 1);
  return sizes_[static_cast<size_t>(index)];
}

Batch StreamedFrames::batch(std::span<const int64_t> indices) const {
  const std::lock_guard lock(mutex_);
  std::vector<Batch> parts;
  for (size_t begin = 0; begin < indices.size() || parts.empty();) {
    size_t end = std::min(begin + 1, indices.size());
    while (end < indices.size() && indices[end] > indices[end - 1]) {
      ++end;
    }
    parts.push_back(ascending(indices.subspan(begin, end - begin)));
    begin = end;
  }
  return parts.size() == 1 ? std::move(parts[0]) : concatenate(parts, schema_);
}

Batch StreamedFrames::ascending(std::span<const int64_t> indices) const {
  collector_.forget();  // what an error left
  for (const int64_t index : indices) {
    const int64_t size = tokens(index);
    go_to(index);
    bool there = true;
    while (there && at_ <= index) {
      there = next();
      at_ += there ? 1 : 0;
    }
    if (!there || frame_.size() != size) {
      reader_.reset();
      throw DataError(text(path_, ": must not change while it is read, but sample ", index + 1,
                           " is another than it was"));
    }
    collector_.add(frame_);
  }
  return collector_.take_batch(schema_);
}

}  // namespace weyl
