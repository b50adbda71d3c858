#include "weyl/app/doctor_report.h"

#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/gnuplot_process.h"
#include "weyl/app/verbs.h"
#include "weyl/core/version.h"
#include "weyl/data/makers/rigid_world.h"
#include "weyl/data/makers/smiles.h"
#include "weyl/data/makers/xtb.h"

namespace weyl {

Json optional_programs() {
  const auto or_null = [](const std::string& version) { return version.empty() ? Json() : Json(version); };
  return Json::object()
      .set("bullet", or_null(bullet_version()))
      .set("gnuplot", or_null(gnuplot_version()))
      .set("rdkit", or_null(rdkit_version()))
      .set("xtb", or_null(xtb_version()));
}

int print(const DoctorReport& report, bool json) {
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
  return print(report, command.talk.json);
}

}  // namespace weyl
