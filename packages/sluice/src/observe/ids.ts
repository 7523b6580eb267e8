/**
 * Trace and span ids in the W3C form, for calls whose client sent none: random digits of this process, then a counter.
 * They only tell calls apart and protect nothing. Drawing each at random would cost as much as a small call.
 */

import { uniqueId } from '../core/unique-id.ts'

const traceLength = 32
const spanLength = 16
/** The counter's last two digits, which change with every id. The digits before them are joined to `random` once. */
const lastDigits: readonly string[] = /* @__PURE__ */ Array.from({ length: 256 }, (_, n) =>
  n.toString(16).padStart(2, '0'),
)
const countLength = 8

let random = ''
let count = 0
let traceHead = ''
let spanHead = ''

function advance(): string {
  count += 1
  const last = count % 256
  if (last === 0 || traceHead === '') setHeads()
  return lastDigits[last] ?? ''
}

function setHeads(): void {
  // On first use only, because workerd forbids randomness at module scope.
  if (random === '') random = uniqueId()
  // Always the same number of digits. Otherwise a digit of the random part could make two ids equal.
  const digits = Math.floor(count / 256)
    .toString(16)
    .padStart(countLength - 2, '0')
  traceHead = random.slice(0, traceLength - countLength) + digits
  spanHead = random.slice(0, spanLength - countLength) + digits
}

export const newTraceId = (): string => {
  const last = advance()
  return traceHead + last
}
export const newSpanId = (): string => {
  const last = advance()
  return spanHead + last
}
