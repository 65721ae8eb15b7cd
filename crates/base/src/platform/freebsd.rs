//! FreeBSD: its error numbers (ENOATTR is what Linux calls ENODATA).

use super::bsd;
use crate::Errno;

pub(super) const NUMBERS: &[&[(i32, Errno)]] = &[bsd::NUMBERS, OWN];

const OWN: &[(i32, Errno)] = &[
    (82, Errno::EIDRM),
    (83, Errno::ENOMSG),
    (85, Errno::ECANCELED),
    (86, Errno::EILSEQ),
    (87, Errno::ENODATA),
    (89, Errno::EBADMSG),
    (90, Errno::EMULTIHOP),
    (91, Errno::ENOLINK),
    (92, Errno::EPROTO),
    (95, Errno::ENOTRECOVERABLE),
    (96, Errno::EOWNERDEAD),
];
