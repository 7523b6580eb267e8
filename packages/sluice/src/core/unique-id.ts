/**
 * Ids that tell calls, records and connections apart, and can be guessed. Keys, tickets and sessions are made with
 * `crypto` instead. Loading that takes Node 4 ms at every start.
 */

/** Twelve digits are 48 bits, which one number of `Math.random` has. */
const part = (): string =>
  Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0')

/** Returns 24 hexadecimal digits. */
export const uniqueId = (): string => part() + part()

/** Returns an id for one failure, record or process: short enough to read out, long enough not to repeat in a day's log. */
export function newErrorId(): string {
  const digits = part()
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}
