/**
 * Measures the value that a definition returned, before any of it becomes text. JSON would write a Map or a stream as
 * `{}`. A result of 400 MB would crash the process before it is sent.
 */

import type { Call } from '../core/call.ts'
import { RpcError } from '../core/error.ts'

/** Far more than a client reads, and far below a stack overflow. A cycle ends here too. */
const maxDepth = 500

/**
 * Throws if JSON cannot represent the value, or if it is larger than the call may answer. Bytes are allowed in content
 * only.
 */
export function assertSendable(root: unknown, { maxResultLength }: Pick<Call, 'maxResultLength'>, bytes = true): void {
  // Most results are short texts.
  if (typeof root === 'string' && root.length <= maxResultLength) return
  let remaining = maxResultLength
  visit(root, 0)

  function visit(value: unknown, depth: number): void {
    if (typeof value === 'string') remaining -= value.length
    else if (typeof value === 'bigint') throw new TypeError('returned a BigInt, which JSON cannot hold')
    else if (typeof value === 'object' && value !== null) {
      if (depth > maxDepth) throw new TypeError(`returned a value nested deeper than ${maxDepth}, or a cycle`)
      if (Array.isArray(value))
        for (const item of value) {
          remaining--
          visit(item, depth + 1)
        }
      else if (bytes && value instanceof Uint8Array) remaining -= (value.length * 4) / 3
      else if ('toJSON' in value && typeof value.toJSON === 'function') visit(value.toJSON(), depth + 1)
      else visitMembers(value, depth)
    }
    if (remaining < 0)
      throw new RpcError('resultTooLarge', `The result is larger than ${maxResultLength} characters: request less`)
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
      throw new TypeError(`returned a ${value.constructor.name}, which JSON cannot hold; return plain data`)
    for (const [name, member] of members) {
      remaining -= name.length + 4
      visit(member, depth + 1)
    }
  }
}
