//! The text of a log, plain or compressed (gzip, zlib), line by line.

use crate::LogReadError;
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

/// A line that is longer is broken, and only its beginning is kept.
const LINE_MOST: u64 = 64 << 10;
/// What is read at once.
const PORTION: usize = 256 << 10;

/// The sample once more, and what follows it.
type SampledText = Chain<Cursor<Vec<u8>>, Box<dyn Read>>;

/// The text of a log.
pub struct LogText {
    /// The beginning, to decide which columns there are.
    sample: Vec<u8>,
    text: BufReader<SampledText>,
    line: Vec<u8>,
    number: u64,
}

/// A line: its number from 1, and its text without its end; `None` if it is
/// too long.
pub(crate) type NumberedLine<'a> = (u64, Option<&'a [u8]>);

impl LogText {
    /// Of a file's content, decompressed if need be.
    ///
    /// # Errors
    /// Those of reading it; it is not text.
    pub fn new(file: impl Read + 'static) -> Result<LogText, LogReadError> {
        let mut file = BufReader::with_capacity(PORTION, file);
        let mut text: Box<dyn Read> = match *file.fill_buf()? {
            [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(file)),
            // RFC 1950: method 8, and a multiple of 31.
            [0x78, flags, ..] if (0x7800 + u16::from(flags)).is_multiple_of(31) => {
                Box::new(ZlibStreams(Some(ZlibDecoder::new(file))))
            }
            _ => Box::new(file),
        };
        let mut sample = Vec::new();
        (&mut text).take(PORTION as u64).read_to_end(&mut sample)?;
        if sample.iter().any(|&byte| !is_text(byte)) {
            return Err(LogReadError::NoLog(
                "it holds binary records, as fio's own compressed logs do: write its text with \
                 the fio that made it (fio --inflate-log=FILE)"
                    .to_owned(),
            ));
        }
        let text = Cursor::new(sample.clone()).chain(text);
        let text = BufReader::with_capacity(PORTION, text);
        Ok(LogText { sample, text, line: Vec::new(), number: 0 })
    }

    /// The first lines.
    pub(crate) fn first_lines(&self) -> impl Iterator<Item = &[u8]> {
        let whole = match self.sample.iter().rposition(|&byte| byte == b'\n') {
            // The last one goes on behind the sample.
            Some(end) if self.sample.len() >= PORTION => end,
            _ => self.sample.len(),
        };
        let lines = self.sample[..whole].split(|&byte| byte == b'\n');
        lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
    }

    /// The next line.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<NumberedLine<'_>>> {
        self.line.clear();
        let mut limited = (&mut self.text).take(LINE_MOST);
        if limited.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let is_whole = self.line.last() == Some(&b'\n');
        if !is_whole && self.line.len() as u64 == LINE_MOST {
            self.skip_line()?;
            return Ok(Some((self.number, None)));
        }
        Ok(Some((self.number, Some(self.line.trim_ascii()))))
    }

    /// Skip what is left of a line.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let text = self.text.fill_buf()?;
            let (used, is_end) = match text.iter().position(|&byte| byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (text.len(), text.is_empty()),
            };
            self.text.consume(used);
            if is_end {
                return Ok(());
            }
        }
    }
}

fn is_text(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace()
}

/// zlib streams one after the other: a log is one for each time it was written.
struct ZlibStreams<R>(Option<ZlibDecoder<R>>);

impl<R: BufRead> Read for ZlibStreams<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(stream) = &mut self.0 {
            let n = stream.read(out)?;
            if n > 0 || out.is_empty() {
                return Ok(n);
            }
            self.0 = match stream.get_mut().fill_buf()? {
                [] => None,
                _ => self.0.take().map(|ended| ZlibDecoder::new(ended.into_inner())),
            };
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use std::io::Write;

    fn lines(bytes: Vec<u8>) -> Vec<(u64, Option<String>)> {
        let mut text = LogText::new(io::Cursor::new(bytes)).unwrap();
        let mut found = Vec::new();
        while let Some((number, line)) = text.next_line().unwrap() {
            found.push((number, line.map(|line| String::from_utf8(line.to_vec()).unwrap())));
        }
        found
    }

    #[test]
    fn compressed_logs_are_read_as_plain_ones() {
        let wanted = vec![(1, Some("1, 2".to_owned())), (2, Some("3, 4".to_owned()))];
        assert_eq!(lines(b"1, 2\n3, 4".to_vec()), wanted);
        assert_eq!(lines(b"1, 2\r\n3, 4\r\n".to_vec()), wanted);
        let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
        gz.write_all(b"1, 2\n3, 4\n").unwrap();
        assert_eq!(lines(gz.finish().unwrap()), wanted);
        let zlib = |text: &[u8]| {
            let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
            zlib.write_all(text).unwrap();
            zlib.finish().unwrap()
        };
        assert_eq!(lines([zlib(b"1, 2\n3,"), zlib(b" 4\n")].concat()), wanted);
    }

    #[test]
    fn binary_records_are_refused_and_a_cut_stream_is_an_error() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(&[0, 1, 2, 0, 7]).unwrap();
        let packed = zlib.finish().unwrap();
        let error = LogText::new(io::Cursor::new(packed)).err().unwrap().to_string();
        assert!(error.contains("--inflate-log"), "{error}");
        let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
        gz.write_all(&b"1, 2\n".repeat(1000)).unwrap();
        let mut cut = gz.finish().unwrap();
        cut.truncate(cut.len() - 12);
        assert!(
            LogText::new(io::Cursor::new(cut))
                .map(|mut text| {
                    while text.next_line()?.is_some() {}
                    Ok::<_, io::Error>(())
                })
                .map_or(true, |read| read.is_err())
        );
    }

    #[test]
    fn a_line_without_end_takes_no_memory_and_the_next_is_read() {
        let mut bytes = vec![b'1'; 1 << 20];
        bytes.extend(b"\n1, 2\n");
        assert_eq!(lines(bytes), [(1, None), (2, Some("1, 2".to_owned()))]);
    }
}
