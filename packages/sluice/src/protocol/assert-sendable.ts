/**
 * Measures what a definition returned, before any of it becomes text: JSON would write a Map or a stream as `{}`, and a
 * result of 400 MB would take the process down before it reached anybody.
 */

import type { Call } from '../core/call.ts'
import { RpcError } from '../core/error.ts'

/** Far more than a client reads, and far from what overflows the stack. A circle ends here, too. */
const maxDepth = 500

/** Throws where JSON cannot say it, or where it is larger than the call may answer. Bytes stand in content alone. */
export function assertSendable(root: unknown, { maxResultLength }: Call, bytes = true): void {
  let left = maxResultLength
  visit(root, 0)

  function visit(value: unknown, depth: number): void {
    if (typeof value === 'string') left -= value.length
    else if (typeof value === 'bigint') throw new TypeError('returned a BigInt, which JSON cannot hold')
    else if (typeof value === 'object' && value !== null) {
      if (depth > maxDepth) throw new TypeError(`returned a value nested deeper than ${maxDepth}, or a circle`)
      if (Array.isArray(value))
        for (const item of value) {
          left--
          visit(item, depth + 1)
        }
      else if (bytes && value instanceof Uint8Array) left -= (value.length * 4) / 3
      else if ('toJSON' in value && typeof value.toJSON === 'function') visit(value.toJSON(), depth + 1)
      else visitMembers(value, depth)
    }
    if (left < 0)
      throw new RpcError(
        'resultTooLarge',
        `The result is larger than ${maxResultLength} characters: ask for less at once`,
      )
  }
  function visitMembers(value: object, depth: number): void {
    const members = Object.entries(value)
    const { prototype } = Object
    const parent: unknown = Object.getPrototypeOf(value)
    if (
      Symbol.iterator in value ||
      Symbol.asyncIterator in value ||
      (members.length === 0 && parent !== prototype && parent !== null)
    )
      throw new TypeError(`returned a ${value.constructor.name}, of which JSON keeps nothing; return plain data`)
    for (const [name, member] of members) {
      left -= name.length + 4
      visit(member, depth + 1)
    }
  }
}
