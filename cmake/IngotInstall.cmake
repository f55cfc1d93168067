# What `cmake --install`, `find_package(ingot)` (from an installation or from the build folder: -Dingot_DIR=BUILD) and
# cpack give: the compiler, the support library with its headers, and ingot_add_model.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ingot)
set(exported ingot_rt ingot_threads)
if(TARGET ingot_image)
  list(APPEND exported ingot_image)
endif()
if(TARGET ingot)
  list(APPEND exported ingot)
  add_executable(ingot::ingot ALIAS ingot)
  if(NOT INGOT_STATIC_LLVM)
    # libMLIR lies outside of the linker's default path.
    set_target_properties(ingot PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
  include(IngotModel) # for our own examples and tests
  install(TARGETS ingot-runner DESTINATION ${CMAKE_INSTALL_LIBDIR})
  get_property(files GLOBAL PROPERTY INGOT_CROSS_FILES)
  foreach(file IN LISTS files)
    file(RELATIVE_PATH place ${PROJECT_BINARY_DIR}/lib ${file})
    get_filename_component(triple ${place} DIRECTORY)
    set(kind FILES)
    if(file MATCHES "/ingot-runner$")
      set(kind PROGRAMS)
    endif()
    install(${kind} ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/${triple} COMPONENT cross)
  endforeach()
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/compiler/tools/ingot-record ${PROJECT_SOURCE_DIR}/compiler/tools/ingot-reduce
          DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# What a target in a shared object is built with (docs/first-target.md). Their paths are those of our own sources, so that a target may be moved.
add_library(ingot_plugin INTERFACE)
target_include_directories(ingot_plugin INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ingot>)
target_compile_features(ingot_plugin INTERFACE cxx_std_17)
set_target_properties(ingot_plugin PROPERTIES EXPORT_NAME plugin)
add_library(ingot::plugin ALIAS ingot_plugin)
get_property(devices GLOBAL PROPERTY INGOT_DEVICE_LIBRARIES)
list(APPEND exported ingot_plugin ${devices})
get_property(folders GLOBAL PROPERTY INGOT_DEVICE_INCLUDES)
foreach(folder IN LISTS folders)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
foreach(header Image.h Instructions.def Instructions.h MachineModel.h Piece.h Platform.h OpTime.h PlugIn.h Roof.h Target.h)
  install(FILES ${PROJECT_SOURCE_DIR}/compiler/target/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot/compiler/target)
endforeach()
install(TARGETS ${exported} EXPORT ingotTargets)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
# Those that build by themselves.
foreach(example c c_target source two_models)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/${example} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime_support/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT ingotTargets NAMESPACE ingot:: DESTINATION ${package_dir})

# The same package in the build folder, so that a project can use what was just built.
set(build_package_dir ${PROJECT_BINARY_DIR})
export(EXPORT ingotTargets NAMESPACE ingot:: FILE ${build_package_dir}/ingotTargets.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ingotConfig.cmake.in ${build_package_dir}/ingotConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${build_package_dir}/ingotConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/IngotModel.cmake ${build_package_dir}/IngotModel.cmake COPYONLY)
install(FILES ${build_package_dir}/ingotConfig.cmake ${build_package_dir}/ingotConfigVersion.cmake
              ${build_package_dir}/IngotModel.cmake DESTINATION ${package_dir})

# cpack in the build folder. The compiler links LLVM's and MLIR's shared libraries: the .deb depends on Debian's packages of them (found by
# dpkg-shlibdeps), the .tar.gz needs them installed (libmlir-22, libllvm22 and what third_party/packages.txt names beside).
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME ingot)
set(CPACK_PACKAGE_VENDOR ingot)
set(CPACK_PACKAGE_CONTACT "ingot developers <ingot@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "ahead-of-time compiler from ONNX models to static libraries")
set(CPACK_SYSTEM_NAME linux-${CMAKE_SYSTEM_PROCESSOR})
# Programs for other machines are in an installation only: Debian's tools look for their libraries on this one.
set(CPACK_COMPONENTS_ALL Unspecified)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# dpkg-shlibdeps meets libLLVM through a link in llvm-22-dev, which has no entry for it.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libllvm${LLVM_VERSION_MAJOR} (>= 1:${LLVM_VERSION_MAJOR}.${LLVM_VERSION_MINOR})")
include(CPack)
