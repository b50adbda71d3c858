# The recipes that `weyl config new` drafts configs from, as a source file: weyl_recipes(OUTPUT). The program needs no
# installed file to draft one.
set(WEYL_RECIPES
  completion/aff2 completion/aff3 completion/se2 completion/se3 completion/so2 completion/so3
  glyphs/cnn glyphs/platonic glyphs/steerable-transformer glyphs/transformer lesions/steerable-transformer lesions/unet
  md/et md/gatr md/platonic md/transformer nbody/gatr nbody/geomformer nbody/platonic nbody/transformer
  parts/gatr parts/platonic parts/transformer phantoms/steerable-transformer phantoms/unet rigid/gatr rigid/transformer
  solids/cnn solids/gatr solids/platonic solids/steerable-transformer solids/transformer)

function(weyl_recipes output)
  set(rows "")
  foreach(recipe ${WEYL_RECIPES})
    set(file "${PROJECT_SOURCE_DIR}/configs/${recipe}.toml")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    string(APPEND rows "    {\"${recipe}.toml\", R\"toml(${text})toml\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT "// Made from configs/ by cmake/WeylRecipes.cmake.
#include \"weyl/app/verbs/new_config.h\"

namespace weyl {

std::string_view shipped_recipe(std::string_view path) {
  static constexpr std::pair<std::string_view, std::string_view> recipes[] = {
${rows}  };
  for (const auto& [name, text] : recipes) {
    if (name == path) {
      return text;
    }
  }
  return {};
}

}  // namespace weyl
")
endfunction()
