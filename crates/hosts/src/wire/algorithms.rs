//! The algorithms of Noise, of the crates that the program has anyway or that are of the same
//! family: X25519, ChaCha20-Poly1305, SHA-256. Nothing is computed here.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Nonce, Tag};
use curve25519_dalek::montgomery::MontgomeryPoint;
use sha2::{Digest, Sha256};
use snow::Error;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::CryptoResolver;
use snow::types::{Cipher, Dh, Hash, Random};

const TAG_BYTES: usize = 16;

/// Gives them to `snow`.
pub(super) struct Algorithms;

impl CryptoResolver for Algorithms {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(SystemRandom))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        matches!(choice, DHChoice::Curve25519).then(|| Box::new(X25519::default()) as Box<dyn Dh>)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        matches!(choice, HashChoice::SHA256)
            .then(|| Box::new(OneSha256::default()) as Box<dyn Hash>)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        matches!(choice, CipherChoice::ChaChaPoly)
            .then(|| Box::new(ChaChaPoly::default()) as Box<dyn Cipher>)
    }
}

/// Random numbers of the system.
struct SystemRandom;

impl Random for SystemRandom {
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        iosonde_sys::files::random_bytes(bytes).map_err(|_| Error::Rng)
    }
}

#[derive(Default)]
struct X25519 {
    private: [u8; 32],
    public: [u8; 32],
}

impl Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        self.public.len()
    }

    fn priv_len(&self) -> usize {
        self.private.len()
    }

    fn set(&mut self, private: &[u8]) {
        self.private.copy_from_slice(private);
        self.public = MontgomeryPoint::mul_base_clamped(self.private).to_bytes();
    }

    fn generate(&mut self, random: &mut dyn Random) -> Result<(), Error> {
        let mut private = [0; 32];
        random.try_fill_bytes(&mut private)?;
        self.set(&private);
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    fn privkey(&self) -> &[u8] {
        &self.private
    }

    fn dh(&self, public: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let public = public.get(..32).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let point = MontgomeryPoint(public.ok_or(Error::Dh)?);
        out[..32].copy_from_slice(&point.mul_clamped(self.private).to_bytes());
        Ok(())
    }
}

#[derive(Default)]
struct OneSha256 {
    state: Sha256,
}

impl Hash for OneSha256 {
    fn name(&self) -> &'static str {
        "SHA256"
    }

    fn block_len(&self) -> usize {
        64
    }

    fn hash_len(&self) -> usize {
        32
    }

    fn reset(&mut self) {
        self.state = Sha256::default();
    }

    fn input(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    fn result(&mut self, out: &mut [u8]) {
        out[..32].copy_from_slice(&std::mem::take(&mut self.state).finalize());
    }
}

#[derive(Default)]
struct ChaChaPoly {
    key: [u8; 32],
}

impl ChaChaPoly {
    fn cipher(&self) -> ChaCha20Poly1305 {
        ChaCha20Poly1305::new(&self.key.into())
    }
}

/// Noise: 32 bits of zeros, then the number, least significant byte first.
fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&number.to_le_bytes());
    bytes.into()
}

impl Cipher for ChaChaPoly {
    fn name(&self) -> &'static str {
        "ChaChaPoly"
    }

    fn set(&mut self, key: &[u8; 32]) {
        self.key = *key;
    }

    fn encrypt(&self, number: u64, beside: &[u8], plain: &[u8], out: &mut [u8]) -> usize {
        let (body, rest) = out.split_at_mut(plain.len());
        body.copy_from_slice(plain);
        let sealed = self.cipher().encrypt_inout_detached(&nonce(number), beside, body.into());
        let tag = sealed.expect("a message of Noise is far below the cipher's 256 GiB");
        rest[..TAG_BYTES].copy_from_slice(&tag);
        plain.len() + TAG_BYTES
    }

    fn decrypt(
        &self,
        number: u64,
        beside: &[u8],
        sealed: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let length = sealed.len().checked_sub(TAG_BYTES).ok_or(Error::Decrypt)?;
        let (body, tag) = sealed.split_at(length);
        let tag = Tag::try_from(tag).map_err(|_| Error::Decrypt)?;
        let plain = out.get_mut(..length).ok_or(Error::Decrypt)?;
        plain.copy_from_slice(body);
        let opened =
            self.cipher().decrypt_inout_detached(&nonce(number), beside, plain.into(), &tag);
        opened.map(|()| length).map_err(|_| Error::Decrypt)
    }
}
