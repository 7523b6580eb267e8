/**
 * A synchronous SHA-256 (FIPS 180-4).
 *
 * Definition hashes and argument digests are needed in synchronous code. WebCrypto returns a promise and takes about 20
 * µs per digest, and workerd has no `node:crypto`. Keys and secrets stay with WebCrypto, because this code does not
 * hide timing.
 */

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const K = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
])

/** The first 32 bits of the fractional parts of the square roots of the first eight primes. */
const start = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

const hexOfByte: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

const encoder = new TextEncoder()

/** Scratch memory shared by all calls. This code neither awaits nor calls out, so no two calls use it at once. */
const schedule = new Int32Array(64)

/** Returns the lower-case hex SHA-256 of the text's UTF-8 bytes. A lone surrogate counts as U+FFFD. */
export function sha256(text: string): string {
  const blocks = pad(encoder.encode(text))
  const state = new Int32Array(start)
  for (let at = 0; at < blocks.length; at += 64) mix(state, schedule, blocks, at)
  let hex = ''
  for (let i = 0; i < 8; i++) {
    const x = word(state, i)
    hex += `${hexOf(x >>> 24)}${hexOf(x >>> 16)}${hexOf(x >>> 8)}${hexOf(x)}`
  }
  return hex
}

/** Returns the bytes, a single 1 bit, zeros up to eight bytes before the end of a block, and the length in bits. */
function pad(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  // Division instead of a shift, because shifts work on 32 bits and would lose the length of a text past 512 MiB.
  let bits = bytes.length * 8
  for (let at = padded.length - 1; bits > 0; at--) {
    padded[at] = bits % 256
    bits = Math.floor(bits / 256)
  }
  return padded
}

/** Mixes one 64-byte block into the state. */
function mix(state: Int32Array, w: Int32Array, blocks: Uint8Array, at: number): void {
  for (let i = 0; i < 16; i++) {
    const from = at + i * 4
    w[i] =
      (byte(blocks, from) << 24) |
      (byte(blocks, from + 1) << 16) |
      (byte(blocks, from + 2) << 8) |
      byte(blocks, from + 3)
  }
  for (let i = 16; i < 64; i++) {
    const x = word(w, i - 15)
    const y = word(w, i - 2)
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10)
    w[i] = word(w, i - 16) + s0 + word(w, i - 7) + s1
  }
  let a = word(state, 0)
  let b = word(state, 1)
  let c = word(state, 2)
  let d = word(state, 3)
  let e = word(state, 4)
  let f = word(state, 5)
  let g = word(state, 6)
  let h = word(state, 7)
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + word(K, i) + word(w, i)) | 0
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  state[0] = word(state, 0) + a
  state[1] = word(state, 1) + b
  state[2] = word(state, 2) + c
  state[3] = word(state, 3) + d
  state[4] = word(state, 4) + e
  state[5] = word(state, 5) + f
  state[6] = word(state, 6) + g
  state[7] = word(state, 7) + h
}

const rotate = (x: number, by: number): number => (x >>> by) | (x << (32 - by))

const hexOf = (x: number): string => hexOfByte[x & 255] as string

/** Every index here is below the array's length, which the compiler cannot know. */
const word = (words: Int32Array, i: number): number => words[i] as number
const byte = (bytes: Uint8Array, i: number): number => bytes[i] as number
