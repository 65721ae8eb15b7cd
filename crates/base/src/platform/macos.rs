//! macOS: its error numbers (ENOATTR is what Linux calls ENODATA).

use super::bsd;
use crate::Errno;

pub(super) const NUMBERS: &[&[(i32, Errno)]] = &[bsd::NUMBERS, OWN];

const OWN: &[(i32, Errno)] = &[
    (89, Errno::ECANCELED),
    (90, Errno::EIDRM),
    (91, Errno::ENOMSG),
    (92, Errno::EILSEQ),
    (94, Errno::EBADMSG),
    (95, Errno::EMULTIHOP),
    (96, Errno::ENODATA),
    (93, Errno::ENODATA),
    (97, Errno::ENOLINK),
    (98, Errno::ENOSR),
    (99, Errno::ENOSTR),
    (100, Errno::EPROTO),
    (101, Errno::ETIME),
    (102, Errno::EOPNOTSUPP),
    (104, Errno::ENOTRECOVERABLE),
    (105, Errno::EOWNERDEAD),
];
