# A recipe for Homebrew: brew install --build-from-source ./iosonde.rb
# example.org stands for where your copy of the source is; of a tarball, url and sha256 (`shasum -a 256`) replace head.
class Iosonde < Formula
  desc "Storage I/O tester, a drop-in for fio, that says where the bytes went"
  homepage "https://example.org/iosonde"
  license any_of: ["MIT", "Apache-2.0"]
  head "https://example.org/iosonde.git", branch: "main"

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/iosonde")
  end

  test do
    system bin/"iosonde", "--name=t", "--filename=#{testpath}/f", "--size=1m", "--rw=write", "--verify=crc32c"
  end
end
