/* Loads a model that is not there, and is told so in a line. */
#include <stdio.h>
#include <string.h>
#include <weyl.h>

int main(void) {
  const char *path = "no/such/model.safetensors";
  weyl_model *model = NULL;
  const weyl_status status = weyl_load(&path, 1, NULL, 1, &model);
  const weyl_results results = {.energy = NULL};
  const weyl_atoms atoms = {.count = 0};
  printf("%s; %d: %s\n", weyl_version(), (int)status, weyl_last_error());
  return weyl_api_version() == WEYL_API_VERSION && status == WEYL_DATA && model == NULL &&
                 strstr(weyl_last_error(), path) != NULL && weyl_compute(model, &atoms, &results) == WEYL_USAGE
             ? 0
             : 1;
}
