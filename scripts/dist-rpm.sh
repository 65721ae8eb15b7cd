#!/bin/bash
# Makes an .rpm of a tree as it is installed:  scripts/dist-rpm.sh TREE VERSION ARCHITECTURE FOLDER
set -euo pipefail
tree=$1 version=$2 architecture=$3 dist=$4
top=$(mktemp -d) && trap 'rm -rf "$top"' EXIT
cat > "$top/iosonde.spec" <<-END
	Name: iosonde
	Version: $version
	Release: 1
	Summary: Storage I/O tester, a drop-in for fio
	License: MIT OR Apache-2.0
	AutoReqProv: no
	Requires: glibc >= 2.28
	%define _build_id_links none
	%define __os_install_post %{nil}
	%define _binary_payload w6.xzdio
	%description
	Runs fio's job files and command lines, and reports where the bytes went: to
	the device, to the page cache or to memory.
	%install
	cp -a "$tree/." %{buildroot}/
	%files
	%attr(-, root, root) /usr/bin/iosonde
	%attr(-, root, root) /usr/lib/iosonde
	%attr(-, root, root) /usr/share/man/man1/*
	%attr(-, root, root) /usr/share/bash-completion/completions/iosonde
	%attr(-, root, root) /usr/share/zsh/site-functions/_iosonde
	%attr(-, root, root) /usr/share/fish/vendor_completions.d/iosonde.fish
	%attr(-, root, root) /usr/share/doc/iosonde
	%preun
	if [ "\$1" = 0 ] && [ -x /usr/sbin/update-alternatives ]; then
	    /usr/sbin/update-alternatives --remove fio /usr/lib/iosonde/fio >/dev/null 2>&1 || true
	fi
END
rpmbuild --quiet -bb --target "$architecture-linux" --define "_topdir $top" --define "_rpmdir $top/out" \
	--define "_dbpath $top/db" "$top/iosonde.spec" >"$top/log" 2>&1 || { cat "$top/log" >&2; exit 1; }
cp "$top"/out/*/*.rpm "$dist/"
