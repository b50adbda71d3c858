#include "weyl/app/terminal/report_torch.h"

#include <c10/util/Exception.h>
#include <new>
#include <string>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/core/check.h"

namespace weyl {

int report_torch(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  if (torch == nullptr) {
    return report(error);
  }
  const std::string message = torch->what_without_backtrace();
  for (const char* lack : {"can't allocate memory", "out of memory"}) {
    if (message.find(lack) != std::string::npos) {
      return report(std::bad_alloc());
    }
  }
  return report(Error(message));
}

}  // namespace weyl
