/** Trace and span ids by the W3C form, for calls whose client sent none. */

/** Random bytes are drawn for many ids at once: one draw costs as much as a small call. */
const drawn = 4096
let digits = ''
let at = 0

function take(length: number): string {
  if (at + length > digits.length) {
    // On first use and not before: workerd forbids randomness at module scope.
    digits = ''
    for (const byte of crypto.getRandomValues(new Uint8Array(drawn))) digits += byte.toString(16).padStart(2, '0')
    at = 0
  }
  const id = digits.slice(at, at + length)
  at += length
  return id
}

export const newTraceId = (): string => take(32)
export const newSpanId = (): string => take(16)
