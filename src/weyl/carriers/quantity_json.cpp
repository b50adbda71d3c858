#include "weyl/carriers/quantity_json.h"

namespace weyl {

Json quantities_json(const std::vector<Quantity>& quantities) {
  Json list = Json::array();
  for (const Quantity& q : quantities) {
    list.add(Json::object()
                 .set("name", q.name)
                 .set("level", level_names[static_cast<size_t>(q.level)])
                 .set("kind", kind_names[static_cast<size_t>(q.kind)])
                 .set("channels", q.channels)
                 .set("role", role_names[static_cast<size_t>(q.role)])
                 .set("extensive", q.extensive)
                 .set("unit", q.unit)
                 .set("categories", q.categories));
  }
  return list;
}

}  // namespace weyl
