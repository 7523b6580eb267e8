import type { Open } from 'sluice'
import { defineLisp } from './definition.ts'
import { createSessions } from './session.ts'

/** Finds SBCL and SLIME’s server; without them the server says what to install. */
export const open: Open = async ({ folder, env }) => {
  const sessions = createSessions({ folder, env })
  return {
    definition: defineLisp(sessions),
    state: sessions.missing ?? 'ready',
    close: () => sessions.close(),
  }
}
