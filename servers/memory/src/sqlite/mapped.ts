/** A workspace whose verbs throw what a client may read when the file is locked, damaged, full or away. */

import { toUnavailable } from 'sluice/sqlite'

export function mapped<T extends object>(verbs: T): T {
  const wrapped = Object.entries(verbs).map(([name, verb]) => [name, typeof verb === 'function' ? guard(verb) : verb])
  return Object.fromEntries(wrapped) as T
}

const guard =
  (verb: (...args: never[]) => unknown) =>
  async (...args: never[]): Promise<unknown> => {
    try {
      return await verb(...args)
    } catch (thrown) {
      throw toUnavailable(thrown)
    }
  }
