include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weyl")

install(TARGETS weyl_base EXPORT weyl-targets)
install(TARGETS weyl-front)
if(TARGET weyl_rdkit)
  install(TARGETS weyl_rdkit LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(NOT WEYL_BASE_ONLY)
  install(TARGETS weyl EXPORT weyl-targets)
  install(TARGETS weyl-engine)
endif()
install(DIRECTORY src/weyl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT weyl-targets NAMESPACE weyl:: DESTINATION ${package_dir})
configure_package_config_file(cmake/weyl-config.cmake.in "${CMAKE_BINARY_DIR}/weyl-config.cmake"
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/weyl-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/weyl-config.cmake" "${CMAKE_BINARY_DIR}/weyl-config-version.cmake"
  cmake/WeylTorch.cmake DESTINATION ${package_dir})
