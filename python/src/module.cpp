// Declares the extension `ingot._native`: one class, whose calls go to Model::call without nanobind's own dispatch,
// which takes longer than a small model.
#include "Model.h"
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using ingot::python::Model;

static PyObject *callModel(PyObject *self, PyObject *arguments, PyObject *named) {
  try {
    return nb::inst_ptr<Model>(self)->call(arguments, named).release().ptr();
  } catch (nb::python_error &error) {
    error.restore();
  } catch (const nb::builtin_exception &error) {
    PyErr_SetString(error.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError, error.what());
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

NB_MODULE(_native, module) {
  nb::set_leak_warnings(false); // they are for authors of extensions; a model may live until the process ends
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void *>(callModel)}, {0, nullptr}};
  nb::class_<Model>(module, "Model", nb::type_slots(slots))
      .def(nb::init<const std::string &, const std::string &, const std::string &, int>(), nb::arg("path"),
           nb::arg("name"), nb::arg("weights"), nb::arg("threads"))
      .def("_describe", &Model::describe)
      .def_rw("threads", &Model::threads);
  module.attr("machine_level") = ingot_machine_level();
}
