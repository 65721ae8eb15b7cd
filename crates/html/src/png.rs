//! Pictures with a palette, for heat maps: a few kilobytes where rectangles of
//! SVG take hundreds.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

/// A picture of one byte a pixel: numbers of colours. Colour 0 is transparent.
pub(crate) struct IndexedPicture {
    pub width: usize,
    pub height: usize,
    /// Rows from top to bottom.
    pub pixels: Vec<u8>,
    pub palette: Vec<[u8; 3]>,
}

impl IndexedPicture {
    /// The picture as a URI that contains it.
    pub fn uri(&self) -> String {
        format!("data:image/png;base64,{}", STANDARD.encode(self.png()))
    }

    /// The picture as a PNG file (ISO/IEC 15948).
    fn png(&self) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut head = Vec::new();
        head.extend((self.width as u32).to_be_bytes());
        head.extend((self.height as u32).to_be_bytes());
        // Eight bits a pixel, colours by number, the one compression, the one
        // filter method, not interlaced.
        head.extend([8, 3, 0, 0, 0]);
        add_chunk(&mut file, b"IHDR", &head);
        add_chunk(&mut file, b"PLTE", self.palette.as_flattened());
        add_chunk(&mut file, b"tRNS", &[0]);
        add_chunk(&mut file, b"IDAT", &self.compressed());
        add_chunk(&mut file, b"IEND", &[]);
        file
    }

    /// Each row behind a zero: not filtered.
    fn compressed(&self) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        for row in self.pixels.chunks(self.width.max(1)) {
            encoder.write_all(&[0]).and_then(|()| encoder.write_all(row)).expect("memory takes it");
        }
        encoder.finish().expect("memory takes it")
    }
}

fn add_chunk(file: &mut Vec<u8>, kind: &[u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    let mut crc = flate2::Crc::new();
    crc.update(kind);
    crc.update(content);
    file.extend(kind);
    file.extend(content);
    file.extend(crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::ZlibDecoder;
    use std::io::Read;

    #[test]
    fn a_picture_has_its_parts_in_order_and_unpacks_to_its_pixels() {
        let picture = IndexedPicture {
            width: 3,
            height: 2,
            pixels: vec![0, 1, 2, 2, 1, 0],
            palette: vec![[0; 3], [10, 20, 30], [40, 50, 60]],
        };
        let file = picture.png();
        let mut at = 8;
        let mut chunks = Vec::new();
        while at < file.len() {
            let length = u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
            let kind = String::from_utf8(file[at + 4..at + 8].to_vec()).unwrap();
            let content = file[at + 8..at + 8 + length].to_vec();
            let mut crc = flate2::Crc::new();
            crc.update(&file[at + 4..at + 8 + length]);
            assert_eq!(file[at + 8 + length..at + 12 + length], crc.sum().to_be_bytes());
            chunks.push((kind, content));
            at += 12 + length;
        }
        let kinds: Vec<&str> = chunks.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
        let mut rows = Vec::new();
        ZlibDecoder::new(&chunks[3].1[..]).read_to_end(&mut rows).unwrap();
        assert_eq!(rows, [0, 0, 1, 2, 0, 2, 1, 0]);
        assert!(picture.uri().starts_with("data:image/png;base64,iVBORw0KGgo"));
    }
}
