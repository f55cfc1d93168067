# INGOT_OLD_GLIBC: programs are linked against Debian 11's C library (glibc 2.31) in place of this machine's, so that they run on
# systems as old as Debian 11, Ubuntu 20.04 and RHEL 9. The libraries are fetched and unpacked into a folder, and not installed. Of
# libstdc++, which is of this machine's GCC, programs have what they need in them. Headers stay those of this machine: what its
# newer C library declares and the older one lacks is in OldGlibc.cpp.
#
# ingot_old_glibc(FOLDER): fetches the libraries into FOLDER, if they are not there.
# ingot_old_glibc_options(OUT FOLDER): what the linker is to be told.
# INGOT_OLD_GLIBC_SOURCE: a file that each program has in it.
set(INGOT_OLD_GLIBC_SOURCE ${CMAKE_CURRENT_LIST_DIR}/OldGlibc.cpp)
set(INGOT_DEBIAN_MIRRORS http://deb.debian.org/debian http://archive.debian.org/debian CACHE STRING "Where Debian's packages are fetched from")

function(ingot_old_glibc folder)
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    message(FATAL_ERROR "INGOT_OLD_GLIBC: the packages are those for x86-64; -DINGOT_OLD_GLIBC=OFF links this machine's C library")
  endif()
  foreach(package glibc/libc6_2.31-13+deb11u11_amd64.deb:05f7264da867b37f4c5ce49266b558ea1e81e05a9464f623152fca70f3550282
                  glibc/libc6-dev_2.31-13+deb11u11_amd64.deb:e7f7b45d9c5cfcf37609f0b6efd3c645272c812144703af89dfd32218fcb0fd3
                  gcc-10/libgcc-s1_10.2.1-6_amd64.deb:e478f2709d8474165bb664de42e16950c391f30eaa55bc9b3573281d83a29daf)
    string(REGEX MATCH "^([a-z])([^/]+)/([^:]+):(.+)$" matched ${package})
    set(path pool/main/${CMAKE_MATCH_1}/${CMAKE_MATCH_1}${CMAKE_MATCH_2}/${CMAKE_MATCH_3})
    set(file ${folder}/${CMAKE_MATCH_3})
    set(sum ${CMAKE_MATCH_4})
    set(found "")
    foreach(mirror IN LISTS INGOT_DEBIAN_MIRRORS)
      if(EXISTS ${file})
        file(SHA256 ${file} found)
      endif()
      if(NOT found STREQUAL sum)
        file(DOWNLOAD ${mirror}/${path} ${file} STATUS status)
      endif()
    endforeach()
    if(EXISTS ${file})
      file(SHA256 ${file} found)
    endif()
    if(NOT found STREQUAL sum)
      message(FATAL_ERROR "${file} is not the package that was pinned (${status}); -DINGOT_DEBIAN_MIRRORS=... names other places, "
                          "-DINGOT_OLD_GLIBC=OFF does without")
    endif()
    execute_process(COMMAND dpkg-deb -x ${file} ${folder} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  # Links from / would lead to this machine's libraries.
  file(GLOB libraries ${folder}/lib64/* ${folder}/usr/lib/x86_64-linux-gnu/*)
  foreach(library IN LISTS libraries)
    if(IS_SYMLINK ${library})
      file(READ_SYMLINK ${library} place)
      if(IS_ABSOLUTE ${place})
        file(CREATE_LINK ${folder}${place} ${library} SYMBOLIC)
      endif()
    endif()
  endforeach()
endfunction()

function(ingot_old_glibc_options out folder)
  # GCC looks first where this machine's libraries are. Threads and dlopen are in libraries of their own there.
  set(options --sysroot=${folder} -L${folder}/usr/lib/x86_64-linux-gnu -L${folder}/lib/x86_64-linux-gnu
              $<$<LINK_LANGUAGE:CXX>:-static-libstdc++> -lpthread -ldl)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # Clang looks for GCC's files below the root that it is given.
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=crtbegin.o OUTPUT_VARIABLE begin OUTPUT_STRIP_TRAILING_WHITESPACE)
    cmake_path(GET begin PARENT_PATH folder)
    list(APPEND options --gcc-install-dir=${folder})
  endif()
  set(${out} ${options} PARENT_SCOPE)
endfunction()
