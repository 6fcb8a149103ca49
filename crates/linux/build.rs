//! Compiles each controller twice from the same file: for the kernel, and for the tests of its arithmetic.

use libbpf_cargo::SkeletonBuilder;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-changed=controllers");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let mut native = cc::Build::new();
    native
        .include("bpf")
        .std("gnu11")
        .flag("-Wno-unused-parameter");
    let mut objects = String::from("static OBJECTS: &[(&str, &[u8])] = &[\n");
    for controller in controllers() {
        let source = Path::new("controllers")
            .join(&controller)
            .join(format!("{controller}.bpf.c"));
        compile_for_the_kernel(&source, &out.join(format!("{controller}.bpf.o")));
        native.file(source);
        objects += &format!(
            "    (\"{controller}\", include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{controller}.bpf.o\"))),\n"
        );
    }
    fs::write(out.join("objects.rs"), objects + "];\n").expect("cargo's folder can be written");
    for program in ["sockets", "cgroup"] {
        let source = PathBuf::from(format!("bpf/{program}.bpf.c"));
        compile_for_the_kernel(&source, &out.join(format!("{program}.bpf.o")));
    }
    native.compile("pathweave_controllers");
}

/// The folders of controllers/, in order.
fn controllers() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir("controllers")
        .expect("the controllers' folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn compile_for_the_kernel(source: &Path, object: &Path) {
    let headers = env::var_os("DEP_BPF_INCLUDE").expect("libbpf-sys says where its headers are");
    let mut arguments: Vec<OsString> = [
        "-mcpu=v3",
        "-Wall",
        "-Werror",
        "-Wno-unused-function",
        "-Ibpf",
        "-I",
    ]
    .map(OsString::from)
    .into();
    arguments.push(headers);
    // The same bytes wherever the checkout stands: BTF names the source files.
    let here = env::current_dir().expect("cargo's folder of the package");
    arguments.push(format!("-ffile-prefix-map={}=.", here.display()).into());
    let built = SkeletonBuilder::new()
        .source(source)
        .obj(object)
        .clang_args(arguments)
        .build();
    if let Err(error) = built {
        panic!(
            "{} does not compile for eBPF: {error:#}\n\
             clang and the headers of libelf and zlib are needed (Debian, Ubuntu: apt install clang libelf-dev \
             zlib1g-dev; Fedora: dnf install clang elfutils-libelf-devel zlib-devel)",
            source.display()
        );
    }
}
