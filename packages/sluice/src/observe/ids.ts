/**
 * Trace and span ids in the W3C form, for calls whose client sent none: random digits of this process, then a counter.
 * They only tell calls apart and protect nothing. Drawing each at random would cost as much as a small call.
 */

const spanLength = 16
let prefix = ''
let count = 0

function nextDigits(): string {
  // On first use only, because workerd forbids randomness at module scope.
  if (prefix === '') prefix = crypto.randomUUID().replaceAll('-', '')
  count += 1
  // Always the same number of digits. Otherwise a digit of the prefix could make two ids equal.
  return count.toString(16).padStart(8, '0')
}

/** Makes an id of the required length: the prefix, then the counter. */
const toId = (length: number, digits: string): string => prefix.slice(0, length - digits.length) + digits

export const newTraceId = (): string => {
  const digits = nextDigits()
  return toId(2 * spanLength, digits)
}
export const newSpanId = (): string => {
  const digits = nextDigits()
  return toId(spanLength, digits)
}
