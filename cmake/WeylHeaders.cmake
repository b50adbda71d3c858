# Installs headers, when `cmake --install` runs: those that examples/ and the code of the pages include, and what these
# include. What a program of one's own needs beyond them begins with an example of it. Wants `source`, the folder of
# the project, and `folder`, where headers go below the prefix.
cmake_minimum_required(VERSION 3.25)  # the policies of a script of its own
file(GLOB_RECURSE roots "${source}/examples/*.h" "${source}/examples/*.cpp" "${source}/docs/*.md")
list(APPEND roots "${source}/README.md")
set(headers "")
while(roots)
  list(POP_FRONT roots file)
  file(STRINGS "${file}" includes REGEX "^#include [<\"]weyl/.*[>\"]")
  foreach(line ${includes})
    string(REGEX REPLACE "^#include [<\"](weyl/[^>\"]*)[>\"].*" "\\1" header "${line}")
    if(NOT EXISTS "${source}/src/${header}")
      message(FATAL_ERROR "${file}: includes <${header}>, which does not exist")
    elseif(header MATCHES "^weyl/(kernels|app|makers)/")
      message(FATAL_ERROR "${file}: includes <${header}>, which is no header for users: kernels/, app/ and makers/ "
        "are not installed")
    endif()
    if(NOT header IN_LIST headers)
      list(APPEND headers "${header}")
      list(APPEND roots "${source}/src/${header}")
      get_filename_component(below "${header}" DIRECTORY)
      file(INSTALL "${source}/src/${header}" DESTINATION "${CMAKE_INSTALL_PREFIX}/${folder}/${below}")
    endif()
  endforeach()
endwhile()
