/**
 * SHA-256 (FIPS 180-4) that answers at once.
 *
 * Definition hashes and argument digests are needed in the middle of synchronous work. WebCrypto only answers through a
 * promise, at about 20 µs a digest, and `node:crypto` is not there on workerd. Keyed and secret things stay with
 * WebCrypto: this code takes no care to hide timing.
 */

/** Returns the first 32 bits of the fractional part. A double has 15 bits more than that of each root below. */
const fraction = (root: number): number => (root % 1) * 2 ** 32
function primesBelow(end: number): readonly number[] {
  const found: number[] = []
  for (let n = 2; n < end; n++) if (found.every((prime) => n % prime > 0)) found.push(n)
  return found
}

// Each is marked as pure, so that a bundle without digests carries none of them.
const primes = /* @__PURE__ */ primesBelow(312)
/** The cube roots of the first 64 primes, and the square roots of the first eight: computed, as a table is not compressed. */
const K = /* @__PURE__ */ Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)))
const start = /* @__PURE__ */ Int32Array.from(/* @__PURE__ */ primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))
const hexOfByte: readonly string[] = /* @__PURE__ */ Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
)
const encoder = /* @__PURE__ */ new TextEncoder()
/** Scratch shared by all calls: nothing here waits or calls out, so no two can be inside at once. */
const schedule = /* @__PURE__ */ new Int32Array(64)
const current = /* @__PURE__ */ new Int32Array(8)
/** Most texts fit. A buffer per text would cost more than the hash of a short one. */
const scratch = /* @__PURE__ */ new Uint8Array(1024)

/** Lower-case hex of the SHA-256 of bytes, or of a text in UTF-8. A lone surrogate counts as U+FFFD, as everywhere else. */
export function sha256(input: string | Uint8Array): string {
  const blocks = typeof input === 'string' ? padText(input) : padBytes(input)
  current.set(start)
  for (let at = 0; at < blocks.length; at += 64) mix(current, schedule, blocks, at)
  let hex = ''
  for (let i = 0; i < 8; i++) {
    const x = word(current, i)
    hex += `${hexOf(x >>> 24)}${hexOf(x >>> 16)}${hexOf(x >>> 8)}${hexOf(x)}`
  }
  return hex
}

function padText(text: string): Uint8Array {
  // A UTF-16 unit has at most three bytes.
  if (text.length * 3 + 9 > scratch.length) return padBytes(encoder.encode(text))
  const { written } = encoder.encodeInto(text, scratch)
  return pad(scratch.subarray(0, paddedLength(written)), written)
}

function padBytes(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(paddedLength(bytes.length))
  padded.set(bytes)
  return pad(padded, bytes.length)
}

const paddedLength = (length: number): number => Math.ceil((length + 9) / 64) * 64

/** Appends to the first `length` bytes a single 1 bit, zeros up to eight bytes before a block's end, and their bits. */
function pad(padded: Uint8Array, length: number): Uint8Array {
  padded.fill(0, length)
  padded[length] = 0x80
  // Division, not a shift: shifts work on 32 bits and would lose the length of a text past 512 MiB.
  let bits = length * 8
  for (let at = padded.length - 1; bits > 0; at--) {
    padded[at] = bits % 256
    bits = Math.floor(bits / 256)
  }
  return padded
}

/** One 64-byte block into the state. */
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

/** Every index here is below the array's length; the compiler cannot know. */
const word = (words: Int32Array, i: number): number => words[i] as number
const byte = (bytes: Uint8Array, i: number): number => bytes[i] as number
