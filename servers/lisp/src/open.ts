import type { OpenServer } from 'sluice'
import { createApp } from './app.ts'
import { defineLisp } from './definition.ts'

/** Finds SBCL and SLIME’s server; without them the server says what to install. */
export const open: OpenServer = async ({ folder, env }) => {
  const sessions = createApp({ folder, env })
  return {
    definition: defineLisp(sessions),
    state: sessions.missing ?? 'ready',
    close: () => sessions.close(),
  }
}
