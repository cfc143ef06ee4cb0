# What a user of braid sees: the program, and for programs of their own one target, braid::braid.
include(CMakePackageConfigHelpers)
set(braid_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/braid)

# Programs look for models beside their folder (braid/embed/model_locator.hpp): no path is compiled in.
foreach(place IN ITEMS ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/tests)
  file(MAKE_DIRECTORY ${place})
  file(CREATE_LINK ${BRAID_MODEL_DIR} ${place}/models SYMBOLIC)
endforeach()

# One archive of all folders but the doors, without their header probes: a program that searches needs
# neither the server nor its libraries (tests/packaging reads the archive).
get_property(modules GLOBAL PROPERTY BRAID_MODULES)
list(REMOVE_ITEM modules braid_cli braid_server braid_net_http)
set(libraries)
foreach(module IN LISTS modules)
  get_property(needed TARGET ${module} PROPERTY BRAID_LIBS)
  list(APPEND libraries ${needed})
endforeach()
list(REMOVE_DUPLICATES libraries)
list(REMOVE_ITEM libraries xxhash::xxhash)              # header only, compiled in
list(TRANSFORM modules REPLACE "(.+)" "$<FILTER:$<TARGET_OBJECTS:\\1>,EXCLUDE,/probe/>" OUTPUT_VARIABLE objects)

add_library(braid_archive STATIC ${objects})
set_target_properties(braid_archive PROPERTIES OUTPUT_NAME braid EXPORT_NAME braid
                      LINKER_LANGUAGE CXX)
target_compile_features(braid_archive PUBLIC cxx_std_20)
target_link_libraries(braid_archive PUBLIC tl::expected PRIVATE ${libraries})

install(TARGETS braid_archive EXPORT braid COMPONENT library
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/braid DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT library FILES_MATCHING PATTERN *.hpp)
install(EXPORT braid NAMESPACE braid:: FILE braidTargets.cmake DESTINATION ${braid_cmake_dir}
        COMPONENT library)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/braidConfig.cmake.in
  ${PROJECT_BINARY_DIR}/braidConfig.cmake INSTALL_DESTINATION ${braid_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/braidConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/braidConfig.cmake ${PROJECT_BINARY_DIR}/braidConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/braid_plain_library.cmake
        DESTINATION ${braid_cmake_dir} COMPONENT library)

# The program: whatever src/cli links, at <build>/bin/braid.
if(TARGET braid_cli)
  get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR}/src/cli PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      set_target_properties(${target} PROPERTIES
                            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
      install(TARGETS ${target} RUNTIME COMPONENT program)
    endif()
  endforeach()
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY ${BRAID_MODEL_DIR}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/braid/models
        COMPONENT models OPTIONAL PATTERN .work EXCLUDE)
