# Where programs and libraries look for others (RUNPATH): absolute folders, or folders relative to their own ($ORIGIN).
# An empty or another relative entry would be the folder in which a user stands.
#
# LibTorch is not installed with weyl. The installed libraries that need it look for it beside themselves, in PREFIX/lib and in
# these folders, which are absolute or begin with $ORIGIN, their own folder.
set(WEYL_TORCH_RUNPATH "" CACHE STRING "where the installed library finds LibTorch, besides PREFIX/lib: folders, absolute or below $ORIGIN")
string(REPLACE ":" ";" weyl_torch_runpath "${WEYL_TORCH_RUNPATH}")
foreach(folder IN LISTS weyl_torch_runpath)
  if(NOT folder MATCHES "^(/|[$]ORIGIN(/|$))[^$]*$")
    message(FATAL_ERROR "WEYL_TORCH_RUNPATH: must be folders, absolute or below $ORIGIN, has '${folder}'")
  endif()
endforeach()

# The folder `to` (of the install tree) as a program or library in the folder `from` names it in its RUNPATH.
function(weyl_runpath_entry result from to)
  if(IS_ABSOLUTE "${from}" OR IS_ABSOLUTE "${to}")
    cmake_path(ABSOLUTE_PATH to BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
  else()
    cmake_path(ABSOLUTE_PATH from BASE_DIRECTORY "/prefix" NORMALIZE)
    cmake_path(ABSOLUTE_PATH to BASE_DIRECTORY "/prefix" NORMALIZE)
    file(RELATIVE_PATH to "${from}" "${to}")
    string(PREPEND to "$ORIGIN/")
  endif()
  string(REGEX REPLACE "/$" "" to "${to}")
  set(${result} "${to}" PARENT_SCOPE)
endfunction()

# Where a program looks for weyl's libraries: in the build tree, and installed.
function(weyl_program_folders result)
  weyl_runpath_entry(installed "${CMAKE_INSTALL_BINDIR}" "${CMAKE_INSTALL_LIBDIR}")
  set(folders "$ORIGIN/../lib" "${installed}")
  list(REMOVE_DUPLICATES folders)
  set(${result} "${folders}" PARENT_SCOPE)
endfunction()

# weyl_install_runpath(target PROGRAM|LIBRARY) for each target that is installed, before its install(). The build tree's
# RUNPATH is the installed one: where the two differ, CMake ends the build tree's with ':' signs, to have room for
# rewriting it, and each is an empty entry.
function(weyl_install_runpath target kind)
  if(kind STREQUAL "PROGRAM")
    weyl_program_folders(entries)
  else()
    set(entries "$ORIGIN")
    # And the folders of other libraries that are not the system's own, HDF5's for one.
    set_property(TARGET ${target} PROPERTY INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${entries}" BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# The same for a library that needs LibTorch, after its install(): in the build tree where this build found
# it, installed where WEYL_TORCH_RUNPATH says. So the installed file is rewritten, as CMake itself does it.
function(weyl_install_torch_runpath target)
  weyl_runpath_entry(lib "${CMAKE_INSTALL_LIBDIR}" "lib")
  set(installed "$ORIGIN" "${lib}" ${weyl_torch_runpath})
  list(REMOVE_DUPLICATES installed)
  set(torch "${WEYL_TORCH}")
  if(NOT torch)
    set(torch "${TORCH_INSTALL_PREFIX}")  # as its package says
  endif()
  set(build "$ORIGIN" "${torch}/lib" ${WEYL_TORCH_COMPANIONS} ${installed})
  list(REMOVE_DUPLICATES build)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${build}" BUILD_WITH_INSTALL_RPATH ON)
  list(JOIN build ":" build)
  list(JOIN installed ":" installed)
  set(folder "${CMAKE_INSTALL_LIBDIR}")
  if(NOT IS_ABSOLUTE "${folder}")
    string(PREPEND folder "\${CMAKE_INSTALL_PREFIX}/")
  endif()
  install(CODE "file(RPATH_CHANGE FILE \"\$ENV{DESTDIR}${folder}/$<TARGET_FILE_NAME:${target}>\"
  OLD_RPATH [=[${build}]=] NEW_RPATH [=[${installed}]=])")
endfunction()
