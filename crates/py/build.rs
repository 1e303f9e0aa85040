//! Tells the linker of systems that ask for it that Python itself will have what is missing.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
