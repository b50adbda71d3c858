#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/verbs.h"
#include "weyl/config/toml.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/data/atoms/convert_frames.h"
#include "weyl/data/files/convert.h"
#include "weyl/data/files/split.h"

namespace weyl {

int run(const DataConvertCommand& command) {
  std::vector<std::string> files;
  if (converts_frames(command.in, command.out)) {
    FrameConvertOptions frames;
    read_toml_text("", "weyl data convert", command.options, [&](Fields& f) { fields(f, frames); });
    std::string dropped;
    for (const std::string& name : convert_frames(command.in, command.out, frames)) {
      dropped += (dropped.empty() ? "" : ", ") + printable(name);
    }
    if (!dropped.empty()) {
      warn(command.out + " leaves out " + dropped);
    }
    files = {command.out};
  } else {
    std::optional<PoseFileOptions> poses;
    if (!command.options.empty()) {
      poses.emplace();
      read_toml_text("", "weyl data convert", command.options, [&](Fields& f) { fields(f, *poses); });
    }
    files = convert(command.in, command.out, poses);
  }
  Json list = Json::array();
  for (const std::string& file : files) {
    list.add(file);
    if (!command.talk.json) {
      std::cout << file << "\n";
    }
  }
  if (command.talk.json) {
    std::cout << Json::object().set("files", list).dump() << "\n";
  }
  return exit_done;
}

int run(const DataSplitCommand& command) {
  const SplitIndices parts =
      split_file(command.path, command.out, {command.train, command.valid, command.seed});
  const auto count = [](const std::vector<int64_t>& part) { return static_cast<int64_t>(part.size()); };
  if (command.talk.json) {
    std::cout << Json::object()
                     .set("out", command.out)
                     .set("train", count(parts.train))
                     .set("valid", count(parts.valid))
                     .set("test", count(parts.test))
                     .dump()
              << "\n";
  } else {
    std::cout << command.out << ": " << count(parts.train) << " train, " << count(parts.valid) << " valid, "
              << count(parts.test) << " test\n";
  }
  return exit_done;
}

}  // namespace weyl
