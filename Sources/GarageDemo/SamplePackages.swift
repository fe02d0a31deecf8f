/// A small package database for machines that have none: a few packages of Debian 12, and everything they need.
enum SamplePackages {
  /// In the format of `/var/lib/dpkg/status`.
  static let text = """
    Package: base-files
    Version: 12.4+deb12u11
    Architecture: amd64
    Section: admin
    Installed-Size: 341
    Pre-Depends: awk
    Description: Debian base system miscellaneous files

    Package: bash
    Version: 5.2.15-2+b8
    Architecture: amd64
    Section: shells
    Installed-Size: 7164
    Pre-Depends: libc6 (>= 2.36), libtinfo6 (>= 6)
    Depends: base-files (>= 2.1.12), debianutils (>= 5.6-0.1)
    Description: GNU Bourne Again SHell

    Package: debianutils
    Version: 5.7-0.5~deb12u1
    Architecture: amd64
    Section: utils
    Installed-Size: 243
    Pre-Depends: libc6 (>= 2.34)
    Description: Miscellaneous utilities specific to Debian

    Package: dmsetup
    Version: 2:1.02.185-2
    Architecture: amd64
    Section: admin
    Installed-Size: 246
    Depends: libc6 (>= 2.34), libdevmapper1.02.1 (>= 2:1.02.181)
    Description: Linux Kernel Device Mapper userspace library

    Package: dpkg
    Version: 1.21.22
    Architecture: amd64
    Section: admin
    Installed-Size: 6409
    Pre-Depends: libbz2-1.0, libc6 (>= 2.34), liblzma5 (>= 5.4.0), libmd0 (>= 0.0.0), libselinux1 (>= 3.1~),
     libzstd1 (>= 1.5.2), zlib1g (>= 1:1.1.4)
    Depends: tar (>= 1.28-1)
    Description: Debian package management system

    Package: gcc-12-base
    Version: 12.2.0-14+deb12u1
    Architecture: amd64
    Section: libs
    Installed-Size: 100
    Description: GCC, the GNU Compiler Collection (base package)

    Package: libacl1
    Version: 2.3.1-3
    Architecture: amd64
    Section: libs
    Installed-Size: 73
    Depends: libc6 (>= 2.33)
    Description: access control list - shared library

    Package: libbz2-1.0
    Version: 1.0.8-5+b1
    Architecture: amd64
    Section: libs
    Installed-Size: 106
    Depends: libc6 (>= 2.4)
    Description: high-quality block-sorting file compressor library - runtime

    Package: libc6
    Version: 2.36-9+deb12u14
    Architecture: amd64
    Section: libs
    Installed-Size: 13001
    Depends: libgcc-s1
    Description: GNU C Library: Shared libraries

    Package: libcrypt1
    Version: 1:4.4.33-2
    Architecture: amd64
    Section: libs
    Installed-Size: 233
    Depends: libc6 (>= 2.36)
    Description: libcrypt shared library

    Package: libdb5.3
    Version: 5.3.28+dfsg2-1
    Architecture: amd64
    Section: libs
    Installed-Size: 1833
    Depends: libc6 (>= 2.34)
    Description: Berkeley v5.3 Database Libraries [runtime]

    Package: libdevmapper1.02.1
    Version: 2:1.02.185-2
    Architecture: amd64
    Section: libs
    Installed-Size: 474
    Depends: libc6 (>= 2.33), libselinux1 (>= 3.1~), libudev1 (>= 183), dmsetup (>= 2:1.02.185-2~)
    Description: Linux Kernel Device Mapper userspace library

    Package: libgcc-s1
    Version: 12.2.0-14+deb12u1
    Architecture: amd64
    Section: libs
    Installed-Size: 140
    Depends: gcc-12-base (= 12.2.0-14+deb12u1), libc6 (>= 2.35)
    Description: GCC support library

    Package: libgdbm-compat4
    Version: 1.23-3
    Architecture: amd64
    Section: libs
    Installed-Size: 70
    Depends: libc6 (>= 2.33), libgdbm6 (>= 1.16)
    Description: GNU dbm database routines (legacy support runtime version)

    Package: libgdbm6
    Version: 1.23-3
    Architecture: amd64
    Section: libs
    Installed-Size: 129
    Depends: libc6 (>= 2.34)
    Description: GNU dbm database routines (runtime version)

    Package: libgpm2
    Version: 1.20.7-10+b1
    Architecture: amd64
    Section: libs
    Installed-Size: 45
    Depends: libc6 (>= 2.33)
    Description: General Purpose Mouse - shared library

    Package: liblzma5
    Version: 5.4.1-1
    Architecture: amd64
    Section: libs
    Installed-Size: 333
    Depends: libc6 (>= 2.34)
    Description: XZ-format compression library

    Package: libmd0
    Version: 1.0.4-2
    Architecture: amd64
    Section: libs
    Installed-Size: 79
    Depends: libc6 (>= 2.33)
    Description: message digest functions from BSD systems - shared library

    Package: libpcre2-8-0
    Version: 10.42-1
    Architecture: amd64
    Section: libs
    Installed-Size: 685
    Depends: libc6 (>= 2.34)
    Description: New Perl Compatible Regular Expression Library- 8 bit runtime files

    Package: libperl5.36
    Version: 5.36.0-7+deb12u2
    Architecture: amd64
    Section: libs
    Installed-Size: 28863
    Depends: libbz2-1.0, libc6 (>= 2.35), libcrypt1 (>= 1:4.1.0), libdb5.3, libgdbm-compat4 (>= 1.18-3),
     libgdbm6 (>= 1.21), zlib1g (>= 1:1.2.2.3), perl-modules-5.36 (>= 5.36.0-7+deb12u2)
    Description: shared Perl library

    Package: libselinux1
    Version: 3.4-1+b6
    Architecture: amd64
    Section: libs
    Installed-Size: 199
    Depends: libc6 (>= 2.34), libpcre2-8-0 (>= 10.22)
    Description: SELinux runtime shared libraries

    Package: libsodium23
    Version: 1.0.18-1+deb12u1
    Architecture: amd64
    Section: libs
    Installed-Size: 415
    Depends: libc6 (>= 2.34)
    Description: Network communication, cryptography and signaturing library

    Package: libtinfo6
    Version: 6.4-4
    Architecture: amd64
    Section: libs
    Installed-Size: 541
    Depends: libc6 (>= 2.34)
    Description: shared low-level terminfo library for terminal handling

    Package: libudev1
    Version: 252.38-1~deb12u1
    Architecture: amd64
    Section: libs
    Installed-Size: 239
    Depends: libc6 (>= 2.34)
    Description: libudev shared library

    Package: libzstd1
    Version: 1.5.4+dfsg2-5
    Architecture: amd64
    Section: libs
    Installed-Size: 785
    Depends: libc6 (>= 2.34)
    Description: fast lossless compression algorithm

    Package: make
    Version: 4.3-4.1
    Architecture: amd64
    Section: devel
    Installed-Size: 1592
    Depends: libc6 (>= 2.27)
    Description: utility for directing compilation

    Package: perl
    Version: 5.36.0-7+deb12u2
    Architecture: amd64
    Section: perl
    Installed-Size: 670
    Pre-Depends: dpkg (>= 1.17.17)
    Depends: perl-base (= 5.36.0-7+deb12u2), perl-modules-5.36 (>= 5.36.0-7+deb12u2), libperl5.36 (=
     5.36.0-7+deb12u2)
    Description: Larry Wall's Practical Extraction and Report Language

    Package: perl-base
    Version: 5.36.0-7+deb12u2
    Architecture: amd64
    Section: perl
    Installed-Size: 7639
    Pre-Depends: libc6 (>= 2.35), libcrypt1 (>= 1:4.1.0), dpkg (>= 1.17.17)
    Description: minimal Perl system

    Package: perl-modules-5.36
    Version: 5.36.0-7+deb12u2
    Architecture: all
    Section: libs
    Installed-Size: 17817
    Pre-Depends: dpkg (>= 1.17.17)
    Depends: perl-base (>= 5.36.0-1)
    Description: Core Perl modules

    Package: tar
    Version: 1.34+dfsg-1.2+deb12u1
    Architecture: amd64
    Section: utils
    Installed-Size: 3144
    Pre-Depends: libacl1 (>= 2.2.23), libc6 (>= 2.34), libselinux1 (>= 3.1~)
    Description: GNU version of the tar archiving utility

    Package: vim
    Version: 2:9.0.1378-2+deb12u2
    Architecture: amd64
    Section: editors
    Installed-Size: 3650
    Depends: vim-common (= 2:9.0.1378-2+deb12u2), vim-runtime (= 2:9.0.1378-2+deb12u2), libacl1 (>= 2.2.23),
     libc6 (>= 2.34), libgpm2 (>= 1.20.7), libselinux1 (>= 3.1~), libsodium23 (>= 1.0.14), libtinfo6 (>= 6)
    Description: Vi IMproved - enhanced vi editor

    Package: vim-common
    Version: 2:9.0.1378-2+deb12u2
    Architecture: all
    Section: editors
    Installed-Size: 245
    Description: Vi IMproved - Common files

    Package: vim-runtime
    Version: 2:9.0.1378-2+deb12u2
    Architecture: all
    Section: editors
    Installed-Size: 36406
    Description: Vi IMproved - Runtime files

    Package: zlib1g
    Version: 1:1.2.13.dfsg-1
    Architecture: amd64
    Section: libs
    Installed-Size: 168
    Depends: libc6 (>= 2.14)
    Description: compression library - runtime
    """
}
