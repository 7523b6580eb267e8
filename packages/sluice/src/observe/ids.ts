/**
 * Trace and span ids by the W3C form, for calls whose client sent none: random digits of this process, then a count. They
 * tell calls apart and protect nothing, so that drawing each at random, which costs as much as a small call, is not needed.
 */

const spanLength = 16
let prefix = ''
let count = 0

function nextDigits(): string {
  // On first use and not before: workerd forbids randomness at module scope.
  if (prefix === '') prefix = crypto.randomUUID().replaceAll('-', '')
  count += 1
  // As many digits each time: otherwise a digit of the prefix could make two counts look alike.
  return count.toString(16).padStart(8, '0')
}

/** The last digits are the count, the rest is the prefix: as many digits as the form asks for. */
const toId = (length: number, digits: string): string => prefix.slice(0, length - digits.length) + digits

export const newTraceId = (): string => {
  const digits = nextDigits()
  return toId(2 * spanLength, digits)
}
export const newSpanId = (): string => {
  const digits = nextDigits()
  return toId(spanLength, digits)
}
