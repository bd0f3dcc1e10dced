// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import Testing

@Suite("SHA-256") struct SHA256Tests {
  /// FIPS 180-4 and the examples that NIST publishes with it.
  static let published: [(text: String, hash: String)] = [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ]

  @Test(arguments: published)
  func `the published examples come out`(text: String, hash: String) {
    #expect(Hex.text(SHA256.hash(Array(text.utf8))) == hash)
  }

  @Test func `a million times a`() {
    let hash = SHA256.hash([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000))
    #expect(Hex.text(hash) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  /// From Python's hashlib, over the bytes (i * 7 + n) mod 256 for i from 0 to n - 1, around the edges of a block.
  static let lengths: [(length: Int, hash: String)] = [
    (1, "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"),
    (3, "6ab0dba1f4f1dfbb37b4f9eeb092c09fca4900ad32bdcd147d8dde35d6c87c35"),
    (54, "1ad616be707a2b269ecfe28bdea4a4284a4f78a221287d45b98004231f501c77"),
    (55, "81afe5b788dc2ce138ff83d9b20164db75a94d75d2b2432eea4a0ef605088c72"),
    (56, "2aba54f0ac632420a2b502431408866e40e1d5e430df4cd822642c78ab2eb9c1"),
    (57, "903284efbf9100e8ba1614ec65eacacad125e03f857cae7acbf8b73b23e0fdfe"),
    (63, "733d3d4ee79ee67145bf73da13588f6f235d37414fc64b14a2f00f1762792f5e"),
    (64, "79322907b3e9d013d7dc2c2f256674dbf733045cde01df3539271c6f5605feb8"),
    (65, "d85c007c6eb440f085afa2b84f6f2bce4658b240e9f62cb1364bf0485a57e720"),
    (111, "b41ae5233b9ec35d8576a032034d2857b667a618c7038714d727d4dae3aa2525"),
    (112, "0949563bc78e5ccd85603fa20368a33ed3d2da0141c8284a3b1515fe4683cdd7"),
    (119, "6c87eedf096b345de205b702e5223b73b447a3207791ded3ea007ba15ed6736e"),
    (120, "42500cf6a1e3936d6b9e0bcfe296d654b63255e525487d3634d0b15fde591c4d"),
    (127, "68f6ff710276900c0ffbbc57426f67e00c2e01f0750c7edc25ac06b8ce7a8095"),
    (128, "489d55fea9a73af36b6dd0be7b4117d8e5683386d39544e8a44c99a87f368707"),
    (129, "4e1556b2e9a50a3cc9478f3254727b01065f9ac5d2c3a8b4cd538ae7240bb87d"),
    (130, "bfeaa0cf3d24ce3cdc6efadd5d4df78c4619e9e65ac66b1c185a3435d05a19d3"),
  ]

  @Test(arguments: lengths)
  func `lengths around the edges of a block come out`(length: Int, hash: String) {
    #expect(Hex.text(SHA256.hash(message(length))) == hash)
  }

  @Test func `every length from 0 to 130 comes out`() {
    var all = SHA256()
    for length in 0...130 { all.update(SHA256.hash(message(length))) }
    #expect(Hex.text(all.finish()) == "969b9f993f9c27e8424a46288c5b7999eee502a7befa92cad6cfef1034d76c51")
  }

  @Test func `pieces add up to the whole, however it is cut`() {
    let whole = message(130) + message(129) + message(64)
    let expected = SHA256.hash(whole)
    for size in [1, 3, 55, 63, 64, 65, 127, 128, 200] {
      var hasher = SHA256()
      for start in stride(from: 0, to: whole.count, by: size) {
        hasher.update(Array(whole[start..<min(start + size, whole.count)]))
        hasher.update([])
      }
      #expect(hasher.finish() == expected)
    }
  }

  private func message(_ length: Int) -> [UInt8] { (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7 + length) } }
}
