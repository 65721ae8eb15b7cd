#!/bin/bash
# Makes a .deb of a tree as it is installed:  scripts/dist-deb.sh TREE VERSION ARCHITECTURE FOLDER
#
# The alternative for /usr/local/bin/fio is never installed by the package (the manual of the package says how), but
# removing the package removes it.
set -euo pipefail
tree=$1 version=$2 architecture=$3 dist=$4
root=$(mktemp -d) && trap 'rm -rf "$root"' EXIT
cp -a "$tree/." "$root/"
chmod 755 "$root"
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
doc=$root/usr/share/doc/iosonde
cat > "$doc/copyright" <<-END
	Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
	Upstream-Name: iosonde

	Files: *
	Copyright: the authors of iosonde
	License: MIT or Apache-2.0
	 The texts are in LICENSE-MIT and LICENSE-APACHE next to this file.
END
gzip -9n < "$doc/CHANGELOG.md" > "$doc/changelog.gz"
cat > "$doc/README.Debian" <<-'END'
	To run iosonde where a script calls fio, as root:

	    update-alternatives --install /usr/local/bin/fio fio /usr/lib/iosonde/fio 10

	and to end that:

	    update-alternatives --remove fio /usr/lib/iosonde/fio

	/usr/bin/fio of the package fio stays as it is. Removing iosonde ends it too.
END
mkdir "$root/DEBIAN"
cat > "$root/DEBIAN/prerm" <<-'END'
	#!/bin/sh
	set -e
	if [ "$1" = remove ] || [ "$1" = deconfigure ]; then
	    update-alternatives --remove fio /usr/lib/iosonde/fio
	fi
END
chmod 755 "$root/DEBIAN/prerm"
cat > "$root/DEBIAN/control" <<-END
	Package: iosonde
	Version: $version
	Architecture: $architecture
	Maintainer: the authors of iosonde <iosonde@localhost>
	Section: admin
	Priority: optional
	Depends: libc6 (>= 2.28)
	Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
	Description: storage I/O tester, a drop-in for fio
	 Runs fio's job files and command lines, and reports where the bytes went:
	 to the device, to the page cache or to memory.
END
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
dpkg-deb --root-owner-group -Zxz --build "$root" "$dist/iosonde_${version}_$architecture.deb" >/dev/null
