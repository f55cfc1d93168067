# INGOT_PYTHON: the interpreter of the tests and of examples that fetch a model: the cache variable, the environment's variable of the same name,
# the build folder's own environment (third_party/install.sh makes it), else what is on the path; tests whose packages are absent are skipped.
set(INGOT_PYTHON "$ENV{INGOT_PYTHON}" CACHE FILEPATH "Python with the packages of third_party/requirements.txt")
if(NOT INGOT_PYTHON)
  find_program(found_python NAMES python3 HINTS ${PROJECT_BINARY_DIR}/venv/bin $ENV{VIRTUAL_ENV}/bin NO_CACHE)
  set(INGOT_PYTHON ${found_python} CACHE FILEPATH "" FORCE)
endif()
