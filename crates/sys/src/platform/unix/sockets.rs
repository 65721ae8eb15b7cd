//! Unix sockets that a program which is gone has left behind.

use std::io::{self, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// See [`files::remove_abandoned_socket`](crate::files::remove_abandoned_socket).
pub(crate) fn remove_abandoned_socket(path: &Path) -> io::Result<()> {
    let is_socket = path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket());
    // A socket of another type, a full queue and a lack of rights are other errors.
    let is_abandoned = || match UnixStream::connect(path) {
        Err(error) => error.kind() == ErrorKind::ConnectionRefused,
        Ok(_) => false,
    };
    if is_socket && is_abandoned() { std::fs::remove_file(path) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;
    use std::os::unix::net::{UnixDatagram, UnixListener};

    #[test]
    fn only_a_socket_that_nobody_has_open_is_removed() {
        let folder = Folder::temporary("local-socket");
        let listener = UnixListener::bind(folder.join("stream")).unwrap();
        let datagram = UnixDatagram::bind(folder.join("datagram")).unwrap();
        folder.write("file", "text");
        let left = || {
            for name in ["stream", "datagram", "file", "none"] {
                remove_abandoned_socket(&folder.join(name)).unwrap();
            }
            ["stream", "datagram", "file"].map(|name| folder.join(name).exists())
        };
        assert_eq!(left(), [true, true, true]);
        drop((listener, datagram));
        assert_eq!(left(), [false, false, true]);
    }
}
