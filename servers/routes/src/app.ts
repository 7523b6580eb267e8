/** Defines what the tools share: the provider that plans, and the database of places and routes. */

import type { Database } from './database.ts'
import type { Provider } from './route.ts'

export interface App {
  readonly provider: Provider
  readonly database: Database
}
