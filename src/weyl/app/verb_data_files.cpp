#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/verbs.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/data/files/convert.h"
#include "weyl/data/files/doubts.h"
#include "weyl/data/files/split.h"

namespace weyl {

int run(const DataConvertCommand& command) {
  const Converted converted = convert(command.in, command.out, command.options);
  if (!converted.left_out.empty()) {
    std::string names;
    for (const std::string& name : converted.left_out) {
      names += (names.empty() ? "" : ", ") + printable(name);
    }
    warn(command.out + " leaves out " + names);
  }
  Json list = Json::array();
  for (const std::string& file : converted.files) {
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
  Json warnings = Json::array();
  for (const std::string& line : doubts_about_parts(command.out, parts)) {
    warn(line);
    warnings.add(line);
  }
  const auto count = [](const std::vector<int64_t>& part) { return static_cast<int64_t>(part.size()); };
  if (command.talk.json) {
    std::cout << Json::object()
                     .set("out", command.out)
                     .set("train", count(parts.train))
                     .set("valid", count(parts.valid))
                     .set("test", count(parts.test))
                     .set("warnings", warnings)
                     .dump()
              << "\n";
  } else {
    std::cout << command.out << ": " << count(parts.train) << " train, " << count(parts.valid) << " valid, "
              << count(parts.test) << " test\n";
  }
  return exit_done;
}

}  // namespace weyl
