/**
 * Splits a long text into chunks that a search can point at and an embedding model accepts: overlapping windows of
 * tokens, cut at natural boundaries.
 *
 * A token is up to six letters or digits of one word, one ideograph or kana, or one other character. That is close to
 * the tokenizers of embedding models, and the same for all of them. The vocabulary of one model would be wrong for the
 * next, and the chunks would move with it.
 */

export interface Chunk {
  /** `text.slice(start, end)`: offsets in UTF-16 code units, never inside a character. */
  readonly start: number
  readonly end: number
}

export interface ChunkOptions {
  /** Maximum tokens of a chunk. */
  readonly size?: number
  /** Tokens that a chunk repeats of the previous one, so that a sentence on a boundary is complete in one of them. */
  readonly overlap?: number
}

const ideographs = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}`
const token = new RegExp(String.raw`[${ideographs}]|[[\p{L}\p{M}\p{N}_]--[${ideographs}]]{1,6}|\S`, 'gv')

/** Boundaries from best to worst: a paragraph, a line, a sentence. They are searched in the text between two tokens. */
const boundaries: readonly RegExp[] = [/\n\s*\n/, /\n/]
const sentenceEnd = /[.!?。！？]$/

/** Every chunk but the last depends only on the text up to its end, so that appended text moves no earlier chunk. */
export function chunk(text: string, options: ChunkOptions = {}): readonly Chunk[] {
  for (const steps = chunking(text, options); ; ) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Does the same without blocking the event loop: ten million characters take a quarter of a second. */
export async function chunkInTurns(text: string, options: ChunkOptions = {}): Promise<readonly Chunk[]> {
  // The turn that parsed the message of a long text was already long.
  if (text.length > longText) await new Promise((resolve) => setImmediate(resolve))
  for (const steps = chunking(text, options); ; ) {
    const { done, value } = steps.next()
    if (done) return value
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const longText = 100_000

/** Tokens or chunks between two pauses: some milliseconds of work. */
const stepTokens = 1 << 16

/** Pauses at points where the caller may let other work run. */
function* chunking(
  text: string,
  { size = 512, overlap = 50 }: ChunkOptions,
): Generator<undefined, readonly Chunk[], undefined> {
  const [starts, ends] = yield* tokensOf(text)
  const count = starts.length
  if (count <= size) return count === 0 ? [] : [{ start: starts[0] ?? 0, end: ends[count - 1] ?? 0 }]
  const chunks: Chunk[] = []
  for (let from = 0; ; ) {
    const until = from + size < count ? cutBefore(text, starts, ends, from + Math.ceil(size / 2), from + size) : count
    chunks.push({ start: starts[from] ?? 0, end: ends[until - 1] ?? text.length })
    if (until === count) return chunks
    from = Math.max(until - overlap, from + 1)
    if (chunks.length % 100 === 0) yield
  }
}

function* tokensOf(text: string): Generator<undefined, readonly [Int32Array, Int32Array], undefined> {
  // Typed arrays, because ten million characters are three million tokens. As objects they would take a second to
  // collect.
  let [starts, ends] = [new Int32Array(1024), new Int32Array(1024)]
  let count = 0
  // The position is a local, because another text may use the same regular expression during a pause.
  for (let from = 0; ; ) {
    token.lastIndex = from
    if (!token.test(text)) break
    from = token.lastIndex
    if (count === starts.length) [starts, ends] = [grown(starts), grown(ends)]
    ends[count] = from
    if (++count % stepTokens === 0) yield
  }
  // A token ends where its match ends without a gap. Asking for the index of each match would allocate an array each.
  for (let at = 0, previous = 0; at < count; at++) {
    const end = ends[at] ?? 0
    starts[at] = firstVisible(text, previous, end)
    previous = end
    if (at > 0 && at % (stepTokens * 4) === 0) yield
  }
  return [starts.subarray(0, count), ends.subarray(0, count)]
}

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2)
  larger.set(array)
  return larger
}

/** Skips white space; there is nothing else between two tokens. */
function firstVisible(text: string, from: number, end: number): number {
  for (let at = from; at < end; at++) if (!isSpace(text.charCodeAt(at))) return at
  return end
}
const isSpace = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || (code >= 160 && /\s/.test(String.fromCharCode(code)))

/** Returns the last good boundary in the second half of the window; without one, the end of the window. */
function cutBefore(text: string, starts: Int32Array, ends: Int32Array, min: number, max: number): number {
  const gapBefore = (at: number): string => text.slice(ends[at - 1], starts[at])
  for (const joint of boundaries) for (let at = max; at > min; at--) if (joint.test(gapBefore(at))) return at
  for (let at = max; at > min; at--)
    if (gapBefore(at) !== '' && sentenceEnd.test(text.slice(starts[at - 1], ends[at - 1]))) return at
  for (let at = max; at > min; at--) if (gapBefore(at) !== '') return at
  return max
}
