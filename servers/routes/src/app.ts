/** Defines what the tools share: the provider that plans, the atlas that draws, and the database. */

import type { Atlas } from './atlas/thread.ts'
import type { Database } from './database.ts'
import type { Provider } from './route.ts'

export interface App {
  readonly provider: Provider
  readonly database: Database
  readonly atlas: Pick<Atlas, 'svg' | 'picture'>
}
