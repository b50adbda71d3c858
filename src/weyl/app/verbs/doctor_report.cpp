#include "weyl/app/verbs/doctor_report.h"

#include <iostream>

#include "weyl/app/draw/gnuplot.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/module.h"
#include "weyl/core/version.h"
#include "weyl/makers/makers.h"

namespace weyl {
namespace {

/// What keeps weyl's own modules from being opened, those that every build has.
std::vector<std::string> faults_of_modules() {
  std::vector<std::string> faults;
  for (const auto& [what, file] : {std::pair{"HDF5 files need ", WEYL_HDF5_MODULE},
                                   {"zip and tar archives need ", WEYL_ARCHIVES_MODULE},
                                   {"data make needs ", WEYL_MAKERS_LIBRARY}}) {
    const OpenedModule opened(file);
    if (!opened.fault().empty()) {
      faults.push_back(text(what, file, ", ", opened.fault()));
    }
  }
  return faults;
}

MakersLibraries libraries_that_are_there() {
  try {
    return makers_libraries();
  } catch (const ConfigError&) {
    return {};  // one of the problems
  }
}

}  // namespace

Json optional_programs() {
  const MakersLibraries libraries = libraries_that_are_there();
  const auto or_null = [](const std::string& version) { return version.empty() ? Json() : Json(version); };
  return Json::object()
      .set("bullet", or_null(libraries.bullet))
      .set("gnuplot", or_null(gnuplot_version()))
      .set("rdkit", or_null(libraries.rdkit))
      .set("xtb", or_null(libraries.xtb));
}

int print(DoctorReport report, bool json) {
  for (const std::string& fault : faults_of_modules()) {
    report.problems.push_back(fault);
  }
  const Json optional = optional_programs();
  const bool ok = report.problems.empty();
  const auto or_null = [](const std::string& s) { return s.empty() ? Json() : Json(s); };
  if (json) {
    Json devices = Json::array(), problems = Json::array();
    for (const std::string& device : report.devices) {
      devices.add(device);
    }
    for (const std::string& problem : report.problems) {
      problems.add(problem);
    }
    std::cout << Json::object()
                     .set("ok", ok)
                     .set("weyl", version())
                     .set("torch", or_null(report.torch))
                     .set("blas", or_null(report.blas))
                     .set("threads", report.threads)
                     .set("devices", devices)
                     .set("optional", optional)
                     .set("problems", problems)
                     .dump()
              << "\n";
    return ok ? exit_done : exit_failed;
  }
  std::cout << "weyl      " << version() << "\n";
  std::cout << "torch     " << (report.torch.empty() ? "none" : report.torch) << "\n";
  std::cout << "blas      " << (report.blas.empty() ? "none" : report.blas) << "\n";
  for (const std::string& device : report.devices) {
    std::cout << "device    " << device << "\n";
  }
  for (const auto& [name, found] : optional.members()) {
    std::cout << name << std::string(name.size() < 10 ? 10 - name.size() : 1, ' ')
              << found.string_or("none (optional)") << "\n";
  }
  for (const std::string& problem : report.problems) {
    std::cout << "problem   " << problem << "\n";
  }
  std::cout << (ok ? "all is well\n" : "something is wrong\n");
  return ok ? exit_done : exit_failed;
}

int run_without_engine(const DoctorCommand& command, const std::string& reason) {
  DoctorReport report;
  report.problems.push_back(reason);
  return print(report, command.output.json);
}

}  // namespace weyl
