# The headers that are installed: those that examples/ and the code of the pages include, and what these include. What
# a program of one's own needs beyond them begins with an example of it.

# weyl_public_headers(result): paths below src/, such as weyl/train/train.h.
function(weyl_public_headers result)
  file(GLOB_RECURSE roots CONFIGURE_DEPENDS examples/*.h examples/*.cpp docs/*.md)
  list(APPEND roots README.md)
  set(seen "")
  while(roots)
    list(POP_FRONT roots file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(STRINGS "${file}" includes REGEX "^#include [<\"]weyl/.*[>\"]")
    foreach(line ${includes})
      string(REGEX REPLACE "^#include [<\"](weyl/[^>\"]*)[>\"].*" "\\1" header "${line}")
      if(NOT EXISTS "${PROJECT_SOURCE_DIR}/src/${header}")
        message(FATAL_ERROR "${file}: includes <${header}>, which does not exist")
      elseif(header MATCHES "^weyl/(kernels|app|data/makers)/")
        message(FATAL_ERROR "${file}: includes <${header}>, which is no header for users: kernels/, app/ and data/makers/ "
          "are not installed")
      endif()
      if(NOT header IN_LIST seen)
        list(APPEND seen "${header}")
        list(APPEND roots "${PROJECT_SOURCE_DIR}/src/${header}")
      endif()
    endforeach()
  endwhile()
  set(${result} "${seen}" PARENT_SCOPE)
endfunction()
